/**
 * Shows what a link leads to, and replaces the page's plain content by Scalar once nobody is waiting for the line.
 * Who has begun to try something keeps the plain page, and has a button instead. If Scalar cannot be loaded, the
 * plain content stays.
 *
 * Every URL is resolved against the page's own, so that the page works behind any proxy prefix and
 * requests nothing of another origin.
 */
import { refreshHeader, setClock } from "./header.ts";
import { base, here, isCall, openForm, TOKEN_FORMAT, triedAt, visitor } from "./try.ts";

/** How long after the page Scalar is asked for, in milliseconds: a first try has the line for itself. */
const GRACE = 1000;

/** Without a change for so long, in milliseconds, Scalar is done; it batches updates for 300. */
const SETTLED = 500;

/** How long a visitor waits for Scalar to start, once it is loaded, in milliseconds. */
const PATIENCE = 30_000;

/** How long Scalar is kept at its place, in milliseconds, and what a reader moves the page with. */
const KEPT = 4000;
const MOVES = ["wheel", "touchstart", "pointerdown", "keydown"];

const plain = document.getElementById("plain");
const mount = document.getElementById("scalar");
const navigation = plain.querySelector("nav");
const { classList } = document.documentElement;
const { scalar: entry, modules } = document.querySelector("script[data-scalar]").dataset;
/** The fragment that the reader requested last; Scalar changes `location.hash` itself. */
let requestedHash = location.hash;
/** Scalar's modules and the description, which are loaded once. */
let loaded;
/** Resolves when Scalar has taken the page's place by itself, or has been kept from it. */
let replacing = Promise.resolve();

addEventListener("hashchange", () => {
  requestedHash = location.hash;
  showTarget();
});
nameServers();
document.querySelector(".skip").addEventListener("click", skip);
plain.addEventListener("click", ({ target }) => {
  if (target.matches("button.scalar")) openInScalar(target);
});
refreshHeader();
showTarget();

if (!isLineDear()) {
  await idle();
  if (!visitor.isTrying) replacing = replace().catch((error) => reportError(error));
}

/** Puts this service's address into the commands: at once, or of many into those that come near. */
function nameServers() {
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

/** Whether the visitor's line is slow, or paid for by its bytes. */
function isLineDear() {
  const { saveData = false, effectiveType = "" } = navigator.connection ?? {};
  return saveData || /2g|3g/.test(effectiveType);
}

/** Resolves a while after the page has been loaded. */
async function idle() {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  }
  await new Promise((resolve) => setTimeout(resolve, GRACE));
}

/** Replaces the plain page by Scalar, unless the visitor begins to try something meanwhile. */
async function replace() {
  const parts = await load();
  if (visitor.isTrying) return;
  restoreHash(currentHash());
  const app = await create(parts);
  const hash = currentHash();
  const uncover = visitor.isTrying ? () => {} : await place(hash);
  if (!visitor.isTrying) return show(hash);
  app.destroy();
  mount.replaceChildren();
  uncover();
}

/** Replaces the plain page by Scalar because the visitor says so, with what they have filled in. */
async function openInScalar(button) {
  visitor.isTrying = true;
  button.disabled = true;
  button.textContent = "Opening Scalar …";
  const form = button.closest(".try");
  try {
    await replacing;
    const parts = await load();
    const hash = form ? hashOf(form.closest("article")) : currentHash();
    restoreHash(hash);
    await withTimeout(create(parts, form && triedAt(form)));
    await place(hash);
    show(hash, true);
  } catch (error) {
    button.disabled = false;
    button.textContent = "Scalar cannot be opened";
    reportError(error);
  }
}

/** Rejects where Scalar gives up, which it does without a word. */
const withTimeout = (made) =>
  Promise.race([
    made,
    new Promise((_, reject) =>
      setTimeout(() => reject(new Error("Scalar does not start")), PATIENCE)
    ),
  ]);

