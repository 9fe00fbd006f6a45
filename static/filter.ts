/** The filter of the navigation, which is a dialog in a narrow window. */
import { element } from "./form.ts";

interface Entry {
  /** Name, method, path, marks and summary in lower case. */
  readonly text: string;
  readonly id: string;
  /** Its item in the navigation, which a large description omits, and that of its group. */
  readonly items: readonly (Element | undefined)[];
}

/** As in `simple.css`. */
const NARROW = matchMedia("(max-width: 1000px)");

export function makeFilter(plain: HTMLElement): void {
  const nav = plain.querySelector("nav")!;
  const input = nav.querySelector("input")!;
  const told = nav.querySelector("[role=status]")!;
  const sheet = element("dialog", { ariaLabel: "Operations" });
  let entries: Entry[] | undefined;
  let found: Entry[] = [];

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    entries ??= listEntries(plain, nav);
    found = entries.filter(({ text }) => words.every((word) => text.includes(word)));
    const shown = new Set(found.flatMap(({ items }) => items));
    for (const item of nav.querySelectorAll("li")) item.hidden = !shown.has(item);
    told.textContent = words.length > 0 ? `${found.length} of ${entries.length}` : "";
  };
  const open = () => {
    if (NARROW.matches && !sheet.open) {
      nav.before(sheet);
      sheet.append(nav);
      sheet.showModal();
    }
    input.focus();
    input.select();
  };

  sheet.addEventListener("close", () => sheet.replaceWith(nav));
  sheet.addEventListener("click", ({ target }) => {
    if (target === sheet || (target as Element).closest("a")) sheet.close();
  });
  NARROW.addEventListener("change", () => sheet.close());
  plain.querySelector("#open-list")!.addEventListener("click", open);
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found[0]) {
      sheet.close();
      location.hash = found[0].id;
    } else if (event.key === "Escape" && input.value !== "") {
      // Keeps the dialog open.
      event.preventDefault();
      input.value = "";
      filter();
    }
  });
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    const isTyping = (target as Element).matches?.("input, textarea, select");
    const isSlash = key === "/" && !ctrlKey && !metaKey && !altKey && !isTyping;
    if (!isSlash && !(key.toLowerCase() === "k" && (ctrlKey || metaKey))) return;
    event.preventDefault();
    open();
  });
}

function listEntries(plain: HTMLElement, nav: HTMLElement): Entry[] {
  const items = new Map(
    [...nav.querySelectorAll("a")].map((link) => [link.getAttribute("href"), link.closest("li")!]),
  );
  return [...plain.querySelectorAll("article")].map((article) => {
    const parts = [...article.querySelectorAll("h3, .line, .gist")];
    const { id } = parts[0]!;
    const group = article.closest("section")!.querySelector("h2")!;
    return {
      id,
      text: parts.map(({ textContent }) => textContent).join(" ").toLowerCase(),
      items: [items.get(`#${id}`), items.get(`#${group.id}`)],
    };
  });
}
