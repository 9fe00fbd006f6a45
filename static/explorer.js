/**
 * Puts Scalar in the place of the page's plain content once an operation can be tried. Where it
 * cannot be loaded, the plain content stays.
 *
 * Every address is resolved against the page's own, so that the page is right behind any prefix
 * that a proxy puts before it, and nothing is asked of any other origin.
 */
import { refreshHeader } from "./header.js";

/** How long nothing changes once Scalar is done, in milliseconds; it gathers work for 300. */
const SETTLED = 500;

const base = new URL("..", location.href);
const origin = base.href.replace(/\/$/, "");
const plain = document.getElementById("plain");
const mount = document.getElementById("scalar");
/** The place that was asked for last, since Scalar writes its own into the address. */
let asked = location.hash;
addEventListener("hashchange", () => asked = location.hash);

for (const name of plain.querySelectorAll("var")) name.textContent = origin;
document.querySelector(".skip").addEventListener("click", skip);
refreshHeader();

// Asked for beside the modules, which take longer.
const description = fetch(new URL("spec.json", base)).then((answer) => answer.json());
description.catch(() => {}); // It is waited for below, and may fail before that.
const entry = document.querySelector("script[data-scalar]").dataset.scalar;
const { createApiReference } = await import(new URL(entry, location.href));
createApiReference(mount, {
  content: located(await description),
  slug: "spec",
  // Each of these keeps Scalar from talking to its maker's hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
});
await until(() => mount.querySelector(".show-api-client-button"), () => mount.querySelector("h1"));
await takePlace();

/** The description with the servers that are relative, which mean this service, where it is now. */
function located(description) {
  const place = (holder) => {
    if (!Array.isArray(holder?.servers)) return;
    for (const server of holder.servers) {
      if (server?.url?.startsWith?.("/")) server.url = origin + server.url.replace(/\/$/, "");
    }
  };
  // Without any, Scalar would ask the root of this origin, whatever the prefix.
  if (!description.servers?.length) description.servers = [{ url: "/" }];
  place(description);
  for (const path of Object.values(description.paths ?? {})) {
    [path, ...Object.values(path ?? {})].forEach(place);
  }
  return description;
}

/**
 * Resolves when Scalar is far enough, or when nothing more changes in what it shows.
 *
 * @param isDone whether it is far enough
 * @param isStarted whether it shows anything that may be all there is
 */
function until(isDone, isStarted) {
  return new Promise((resolve) => {
    let timer;
    const look = () => {
      clearTimeout(timer);
      if (isDone()) done();
      else if (isStarted()) timer = setTimeout(done, SETTLED);
    };
    const done = () => {
      observer.disconnect();
      requestAnimationFrame(resolve);
    };
    const observer = new MutationObserver(look);
    observer.observe(mount, { childList: true, subtree: true });
    look();
  });
}

/** Shows Scalar where the reader is: at the same operation, with the focus. */
async function takePlace() {
  const { classList } = document.documentElement;
  const place = placeOfReader();
  const focused = plain.contains(document.activeElement);
  restore(place);
  if (place) {
    // Scalar scrolls to the place unseen, below the plain content, which is held where it is.
    hold(plain.querySelector("nav"), plain);
    classList.add("mounting");
    dispatchEvent(new PopStateEvent("popstate"));
    await until(() => false, () => true);
    restore(place);
  }
  classList.add("mounted");
  if (focused || place) focus(document.getElementById(`spec/${decode(place.slice(1))}`));
}

/** Puts back into the address what Scalar took for the place while it started. */
function restore(place) {
  history.replaceState(history.state, "", place || location.pathname + location.search);
}

/** Takes elements out of the flow, each where it is seen now. */
function hold(...elements) {
  const places = elements.map((element) => [element.style, element.getBoundingClientRect()]);
  for (const [style, { left, top, width }] of places) {
    Object.assign(style, {
      position: "fixed",
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
    });
  }
}

/** The fragment of what is being read: what was asked for, as long as it is in view. */
function placeOfReader() {
  const headings = [...plain.querySelectorAll("h2, h3")];
  const top = (heading) => heading.getBoundingClientRect().top;
  const target = headings.find(({ id }) => id === decode(asked.slice(1)));
  if (scrollY === 0 || (target && top(target) >= 0 && top(target) < innerHeight)) return asked;
  const heading = headings.findLast((heading) => top(heading) < innerHeight / 3);
  return heading ? `#${heading.id}` : "";
}

function decode(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function skip(event) {
  if (!document.documentElement.classList.contains("mounted")) return;
  event.preventDefault();
  focus(null);
}

/** Moves the focus to an element of Scalar's, to its content where there is no such element. */
function focus(element) {
  const target = element ?? mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus({ preventScroll: element !== null });
}
