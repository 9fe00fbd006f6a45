/**
 * The simple page: puts this service's address into the commands, and shows what a link leads to. `try.ts` lets its
 * operations be tried.
 */
import { decodePercent } from "../src/untrusted-text.ts";
import { makeFilter } from "./filter.ts";
import { followInfo } from "./follow-info.ts";
import { base, here, leadToOther, showAddress } from "./service.ts";
import { openForm } from "./try.ts";

const plain = document.getElementById("plain")!;

/** A band below the bar, where a link leads to: the first that comes into it is read. */
const READ_AT = "-100px 0px -80%";

/** The heading of what is read, and how far below the top a link has put it, in pixels. */
let current: Element | undefined, putAt: number | undefined;

addEventListener("hashchange", showTarget);
for (const name of plain.querySelectorAll("var")) name.textContent = here;
showAddress();
followInfo(base, false, isIdle);
leadToOther(() => current ? `#${current.id}` : "");
makeFilter(plain);
followReader();
showTarget();

/** Tells whether nobody reads or types yet. */
function isIdle(): boolean {
  return scrollY < innerHeight && !plain.querySelector(".try[open], dialog[open]") &&
    !plain.querySelector<HTMLInputElement>("#filter input")?.value;
}

/** Follows what is read. What a link has led to is read until it moves, whatever else is near. */
function followReader(): void {
  const observer = new IntersectionObserver((entries) => {
    if (current && putAt === topOf(current)) return;
    const article = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (article) markCurrent(article.querySelector("h3")!);
  }, { rootMargin: READ_AT });
  for (const article of plain.querySelectorAll("article")) observer.observe(article);
}

function topOf(element: Element): number {
  return Math.round(element.getBoundingClientRect().top);
}

/** Marks what is read in the navigation. */
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

/** Shows what is requested, an operation opened; not every browser opens the group that it is in. */
function showTarget(): void {
  // A short fragment is that of an article.
  const target = document.getElementById(decodePercent(location.hash.slice(1)));
  const group = target?.closest<HTMLDetailsElement>("#content section > details:not([open])");
  if (group) group.open = true;
  const article = target?.closest("article");
  const form = article?.querySelector<HTMLDetailsElement>(".try");
  if (form) openForm(form);
  document.documentElement.classList.remove("finding");
  if (!target) return;
  target.scrollIntoView({ behavior: "instant" });
  const heading = article?.querySelector("h3") ?? target;
  markCurrent(heading);
  putAt = topOf(heading);
}
