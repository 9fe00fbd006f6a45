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
import { CALL_MARK, TOKEN_SCHEME } from "../src/gateway/annotate-operations.ts";
import { type Json, listOf, objectOf, textOf } from "../src/json/values.ts";
import { ONE_METHOD } from "../src/kinds/interface.ts";
import { operationsIn, operationsOf, SERVICE_TAG } from "../src/openapi/operations.ts";
import { decodePercent } from "../src/untrusted-text.ts";
import { confirm, type Identity, readIdentity } from "./confirm.ts";
import { followInfo } from "./head.ts";
import { base, element, here, isHere, leadToOther, showAddress } from "./service.ts";

interface Scalar {
  createApiReference(element: Element, configuration: object): unknown;
}

interface Prepared {
  requestBuilder: { headers: Headers; method: string; path: { raw: string } };
}

/**
 * The service requires this header from pages, and other origins cannot send it. From Scalar to
 * `sendRequest`, it carries the name of the operation.
 */
const OWN_HEADER = "X-Nodeface";

/** Operations that need no confirmation, such as `GET /blocks`. */
const harmless = new Set<string>();

/** Operations of the node, which are called through this service. */
const calls = new Set<string>();

/** The node's identity when the user opened Scalar's client. */
let opened: Promise<Identity> | undefined;

const mount = document.getElementById("scalar")!;
const spec = new URL("spec.json", base);
const token = element("input", { type: "text", className: "secret", autocomplete: "off" });
const { scalar } = document.querySelector<HTMLScriptElement>("script[data-scalar]")!.dataset;

followInfo(base, () => false);
showAddress();
leadToOther(() => location.hash);
document.querySelector(".skip")!.addEventListener("click", skip);
mount.addEventListener("click", rememberNode, true);
await show().catch((error) => {
  document.querySelector("#loading span")!.textContent = "The reference cannot be loaded.";
  reportError(error);
});

async function show(): Promise<void> {
  // Otherwise, Zod, a part of Scalar, would compile code, which violates the content policy.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  const [description, { createApiReference }]: [Json, Scalar] = await Promise.all([
    fetch(spec).then((response) => response.json()),
    import(new URL(scalar!, location.href).href),
  ]);
  adapt(description);
  /** Replaces the page's short URL fragment with the fragment that Scalar understands. */
  const follow = () => {
    const fragment = fragmentOf(description, decodePercent(location.hash.slice(1)));
    if (fragment) history.replaceState(history.state, "", `#${fragment}`);
    return fragment !== undefined;
  };
  follow();
  addEventListener("hashchange", () => follow() && dispatchEvent(new PopStateEvent("popstate")));
  const isForeign = "foreign" in document.getElementById("node")!.dataset;
  if (isForeign) blockImages();
  createApiReference(mount, {
    url: spec.href,
    slug: "spec",
    documentDownloadType: "direct",
    // By default, Scalar sends requests to its vendor's hosts.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: "never",
    hideClientButton: true,
    // Scalar's samples do not escape every text, so those of an untrusted description are hidden.
    hiddenClients: isForeign || [],
    persistAuth: false,
    onBeforeRequest: nameRequest,
    customFetch: (request: RequestInfo | URL, init?: RequestInit) =>
      request.toString() === spec.href
        ? Promise.resolve(Response.json(description))
        : sendRequest(new Request(request, init)),
    tagsSorter: (a: Json, b: Json) =>
      Number(a.name === SERVICE_TAG) - Number(b.name === SERVICE_TAG),
  });
}

function nameRequest({ requestBuilder: { headers, method, path } }: Prepared): void {
  headers.set(OWN_HEADER, encodeURI(`${method.toUpperCase()} ${path.raw}`));
}

async function sendRequest(request: Request): Promise<Response> {
  const { headers, url } = request;
  const name = decodePercent(headers.get(OWN_HEADER) ?? "");
  headers.delete(OWN_HEADER);
  if (name === "") {
    // Scalar also sends requests of its own, such as to a token URL that the description chose.
    if (isHere(url)) throw new Error("Only an operation of the page can be called here");
    return await fetch(request);
  }
  if (calls.has(name) && isHere(url)) {
    headers.set(OWN_HEADER, "1");
    const secret = token.value.trim();
    if (secret) headers.set("Authorization", `Bearer ${secret}`);
  }
  if (harmless.has(name)) return await fetch(request);
  const body = await request.clone().text();
  const hidden = ["accept", "authorization", "content-type", "x-nodeface"];
  const values = [
    ...new URL(url).searchParams,
    ...[...headers].filter(([header]) => !hidden.includes(header)),
    ["body", body] as const,
  ];
  // Scalar's client keeps the focus inside itself, so the dialog must be inside too.
  const parent = mount.querySelector(".scalar-client") ?? mount;
  const refusal = await confirm(opened, name, request, values, parent);
  if (refusal) throw new Error(refusal);
  return await fetch(request);
}

function rememberNode({ target }: Event): void {
  if ((target as Element).closest(".show-api-client-button")) opened = readIdentity();
}

/**
 * Adapts a copy of the description. Methods are listed once, by name, and common ones come first.
 */
function adapt(description: Json): void {
  const common: Json = {}, others: Json = {};
  description.servers &&= absolute(description.servers);
  for (const [path, value] of Object.entries(objectOf(description.paths))) {
    const item = objectOf(value);
    nameMethod(path, item);
    const operations = operationsOf(item);
    for (const { method, operation } of operations) {
      if (!mayChange(method, operation)) harmless.add(`${method} ${path}`);
      if (operation[CALL_MARK] !== undefined) calls.add(`${method} ${path}`);
      // Scalar ignores the servers of path items, and uses those of an operation only if
      // `x-scalar-selected-server` is set.
      const servers = absolute(operation.servers ?? item.servers);
      const [server] = servers;
      if (server) Object.assign(operation, { servers, "x-scalar-selected-server": server.url });
      if (operation[CALL_MARK] === "token") askForToken(operation);
      operation["x-badges"] = wordsOf(operation).map((name) => {
        const color = MARKS.find(([, , word]) => word === name)?.[4];
        return { name, ...color && { color } };
      });
    }
    const isCommon = operations.some(({ operation }) => operation["x-common"] === true);
    (isCommon ? common : others)[path] = item;
  }
  description.paths = { ...common, ...others };
  const schemes = objectOf(objectOf(description.components).securitySchemes);
  for (const name of Object.keys(schemes)) if (name.startsWith(TOKEN_SCHEME)) delete schemes[name];
}

/**
 * Scalar would show the token in samples and send it to other servers, so the header asks for it.
 */
function askForToken(operation: Json): void {
  operation.security = [];
  operation.parameters = [...listOf(operation.parameters), {
    name: "Authorization",
    in: "header",
    description: "Enter the token above, beside the state of the node.",
    schema: { type: "string", default: "Bearer $NODEFACE_TOKEN" },
    required: true,
  }];
  if (token.isConnected) return;
  const notes = document.querySelector("#node .notes")!;
  notes.append(element("label", {}, "The operator's token ", token));
}

/**
 * Relative URLs begin with a dot. Scalar would resolve them without the path prefix of the service.
 */
function absolute(servers: unknown): Json[] {
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

/** The images of a description from the network could have URLs of this service. */
function blockImages(): void {
  const content = `img-src ${new URL("favicon.ico", base)} data: blob:`;
  document.head.append(element("meta", { httpEquiv: "Content-Security-Policy", content }));
}

/** Scalar would take a changed fragment for one of its own. */
function skip(event: Event): void {
  event.preventDefault();
  const target = mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus();
}
