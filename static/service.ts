/** Functions that the reference and the simple page share. */

/** The service's URL, including its path prefix. */
export const base: URL = new URL(
  ".",
  document.querySelector<HTMLLinkElement>("link[rel=service-desc]")!.href,
);

/** `base` without the trailing slash, escaped for double quotes in a shell. */
export const here: string = base.href.replace(/\/$/, "").replaceAll("$", "%24");

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

export function showAddress(): void {
  const code = document.querySelector(".connect code");
  if (!code) return;
  code.querySelector("var")!.textContent = here;
  const button = document.querySelector<HTMLElement>(".connect button")!;
  button.addEventListener("click", () => copyFrom(button, code.textContent!));
}

export async function copyFrom(button: HTMLElement, text: string): Promise<void> {
  button.textContent = await copyText(text) ? "Copied" : "Not copied";
  setTimeout(() => button.textContent = "Copy", 2000);
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
