/** Functions that the reference and the simple page share. */
import { listOf, objectOf, textOf } from "../src/json/values.ts";
import { excerpt } from "../src/untrusted-text.ts";

/** Removes the login from a URL: `fetch` would refuse the URL, and a copy would show the login. */
export const withoutLogin = (url: string): string => url.replace(/^(\w+:\/\/)[^/]*@/, "$1");

/** The service's URL, including its path prefix. */
export const base: URL = new URL(
  ".",
  withoutLogin(document.querySelector<HTMLLinkElement>("link[rel=service-desc]")!.href),
);

/** `base` without the trailing slash, escaped for double quotes in a shell. */
export const here: string = base.href.replace(/\/$/, "").replaceAll("$", "%24");

/** The longest list of operations that is shown. */
const OPERATIONS_MAX = 200;

export const isHere = (url: string): boolean => url.startsWith(`${here}/`);

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Returns an element that tells whose token is in a field, and what it opens. */
export function makeOwnerNote(field: HTMLInputElement): HTMLElement {
  const owner = element("p", { className: "owner", role: "status" });
  field.addEventListener("change", async () => {
    const token = field.value.trim();
    owner.textContent = "";
    const text = token && await describeOwner(token).catch(() => "");
    // A response may come after that to a later token.
    if (field.value.trim() === token) owner.textContent = text;
  });
  return owner;
}

async function describeOwner(token: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}`, "X-Nodeface": "1" };
  const response = await fetch(`${here}/v1/clients/self`, { headers, redirect: "error" });
  const { name, operations, detail } = objectOf(await response.json());
  if (!response.ok) return response.status === 404 ? "" : textOf(detail) ?? "";
  const opened = excerpt(listOf(operations).join(", "), OPERATIONS_MAX) || "no further operation";
  return `The token of the client "${name}". It opens ${opened}.`;
}

/** Updates the link to the other view so that it opens the current operation. */
export function linkToOtherView(fragment: () => string): void {
  const link = document.querySelector<HTMLAnchorElement>("#other")!;
  for (const type of ["pointerdown", "keydown"]) {
    link.addEventListener(type, () => link.hash = fragment());
  }
}

/** Puts the service's address into the commands, and makes them copyable. */
export function showAddress(): void {
  for (const name of document.querySelectorAll("var")) name.textContent = here;
  const more = document.querySelector<HTMLDetailsElement>("#node details.more");
  const close = () => more?.removeAttribute("open");
  addEventListener("keydown", ({ key }) => key === "Escape" && close());
  addEventListener("click", ({ target }) => more?.contains(target as Node) || close());
  addEventListener("click", ({ target }) => {
    const button = target as HTMLElement;
    // HTML of a description may have these classes in Scalar, but no buttons.
    if (!button.matches?.("button:is(.copy, .link)")) return;
    const article = button.closest("article");
    const code = button.closest(".command, .connect, .bare")?.querySelector("code")?.textContent;
    if (button.matches(".link")) location.hash = article!.id || article!.querySelector("h3")!.id;
    void copyFrom(button, code ?? withoutLogin(location.href));
  });
}

export async function copyFrom(button: HTMLElement, text: string): Promise<void> {
  const label = button.dataset.label ??= button.textContent!;
  button.textContent = await copyText(text) ? "Copied" : "Not copied";
  setTimeout(() => button.textContent = label, 2000);
}

/** Browsers provide `navigator.clipboard` only over https and on loopback. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.className = "skip";
    area.value = text;
    document.body.append(area);
    const focused = document.activeElement as HTMLElement | null;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return isCopied;
  }
}
