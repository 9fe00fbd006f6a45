/**
 * Replaces the page's plain content by Scalar. If Scalar cannot be loaded, the plain content stays.
 *
 * Every URL is resolved against the page's own, so that the page works behind any proxy prefix and
 * requests nothing of another origin.
 */
import { arrange, TOKEN_FORMAT } from "./arrange.js";
import { refreshHeader, setClock } from "./header.js";

/** Without a change for so long, in milliseconds, Scalar is done; it batches updates for 300. */
const SETTLED = 500;

const base = new URL("..", location.href);
const origin = base.href.replace(/\/$/, "");
const plain = document.getElementById("plain");
const mount = document.getElementById("scalar");
/** The fragment that the reader requested last; Scalar changes `location.hash` itself. */
let requestedHash = location.hash;
addEventListener("hashchange", () => {
  requestedHash = location.hash;
  openGroup();
});

for (const name of plain.querySelectorAll("var")) name.textContent = origin;
document.querySelector(".skip").addEventListener("click", skip);
refreshHeader();
openGroup();

// Fetched while the modules load.
const description = fetch(new URL("spec.json", base)).then((answer) => {
  setClock(answer.headers.get("date"));
  return answer.json();
});
description.catch(() => {}); // It may reject before it is awaited below.
const entry = document.querySelector("script[data-scalar]").dataset.scalar;
const { createApiReference } = await import(new URL(entry, location.href));
createApiReference(mount, {
  content: arrange(resolveServers(await description)),
  slug: "spec",
  // Without these options Scalar sends requests to its vendor's hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  // A token is held in memory alone.
  persistAuth: false,
  onBeforeRequest: prepareRequest,
});
await until(() => mount.querySelector(".show-api-client-button"), () => mount.querySelector("h1"));
await showScalar();

/**
 * Prepares a request of Scalar's. A call of the node says that it comes from here: the service forwards nothing of
 * pages that do not, and no page of another origin may send this header. Everything else goes without the token:
 * Scalar would send it wherever a visitor has selected it once.
 */
function prepareRequest({ request, requestBuilder }) {
  const isCall = ["v1/node/", "v1/rpc/"].some((path) => request.url.startsWith(base.href + path));
  if (isCall) return requestBuilder.headers.set("X-Nodeface", "1");
  const { security } = requestBuilder;
  requestBuilder.security = security.filter(({ bearerFormat }) => bearerFormat !== TOKEN_FORMAT);
}

/**
 * Resolves the relative servers of a description, each of which begins with a dot: this service. Scalar
 * looks for servers at an operation, not at its path, and takes none of them unless one is selected.
 */
function resolveServers(description) {
  resolveIn(description);
  for (const item of Object.values(description.paths ?? {})) {
    const { additionalOperations, ...members } = item ?? {};
    resolveIn(members);
    for (const operation of Object.values({ ...members, ...additionalOperations })) {
      if (typeof operation !== "object" || operation === null || Array.isArray(operation)) continue;
      resolveIn(operation);
      operation.servers ??= members.servers;
      if (operation.servers) operation["x-scalar-selected-server"] = operation.servers[0]?.url;
    }
  }
  return description;
}

function resolveIn(holder) {
  if (!Array.isArray(holder?.servers)) return;
  for (const server of holder.servers) {
    if (server?.url?.startsWith?.(".")) server.url = origin + server.url.slice(1);
  }
}

/** Opens the closed group in which the requested operation is; not every browser does. */
function openGroup() {
  const target = document.getElementById(decode(requestedHash.slice(1)));
  const group = target?.closest("details:not([open])");
  if (!group) return;
  group.open = true;
  target.scrollIntoView();
}

/** Resolves when `isDone`, or when `isStarted` and Scalar's elements no longer change. */
function until(isDone, isStarted) {
  return new Promise((resolve) => {
    let timer;
    const check = () => {
      clearTimeout(timer);
      if (isDone()) done();
      else if (isStarted()) timer = setTimeout(done, SETTLED);
    };
    const done = () => {
      observer.disconnect();
      requestAnimationFrame(resolve);
    };
    const observer = new MutationObserver(check);
    observer.observe(mount, { childList: true, subtree: true });
    check();
  });
}

/** Shows Scalar at the operation that the reader is at, and moves the focus there. */
async function showScalar() {
  const { classList } = document.documentElement;
  const hash = currentHash();
  const focused = plain.contains(document.activeElement);
  restoreHash(hash);
  if (hash) {
    // Scalar scrolls to the operation while the plain content still covers it.
    fix(plain.querySelector("nav"), plain);
    classList.add("mounting");
    dispatchEvent(new PopStateEvent("popstate"));
    await until(() => false, () => true);
    restoreHash(hash);
  }
  classList.add("mounted");
  if (focused || hash) focus(document.getElementById(`spec/${decode(hash.slice(1))}`));
}

/** Scalar changes the fragment while it starts. */
function restoreHash(hash) {
  history.replaceState(history.state, "", hash || location.pathname + location.search);
}

/** Fixes elements at their current position. */
function fix(...elements) {
  const boxes = elements.map((element) => [element.style, element.getBoundingClientRect()]);
  for (const [style, { left, top, width }] of boxes) {
    Object.assign(style, {
      position: "fixed",
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
    });
  }
}

/** The requested fragment if its heading is in view, else that of the heading in view. */
function currentHash() {
  const headings = [...plain.querySelectorAll("h2[id], h3")];
  const top = (heading) => heading.getBoundingClientRect().top;
  const target = headings.find(({ id }) => id === decode(requestedHash.slice(1)));
  const isInView = target && top(target) >= 0 && top(target) < innerHeight;
  if (scrollY === 0 || isInView) return requestedHash;
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

/** Moves the focus to an element of Scalar, or to its content. */
function focus(element) {
  const target = element ?? mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus({ preventScroll: element !== null });
}
