/** Makes elements, and copies texts. */

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
    const area = element("textarea", { value: text, className: "skip" });
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}
