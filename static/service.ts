/** Functions that the reference and the simple page share. */

/** The service's URL, including its path prefix. */
export const base: URL = new URL(
  ".",
  document.querySelector<HTMLLinkElement>("link[rel=service-desc]")!.href,
);

/** `base` without the trailing slash, escaped for double quotes in a shell. */
export const here: string = base.href.replace(/\/$/, "").replaceAll("$", "%24");

/** The longest response to the first call that is shown, in characters. */
const RESPONSE_MAX = 120;

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

/** Updates the link to the other view so that it opens the current operation. */
export function leadToOther(fragment: () => string): void {
  const link = document.querySelector<HTMLAnchorElement>("#other")!;
  for (const type of ["pointerdown", "keydown"]) {
    link.addEventListener(type, () => link.hash = fragment());
  }
}

/** Puts the service's address into the commands, makes them copyable, and shows a first call. */
export function showAddress(): void {
  for (const name of document.querySelectorAll("var")) name.textContent = here;
  addEventListener("click", ({ target }) => {
    const button = target as HTMLElement;
    if (!button.matches?.(".copy, .link")) return;
    const article = button.closest("article");
    const code = button.closest(".command, .connect")?.querySelector("code")?.textContent;
    if (button.matches(".link")) location.hash = article!.id || article!.querySelector("h3")!.id;
    void copyFrom(button, code ?? location.href);
  });
  const output = document.querySelector<HTMLElement>("#node output");
  if (output && !document.querySelector("#node [data-state=unreachable]")) {
    void showCall(output).catch(() => {});
  }
}

async function showCall(output: HTMLElement): Promise<void> {
  const response = await fetch(here + output.dataset.call, { headers: { "X-Nodeface": "1" } });
  const text = await response.text();
  output.textContent = response.ok ? text.slice(0, RESPONSE_MAX) : String(response.status);
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
    const focused = document.activeElement;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}
