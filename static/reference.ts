/** Shows the description in Scalar, below the page header. */
import {
  anchorOf,
  MARKS,
  mayChange,
  methodNameOf,
  tagFragment,
  UNTAGGED,
  wordsOf,
} from "../src/explorer/labels.ts";
import { commandOf, fillIn } from "../src/explorer/form-request.ts";
import { readForm } from "../src/explorer/read-form.ts";
import { CALL_MARK, TOKEN_SCHEME } from "../src/gateway/annotate-operations.ts";
import { type Json, listOf, objectOf, textOf } from "../src/json/values.ts";
import { ONE_METHOD } from "../src/kinds/interface.ts";
import { TAG as SERVICE_TAG } from "../src/openapi/merge.ts";
import { operationsIn, operationsOf, parametersOf } from "../src/openapi/operations.ts";
import { decodePercent } from "../src/untrusted-text.ts";
import { confirm, type Identity, readIdentity } from "./confirm.ts";
import { followInfo } from "./head.ts";
import { base, element, here, isCall, leadToOther, showAddress } from "./service.ts";

interface Scalar {
  createApiReference(element: Element, configuration: object): unknown;
}

interface Prepared {
  request: Request;
  requestBuilder: {
    headers: Headers;
    method: string;
    path: { raw: string };
    security: { bearerFormat?: string }[];
  };
}

/** The `bearerFormat` by which this script recognizes the service's token. */
const TOKEN_FORMAT = "the token of this service";

/** Operations that need no confirmation, such as `GET /blocks`. */
const harmless = new Set<string>();

const writes = new WeakMap<Request, string>();

/** The node's identity when the user opened Scalar's client. */
let opened: Promise<Identity> | undefined;

/**
 * Selects all links except Scalar's own links to fragments and files. In the description's Markdown, selects every
 * link.
 */
const LEADING_AWAY = 'a[href]:not([href^="#"], [href^="blob:"]), .markdown a[href]';

const isForeign = "foreign" in document.getElementById("node")!.dataset;

const mount = document.getElementById("scalar")!;
const { scalar } = document.querySelector<HTMLScriptElement>("script[data-scalar]")!.dataset;

followInfo(base, () => false);
showAddress();
leadToOther(() => location.hash);
document.querySelector(".skip")!.addEventListener("click", skip);
mount.addEventListener("click", rememberNode, true);
mount.addEventListener("click", downloadServed, true);
if (isForeign) keepHere();
await show().catch((error) => {
  document.querySelector("#loading span")!.textContent = "The reference cannot be loaded.";
  reportError(error);
});

async function show(): Promise<void> {
  const [description, { createApiReference }]: [Json, Scalar] = await Promise.all([
    fetch(new URL("spec.json", base)).then((response) => response.json()),
    import(new URL(scalar!, location.href).href),
  ]);
  hideButtons(arrange(description));
  /** Replaces the page's short URL fragment with the fragment that Scalar understands. */
  const follow = () => {
    const fragment = fragmentOf(description, decodePercent(location.hash.slice(1)));
    if (fragment) history.replaceState(history.state, "", `#${fragment}`);
    return fragment !== undefined;
  };
  follow();
  addEventListener("hashchange", () => follow() && dispatchEvent(new PopStateEvent("popstate")));
  createApiReference(mount, {
    content: description,
    slug: "spec",
    // By default, Scalar sends requests to its vendor's hosts.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: "never",
    hideClientButton: true,
    // Hides Scalar's code samples: they contain the entered token, and may contain invisible characters. The function
    // `arrange` adds safe samples.
    hiddenClients: true,
    persistAuth: false,
    onBeforeRequest: prepareRequest,
    onRequestBuilt: markWrite,
    customFetch: sendRequest,
    tagsSorter: (a: Json, b: Json) =>
      Number(a.name === SERVICE_TAG) - Number(b.name === SERVICE_TAG),
  });
}

/**
 * The service requires the header `X-Nodeface` from pages, and other origins cannot send this header. Scalar sends a
 * selected token with every request, so the token is removed from requests that do not call the node.
 */
function prepareRequest({ request, requestBuilder }: Prepared): void {
  if (isCall(request.url)) return requestBuilder.headers.set("X-Nodeface", "1");
  const { security } = requestBuilder;
  requestBuilder.security = security.filter(({ bearerFormat }) => bearerFormat !== TOKEN_FORMAT);
}

function markWrite({ request, requestBuilder: { method, path } }: Prepared): void {
  const name = `${method.toUpperCase()} ${path.raw}`;
  if (!harmless.has(name)) writes.set(request, name);
}

/** Downloads the served description, since Scalar's button would download the page's rearranged copy. */
function downloadServed(event: Event): void {
  const button = (event.target as Element).closest("button.download-button");
  if (!button) return;
  event.stopPropagation();
  const name = /yaml/i.test(button.textContent ?? "") ? "spec.yaml" : "spec.json";
  element("a", { href: new URL(name, base).href, download: name }).click();
}

function rememberNode({ target }: Event): void {
  if ((target as Element).closest(".show-api-client-button")) opened = readIdentity();
}

async function sendRequest(request: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const name = request instanceof Request && writes.get(request);
  if (!name) return await fetch(request, init);
  const body = await request.clone().text();
  const hidden = ["accept", "authorization", "content-type", "x-nodeface"];
  const values = [
    ...new URL(request.url).searchParams,
    ...[...request.headers].filter(([header]) => !hidden.includes(header)),
    ["body", body] as const,
  ];
  // Scalar's client keeps the focus inside itself, so the dialog must be inside too.
  const parent = mount.querySelector(".scalar-client") ?? mount;
  const refusal = await confirm(opened, name, request, values, parent);
  if (refusal) throw new Error(refusal);
  return await fetch(request, init);
}

