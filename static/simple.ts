/**
 * The simple page: puts this service's address into the commands, and shows what a link leads to. `try.ts` lets its
 * operations be tried.
 */
import { decodePercent } from "../src/untrusted-text.ts";
import { followInfo } from "./follow-info.ts";
import { base, here, leadToOther } from "./service.ts";
import { openForm } from "./try.ts";

const plain = document.getElementById("plain")!;

addEventListener("hashchange", showTarget);
nameServers();
followInfo(base, false);
leadToOther(fragmentInView);
showTarget();

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

/** The fragment of the operation or the group that is read: the one that was asked for if it is in view. */
function fragmentInView(): string {
  const top = (element: Element) => element.getBoundingClientRect().top;
  const asked = targetOf(location.hash);
  if (asked && top(asked) >= 0 && top(asked) < innerHeight) return location.hash;
  const read = [...plain.querySelectorAll("h2[id], h3")]
    .findLast((heading) => top(heading) < innerHeight / 3);
  return read ? `#${read.id}` : "";
}

/** What a fragment leads to: a heading, or by a short one an operation. */
function targetOf(hash: string): HTMLElement | null {
  return document.getElementById(decodePercent(hash.slice(1)));
}