/** Loads Scalar's modules beside one another, and the description. */
async function load() {
  loaded ??= (async () => {
    for (const path of modules.split(" ")) {
      const href = new URL(path, new URL("../assets/", location.href)).href;
      const link = Object.assign(document.createElement("link"), { rel: "modulepreload", href });
      link.fetchPriority = "low";
      document.head.append(link);
    }
    const [text, scalar, arrange] = await Promise.all([
      fetchDescription(),
      import(new URL(entry, location.href).href),
      import("./description-for-scalar.js"),
    ]);
    return { text, ...scalar, ...arrange };
  })();
  try {
    return await loaded;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

async function fetchDescription() {
  const answer = await fetch(new URL("spec.json", base));
  setClock(answer.headers.get("date"));
  return await answer.text();
}

/** Has Scalar make its page, unseen. */
async function create({ text, createApiReference, arrange, fillIn, loginOf }, tried) {
  const description = arrange(resolveServers(JSON.parse(text)));
  if (tried) fillIn(description, tried);
  const app = createApiReference(mount, {
    content: description,
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
    ...tried && loginOf(tried),
    onBeforeRequest: prepareRequest,
  });
  await until(
    () => mount.querySelector(".show-api-client-button"),
    () => mount.querySelector("h1"),
  );
  return app;
}

/**
 * Prepares a request of Scalar's. A call of the node says that it comes from here: the service forwards nothing of
 * pages that do not, and no page of another origin may send this header. Everything else goes without the token:
 * Scalar would send it wherever a visitor has selected it once.
 */
function prepareRequest({ request, requestBuilder }) {
  if (isCall(request.url)) return requestBuilder.headers.set("X-Nodeface", "1");
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
    if (server?.url?.startsWith?.(".")) server.url = here + server.url.slice(1);
  }
}

/** Shows the operation that is requested, opened; not every browser opens the group that it is in. */
function showTarget() {
  const target = document.getElementById(decode(requestedHash.slice(1)));
  const group = target?.closest("#content section > details:not([open])");
  if (group) group.open = true;
  const form = target?.closest("article")?.querySelector(".try");
  if (form) openForm(form);
  if (target) target.scrollIntoView({ behavior: "instant" });
  classList.remove("finding");
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

/**
 * Has Scalar go to an operation, unseen beneath the plain page, to the height at which that has it.
 *
 * @returns what puts the plain page back
 */
async function place(hash) {
  restoreHash(hash);
  if (!hash) return () => {};
  const [x, y] = [scrollX, scrollY];
  const top = headingOf(hash)?.getBoundingClientRect().top;
  // Beneath the plain page, which stays where it is seen, Scalar's is as long as it likes.
  fix(navigation, plain);
  classList.add("mounting");
  dispatchEvent(new PopStateEvent("popstate"));
  const release = top === undefined ? () => {} : keepAt(top, hash);
  await until(() => false, () => true);
  restoreHash(hash);
  return () => {
    release();
    classList.remove("mounting");
    for (const { style } of [navigation, plain]) style.cssText = "";
    scrollTo({ left: x, top: y, behavior: "instant" });
  };
}

/**
 * Keeps an operation of Scalar's at a height: Scalar goes on to load what stands above it, and to scroll, for a
 * while. Ends when the reader moves the page.
 */
function keepAt(top, hash) {
  // Whoever observes a size that changes comes last before each frame is painted, after all that scrolls.
  const probe = document.body.appendChild(document.createElement("div"));
  probe.className = "probe";
  const observer = new ResizeObserver(() => {
    const title = inScalar(hash)?.querySelector("h1, h2, h3");
    const gap = title ? title.getBoundingClientRect().top - top : 0;
    if (Math.abs(gap) > 1) scrollBy({ top: gap, behavior: "instant" });
  });
  let frame;
  const tick = () => {
    probe.style.width = probe.style.width ? "" : "1px";
    frame = requestAnimationFrame(tick);
  };
  const release = () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
    probe.remove();
    for (const type of MOVES) removeEventListener(type, release);
  };
  observer.observe(probe);
  tick();
  for (const type of MOVES) addEventListener(type, release, { passive: true });
  setTimeout(release, KEPT);
  return release;
}

/** Shows Scalar, and moves the focus to the operation that the reader is at. */
function show(hash, isAsked = false) {
  const isFocused = isAsked || plain.contains(document.activeElement);
  classList.remove("mounting");
  classList.add("mounted");
  if (isFocused || hash) focus(inScalar(hash));
}

const inScalar = (hash) => document.getElementById(`spec/${decode(hash.slice(1))}`);

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
  const requested = headingOf(requestedHash);
  const isInView = requested && top(requested) >= 0 && top(requested) < innerHeight;
  if (requested && (scrollY === 0 || isInView)) return `#${requested.id}`;
  if (scrollY === 0) return requestedHash;
  const heading = headings.findLast((heading) => top(heading) < innerHeight / 3);
  return heading ? `#${heading.id}` : "";
}

/** The heading that a fragment leads to. A short one of ours leads to an article. */
function headingOf(hash) {
  const target = document.getElementById(decode(hash.slice(1)));
  return target?.matches("article") ? target.querySelector("h3") : target;
}

/** Scalar's fragment for an operation. */
const hashOf = (article) => `#${article.querySelector("h3").id}`;

function decode(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function skip(event) {
  if (!classList.contains("mounted")) return;
  event.preventDefault();
  focus(null);
}

/** Moves the focus to an element of Scalar, or to its content. */
function focus(element) {
  const target = element ?? mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus({ preventScroll: element !== null });
}
