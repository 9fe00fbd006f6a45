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

/** The heading of the operation that is read. */
let current: Element | undefined;

addEventListener("hashchange", showTarget);
nameServers();
showAddress();
followInfo(base, false, isIdle);
leadToOther(fragmentInView);
makeFilter(plain);
markCurrent();
showTarget();

/** Tells whether nobody reads or types yet. */
function isIdle(): boolean {
  return scrollY < innerHeight && !plain.querySelector(".try[open], dialog[open]") &&
    !plain.querySelector<HTMLInputElement>("#filter input")?.value;
}

/** A band below the bar, where a link leads to: the first that comes into it is read. */
const READ_AT = "-100px 0px -80%";

/** Marks the operation that is read in the navigation. */
function markCurrent(): void {
  const nav = plain.querySelector("nav")!;
  const observer = new IntersectionObserver((entries) => {
    const heading = entries.find(({ isIntersecting }) => isIntersecting)?.target
      .querySelector("h3");
    if (!heading) return;
    current = heading;
    nav.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const link = nav.querySelector(`a[href="#${CSS.escape(heading.id)}"]`);
    if (!link) return;
    link.setAttribute("aria-current", "true");
    const [{ top, bottom }, box] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
    if (top < box.top || bottom > box.bottom) nav.scrollTop += top - box.top - box.height / 2;
  }, { rootMargin: READ_AT });
  for (const article of plain.querySelectorAll("article")) observer.observe(article);
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

/** Shows the operation that is requested, opened; not every browser opens the group that it is in. */
function showTarget(): void {
  const target = targetOf(location.hash);
  const group = target?.closest<HTMLDetailsElement>("#content section > details:not([open])");
  if (group) group.open = true;
  const form = target?.closest("article")?.querySelector<HTMLDetailsElement>(".try");
  if (form) openForm(form);
  if (target) target.scrollIntoView({ behavior: "instant" });
  document.documentElement.classList.remove("finding");
}

/** The fragment of the operation that is read: the one that was asked for if it is in view. */
function fragmentInView(): string {
  const asked = targetOf(location.hash);
  const top = asked?.getBoundingClientRect().top ?? -1;
  if (top >= 0 && top < innerHeight) return location.hash;
  return current ? `#${current.id}` : "";
}

/** What a fragment leads to: a heading, or by a short one an operation. */
function targetOf(hash: string): HTMLElement | null {
  return document.getElementById(decodePercent(hash.slice(1)));
}
