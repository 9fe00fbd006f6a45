/**
 * Runs the simple page: puts the URL into the commands, filters the navigation, and marks the
 * current operation.
 */
import { onceFor } from "../src/json/values.ts";
import { decodePercent } from "../src/untrusted-text.ts";
import { followInfo } from "./head.ts";
import { base, leadToOther, showAddress } from "./service.ts";
import { openForm } from "./form.ts";

const plain = document.getElementById("plain")!;

/**
 * The area below the header bar, as a `rootMargin`. The first operation visible in this area is the
 * current operation.
 */
const READ_AT = "-100px 0px -80%";
let current: Element | undefined;

addEventListener("hashchange", showTarget);
showAddress();
followInfo(base, isIdle);
leadToOther(() => current ? `#${current.id}` : "");
makeFilter();
followReader();
showTarget();

function isIdle(): boolean {
  return scrollY < innerHeight && !plain.querySelector(".try[open], dialog[open], :popover-open") &&
    !plain.querySelector<HTMLInputElement>("#filter input")?.value;
}

function followReader(): void {
  const observer = new IntersectionObserver((entries) => {
    const article = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (article) markCurrent(article.querySelector("h3")!);
  }, { rootMargin: READ_AT });
  for (const article of plain.querySelectorAll("article")) observer.observe(article);
}

function markCurrent(heading: Element): void {
  const nav = plain.querySelector("nav")!;
  current = heading;
  nav.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = nav.querySelector(`a[href="#${CSS.escape(heading.id)}"]`);
  if (!link) return;
  link.setAttribute("aria-current", "true");
  const [{ top, bottom }, box] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (top < box.top || bottom > box.bottom) nav.scrollTop += top - box.top - box.height / 2;
}

/** Opens the group that contains the fragment's target, which some browsers leave closed. */
function showTarget(): void {
  const target = document.getElementById(decodePercent(location.hash.slice(1)));
  const group = target?.closest<HTMLDetailsElement>("#content section > details:not([open])");
  if (group) group.open = true;
  const article = target?.closest("article");
  const form = article?.querySelector<HTMLDetailsElement>(".try");
  if (form) openForm(form);
  document.documentElement.classList.remove("finding");
  target?.scrollIntoView({ behavior: "instant" });
  if (target) markCurrent(article?.querySelector("h3") ?? target);
}

const textOf = onceFor((article: HTMLElement) =>
  [...article.querySelectorAll("h3, .line, .gist")].map(({ textContent }) => textContent)
    .join(" ").toLowerCase()
);

function makeFilter(): void {
  const nav = plain.querySelector("nav")!;
  const input = nav.querySelector("input")!;
  const told = nav.querySelector("[role=status]")!;
  const articles = [...plain.querySelectorAll("article")];
  let found: HTMLElement[] = [];

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = articles.filter((article) => words.every((word) => textOf(article).includes(word)));
    // The navigation of a large description has links only to groups, so the groups of the found
    // operations are shown.
    const shown = new Set(found.flatMap((article) => [
      `#${article.querySelector("h3")!.id}`,
      `#${article.closest("section")!.querySelector("h2")!.id}`,
    ]));
    for (const item of nav.querySelectorAll("li")) {
      item.hidden = !shown.has(item.querySelector("a")!.getAttribute("href")!);
    }
    told.textContent = words.length > 0 ? `${found.length} of ${articles.length}` : "";
  };
  const focus = () => {
    input.focus();
    input.select();
  };
  const close = () => nav.togglePopover(false);

  nav.addEventListener("toggle", ({ newState }) => newState === "open" && focus());
  nav.addEventListener("click", ({ target }) => (target as Element).closest("a") && close());
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found[0]) {
      close();
      location.hash = found[0].querySelector("h3")!.id;
    } else if (event.key === "Escape" && input.value !== "") {
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
