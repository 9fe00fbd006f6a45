/** The simple page: completes the commands, and follows what is read. `try.ts` has its forms. */
import { decodePercent } from "../src/untrusted-text.ts";
import { makeFilter } from "./filter.ts";
import { followInfo } from "./head.ts";
import { base, here, leadToOther, showAddress } from "./service.ts";
import { openForm } from "./try.ts";

const plain = document.getElementById("plain")!;

/** A band below the bar: the first operation in it is read. */
const READ_AT = "-100px 0px -80%";

/** The heading of what is read, and its distance from the top in pixels where a link has led to it. */
let current: Element | undefined, putAt: number | undefined;

addEventListener("hashchange", showTarget);
for (const name of plain.querySelectorAll("var")) name.textContent = here;
showAddress();
followInfo(base, false, isIdle);
leadToOther(() => current ? `#${current.id}` : "");
makeFilter(plain);
followReader();
showTarget();

/** Tells whether nobody has begun to read or to type. */
function isIdle(): boolean {
  return scrollY < innerHeight && !plain.querySelector(".try[open], dialog[open]") &&
    !plain.querySelector<HTMLInputElement>("#filter input")?.value;
}

/** Follows what is read: until it moves, that is what a link has led to. */
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

/** Marks in the navigation what is read. */
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

/** Shows what the fragment names, with its form. Not every browser opens the group around it. */
function showTarget(): void {
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
