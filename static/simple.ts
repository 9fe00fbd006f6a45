/**
 * Runs the simple page: puts the URL into the commands, filters the navigation, and marks the
 * current operation.
 */
import { decodePercent } from "../src/decode.ts";
import { find } from "../src/explorer/find.ts";
import { InfoFollower } from "./head.ts";
import { element, linkToOtherView, showAddress } from "./service.ts";
import { openForm } from "./form.ts";

const plain = document.getElementById("plain")!;

/**
 * The area below the header bar, as a `rootMargin`. The first operation visible in this area is the
 * current operation. With a margin in pixels, a low window would have no such area.
 */
const READ_AT = "-12% 0px -80%";
let current: Element | undefined;

addEventListener("hashchange", showTarget);
showAddress();
const hasExamples = document.getElementById("examples")!.textContent !== "{}";
new InfoFollower((isChanged) => (isChanged || !hasExamples) && isIdle());
linkToOtherView(() => current ? `#${current.id}` : "");
makeFilter();
followReader();
showTarget();

function isIdle(): boolean {
  return scrollY < innerHeight && !plain.querySelector(".try form, dialog[open], :popover-open") &&
    !plain.querySelector<HTMLInputElement>("#filter input")?.value;
}

function followReader(): void {
  const articles = [...plain.querySelectorAll("article")];
  const visible = new Set<Element>();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target);
      else visible.delete(target);
    }
    const first = articles.find((article) => visible.has(article));
    if (first) markCurrent(first.querySelector("h3")!);
  }, { rootMargin: READ_AT });
  for (const article of articles) observer.observe(article);
}

function markCurrent(heading: Element): void {
  const nav = plain.querySelector("nav")!;
  current = heading;
  for (const link of nav.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  // The operation may also be in the list of operations found, which replaces the tree.
  for (const link of nav.querySelectorAll(`a[href="#${CSS.escape(heading.id)}"]`)) {
    link.setAttribute("aria-current", "true");
    if (!link.checkVisibility()) continue;
    const [{ top, bottom }, box] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
    if (top < box.top || bottom > box.bottom) nav.scrollTop += top - box.top - box.height / 2;
  }
}

/** Opens the group that contains the fragment's target, which some browsers leave closed. */
function showTarget(): void {
  const fragment = location.hash.slice(1);
  const target = document.getElementById(fragment) ??
    document.getElementById(decodePercent(fragment));
  const group = target?.closest<HTMLDetailsElement>("#content section > details:not([open])");
  if (group) group.open = true;
  const article = target?.closest("article");
  const form = article?.querySelector<HTMLDetailsElement>(".try");
  if (form) openForm(form);
  document.documentElement.classList.remove("finding");
  target?.scrollIntoView({ behavior: "instant" });
  if (target) markCurrent(article?.querySelector("h3") ?? target);
}

/** The longest list of operations found. */
const FOUND_MAX = 100;

function makeFilter(): void {
  const nav = plain.querySelector("nav")!;
  const input = nav.querySelector("input")!;
  const told = nav.querySelector("[role=status]")!;
  const tree = nav.querySelector<HTMLElement>("ul")!;
  const list = element("ul");
  nav.append(list);
  let entries: { title: string; gist: string; text: string; id: string }[] | undefined;

  const filter = () => {
    entries ??= [...plain.querySelectorAll("article")].map((article) => {
      const { id, textContent: title } = article.querySelector("h3")!;
      const gist = article.querySelector(".gist")?.textContent ?? "";
      const group = article.closest("section")!.querySelector("h2")!;
      const parts = [group, ...article.querySelectorAll(".line, .gist, dt")];
      return { id, title, gist, text: parts.map(({ textContent }) => textContent).join(" ") };
    });
    const isEmpty = input.value.trim() === "";
    const all = isEmpty ? [] : find(input.value, entries);
    const items = all.slice(0, FOUND_MAX).map(({ id, title, gist }) => {
      const words = element("span", {}, title, element("small", { textContent: gist }));
      return element("li", {}, element("a", { href: `#${id}` }, words));
    });
    tree.hidden = !isEmpty;
    list.replaceChildren(...items);
    const shown = items.length < all.length ? `the first ${items.length} of ` : "";
    const cut = plain.querySelector("main > .cut")?.textContent ?? "";
    told.textContent = isEmpty ? "" : `${shown}${all.length} of ${entries.length} ${cut}`.trim();
  };
  const focus = () => {
    input.focus();
    input.select();
  };
  const close = () => nav.togglePopover(false);

  nav.addEventListener("toggle", ({ newState }) => newState === "open" && focus());
  nav.addEventListener("click", ({ target }) => {
    const link = (target as Element).closest("a");
    if (link) close();
    // If the URL stays the same, there is no `hashchange`.
    if (link?.hash === location.hash) showTarget();
  });
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector("a")?.click();
    else if (event.key === "Escape" && input.value !== "") {
      // Escape clears the text here and must not close the popover.
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
    if (!nav.checkVisibility()) nav.togglePopover(true);
    focus();
  });
}
