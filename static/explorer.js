/**
 * Puts Scalar in the place of the page's plain content once an operation can be tried. Where it
 * cannot be loaded, the plain content stays.
 *
 * Every address is resolved against the page's own, so that the page is right behind any prefix
 * that a proxy puts before it, and nothing is asked of any other origin.
 */
import { refreshHeader } from "./header.js";

/** How long nothing may change until Scalar is taken to be done, in milliseconds. */
const SETTLED = 600;

const base = new URL("..", location.href);
const origin = base.href.replace(/\/$/, "");
const plain = document.getElementById("plain");
const mount = document.getElementById("scalar");
/** The place that was asked for, which Scalar overwrites while it starts. */
const asked = location.hash;

for (const name of plain.querySelectorAll("var")) name.textContent = origin;
document.querySelector(".skip").addEventListener("click", skip);
refreshHeader();

const entry = document.querySelector("script[data-scalar]").dataset.scalar;
const { createApiReference } = await import(new URL(entry, location.href));
createApiReference(mount, {
  url: new URL("spec.json", base).href,
  slug: "spec",
  servers: [{ url: origin + plain.dataset.basePath, description: "This node" }],
  // Each of these keeps Scalar from talking to its maker's hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
});
await ready();
takePlace();

/** Resolves when Scalar shows an operation that can be tried, or all that there is. */
function ready() {
  return new Promise((resolve) => {
    let timer;
    const look = () => {
      clearTimeout(timer);
      if (mount.querySelector(".show-api-client-button")) done();
      else if (mount.querySelector("h1")) timer = setTimeout(done, SETTLED);
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
function takePlace() {
  const place = placeOfReader();
  const focused = plain.contains(document.activeElement);
  document.documentElement.classList.add("mounted");
  history.replaceState(history.state, "", place || location.pathname + location.search);
  if (place) dispatchEvent(new PopStateEvent("popstate"));
  else scrollTo(0, 0);
  if (focused) focusScalar();
}

/** The fragment of what is being read; what was asked for, while nothing has been scrolled. */
function placeOfReader() {
  let place = asked;
  if (scrollY === 0) return place;
  for (const heading of plain.querySelectorAll("h2, h3")) {
    if (heading.getBoundingClientRect().top > innerHeight / 3) break;
    place = `#${heading.id}`;
  }
  return place;
}

function skip(event) {
  if (!document.documentElement.classList.contains("mounted")) return;
  event.preventDefault();
  focusScalar();
}

function focusScalar() {
  const content = mount.querySelector("main") ?? mount;
  content.tabIndex = -1;
  content.focus();
}
