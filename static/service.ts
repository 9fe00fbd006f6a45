/** What both documents of the explorer do: find this service, lead to the other one, make elements, and copy texts. */

/** The service, behind whatever prefix: the document names the description by its address. */
export const base: URL = new URL(
  ".",
  document.querySelector<HTMLLinkElement>("link[rel=service-desc]")!.href,
);

/** The address of the service without a slash at the end, as a shell can have it between double quotes. */
export const here: string = base.href.replace(/\/$/, "").replaceAll("$", "%24");

/** Tells whether an address is that of a call of the node. */
export const isCall = (url: string): boolean =>
  ["v1/node/", "v1/rpc/"].some((path) => url.startsWith(`${here}/${path}`));

/** Makes an element. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> & { role?: string } = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const { role, ...others } = properties;
  const made: HTMLElementTagNameMap[Name] = Object.assign(document.createElement(name), others);
  if (role) made.setAttribute("role", role);
  made.append(...children);
  return made;
}

/** Has the link to the other document lead to the operation that is read in this one. */
export function leadToOther(fragment: () => string): void {
  const link = document.querySelector<HTMLAnchorElement>("#other")!;
  for (const type of ["pointerdown", "keydown"]) {
    link.addEventListener(type, () => link.hash = fragment());
  }
}

/** Says in the head where a client connects, and copies it. */
export function showAddress(): void {
  const code = document.querySelector(".connect code");
  if (!code) return;
  code.querySelector("var")!.textContent = here;
  const button = document.querySelector<HTMLElement>(".connect button")!;
  button.addEventListener("click", () => copyFrom(button, code.textContent!));
}

/** Copies a text, and says so on the button that was pressed. */
export async function copyFrom(button: HTMLElement, text: string): Promise<void> {
  button.textContent = await copyText(text) ? "Copied" : "Not copied";
  setTimeout(() => button.textContent = "Copy", 2000);
}

/** On plain http beyond loopback browsers have no clipboard for scripts. */
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
