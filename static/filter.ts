/** The filter of the navigation, which is a sheet on a narrow window. */

/** An operation with its link; those without one get it when they are found. */
interface Entry {
  readonly text: string;
  readonly link: HTMLElement;
}

/** As in `simple.css`. */
const NARROW = matchMedia("(max-width: 1000px)");

export function makeFilter(plain: HTMLElement): void {
  const nav = plain.querySelector("nav")!;
  const input = nav.querySelector("input")!;
  const told = nav.querySelector("[role=status]")!;
  const sheet = document.createElement("dialog");
  sheet.setAttribute("aria-label", "Operations");
  let entries: Entry[] | undefined;

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    entries ??= listEntries(plain, nav);
    let found = 0;
    for (const { text, link } of entries) {
      link.hidden = !words.every((word) => text.includes(word));
      if (!link.hidden) found++;
    }
    for (const group of nav.querySelectorAll<HTMLElement>(":scope > ul > li")) {
      group.hidden = words.length > 0 && !group.querySelector("li:not([hidden])");
    }
    nav.classList.toggle("filtered", words.length > 0);
    told.textContent = words.length > 0 ? `${found} of ${entries.length}` : "";
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
  // A choice, or a press beside it.
  sheet.addEventListener("click", ({ target }) => {
    if (target === sheet || (target as Element).closest("a")) sheet.close();
  });
  NARROW.addEventListener("change", () => sheet.close());
  plain.querySelector("#open-list")!.addEventListener("click", open);
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      nav.querySelector<HTMLElement>("li li:not([hidden]) a")?.click();
    } else if (event.key === "Escape" && input.value !== "") {
      // The sheet stays for the next try.
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

/** Lists the operations with what they are found by: name, method, path, marks and summary. */
function listEntries(plain: HTMLElement, nav: HTMLElement): Entry[] {
  const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash, link]));
  return [...plain.querySelectorAll("article")].map((article) => {
    const parts = article.querySelectorAll("h3, .line, .gist");
    const { id, textContent } = parts[0]!;
    const link = links.get(new URL(`#${id}`, location.href).hash)?.closest("li") ??
      addLink(article, textContent!, `#${id}`, links);
    return { text: [...parts].map((one) => one.textContent).join(" ").toLowerCase(), link };
  });
}

/** Adds the link to an operation whose group is listed without them; it is seen while it is found. */
function addLink(
  article: Element,
  name: string,
  id: string,
  links: ReadonlyMap<string, HTMLElement>,
): HTMLElement {
  const group = article.closest("section")!.querySelector("h2")!.id;
  const item = links.get(new URL(`#${group}`, location.href).hash)?.closest("li") ??
    document.querySelector("#plain nav > ul")!;
  let list = item.querySelector("ul");
  if (!list) {
    item.append(list = Object.assign(document.createElement("ul"), { className: "found" }));
  }
  const link = document.createElement("li");
  link.append(Object.assign(document.createElement("a"), { href: id, textContent: name }));
  list.append(link);
  return link;
}
