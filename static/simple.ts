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

/** The heading of what is read, and how far below the top a link has put it, in pixels. */
let current: Element | undefined, putAt: number | undefined;

addEventListener("hashchange", showTarget);
nameServers();
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

/** A band below the bar, where a link leads to: the first that comes into it is read. */
const READ_AT = "-100px 0px -80%";

/** Follows what is read. What a link has led to is read until it moves, whatever else is near. */
function followReader(): void {
  const observer = new IntersectionObserver((entries) => {
    if (current && putAt === topOf(current)) return;
    const article = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (article) markCurrent(article.querySelector("h3")!);
  }, { rootMargin: READ_AT });
  for (const article of plain.querySelectorAll("article")) observer.observe(article);
}

const topOf = (element: Element) => Math.round(element.getBoundingClientRect().top);

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

/** Puts this service's address into the commands: at once, or of many into those that come near. */
function nameServers(): void {
  const names = plain.querySelectorAll("var");
  const nameAll = () => names.forEach((name) => name.textContent = here);
  if (!plain.querySelector(".many")) return nameAll();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const name of target.querySelectorAll("var")) name.textContent = here;
      observer.unobserve(target);
    }
  }, { rootMargin: "100%" });
  for (const article of plain.querySelectorAll("article")) observer.observe(article);
  addEventListener("beforeprint", nameAll);
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