function arrange(description: Json): string[] {
  const common: Json = {}, others: Json = {};
  const refused: string[] = [];
  const used = new Set<string>();
  description.servers &&= resolveServers(description.servers);
  for (const [path, value] of Object.entries(objectOf(description.paths))) {
    const item = objectOf(value);
    nameMethod(path, item);
    const operations = operationsOf(item);
    for (const { method, operation } of operations) {
      if (isForeign) removeSamples(operation);
      if (!mayChange(method, operation)) harmless.add(`${method} ${path}`);
      // Scalar ignores the servers of path items, and uses those of an operation only if
      // `x-scalar-selected-server` is set.
      const servers = resolveServers(operation.servers ?? item.servers);
      const [server = objectOf(listOf(description.servers)[0])] = servers;
      if (servers[0]) Object.assign(operation, { servers, "x-scalar-selected-server": server.url });
      const isPermitted = operation[CALL_MARK] === "open" || operation[CALL_MARK] === "token";
      const url = `${textOf(server.url) ?? here}${path}`;
      const isRefused = isCall(url) && !isPermitted;
      if (isRefused) refused.push(`${method} ${path}`);
      const source = !isRefused && lineOf(description, item, operation, method, url);
      if (source) operation["x-codeSamples"] = [{ lang: "shell", label: "curl, for sh", source }];
      const badges = wordsOf(operation).map((name) => {
        used.add(name);
        const color = MARKS.find(([, , word]) => word === name)?.[4];
        return { name, ...color && { color } };
      });
      if (badges.length > 0) operation["x-badges"] ??= badges;
    }
    const isCommon = operations.some(({ operation }) => operation["x-common"] === true);
    (isCommon ? common : others)[path] = item;
  }
  description.paths = { ...common, ...others };
  const legend = MARKS.filter(([, , word]) => used.has(word))
    .map(([, , word, meaning]) => `- **${word}** ${meaning}`);
  const info = objectOf(description.info);
  if (isForeign) removeSamples(info);
  info.description = [textOf(info.description), legend.join("\n")].filter(Boolean).join("\n\n");
  const schemes = objectOf(objectOf(description.components).securitySchemes);
  for (const [name, scheme] of Object.entries(schemes)) {
    if (name.startsWith(TOKEN_SCHEME)) objectOf(scheme).bearerFormat = TOKEN_FORMAT;
  }
  return refused;
}

function lineOf(root: Json, item: Json, operation: Json, method: string, url: string): string {
  const address = url.startsWith(`${here}/`) ? url.slice(here.length) : url;
  const form = readForm(root, operation, parametersOf(root, item, operation), method, address);
  return form ? commandOf(form, fillIn(form), here) : "";
}

/** Users might copy commands from the code samples of an untrusted description. */
function removeSamples(object: Json): void {
  for (const key of Object.keys(object)) {
    if (/^x-(scalar|stainless|readme|custom|code)/i.test(key)) delete object[key];
  }
}

/** In Scalar, the id of an operation's section ends with the method and the path. */
function hideButtons(operations: readonly string[]): void {
  const ids = operations.map((name) => JSON.stringify(`/${name.replace(" ", "")}`));
  const sections = ids.map((id) => `[id$=${id}]`).join();
  const textContent = `:is(${sections}) .show-api-client-button { display: none }`;
  document.head.append(element("style", { textContent }));
}

/** Relative server URLs begin with a dot. */
function resolveServers(servers: unknown): Json[] {
  return listOf(servers).map(objectOf).map((server) => ({
    ...server,
    url: textOf(server.url)?.replace(/^\./, () => here),
  }));
}

function nameMethod(path: string, item: Json): void {
  const name = methodNameOf(path);
  if (!name) return;
  const isBoth = item[ONE_METHOD] === true;
  if (isBoth) delete item.post;
  for (const { operation } of operationsOf(item)) {
    const also = isBoth && "Also available as `POST`, with the parameters as a JSON object.";
    const texts = [textOf(operation.summary), textOf(operation.description), also];
    operation.description = texts.filter(Boolean).join("\n\n");
    operation.summary = name;
  }
}

function fragmentOf(description: Json, anchor: string): string | undefined {
  const found = operationsIn(description).find(({ path, operation }) =>
    anchor !== "" && anchorOf(path, operation) === anchor
  );
  if (!found) return undefined;
  const [tag = UNTAGGED] = listOf(found.operation.tags).map(textOf);
  return `${tagFragment(tag)}/${found.method}${found.path}`;
}

/**
 * Blocks images and turns links into text: in a description from the network, URLs may lead to this service.
 */
function keepHere(): void {
  const content = `img-src ${new URL("favicon.ico", base)} data: blob:; media-src blob:`;
  document.head.append(element("meta", { httpEquiv: "Content-Security-Policy", content }));
  new MutationObserver(() => {
    for (const link of mount.querySelectorAll<HTMLAnchorElement>(LEADING_AWAY)) {
      link.dataset.to = link.textContent === link.href ? "" : ` (${link.href})`;
      link.removeAttribute("href");
    }
  }).observe(mount, { subtree: true, childList: true, attributeFilter: ["href"] });
}

/** Moves the focus to the content without changing the URL's fragment, which Scalar would interpret. */
function skip(event: Event): void {
  event.preventDefault();
  const target = mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus();
}
