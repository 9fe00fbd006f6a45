/**
 * The reference: Scalar, pointed at this service's description, under the head. Scalar gets the description as the
 * simple page has it; what is served and downloaded stays as it is.
 */
import {
  anchorOf,
  MARKS,
  methodNameOf,
  tagFragment,
  UNTAGGED,
  wordsOf,
} from "../src/explorer/labels.ts";
import { CALL_MARK, TOKEN_SCHEME } from "../src/gateway/annotate-operations.ts";
import {
  isObject,
  type Json,
  listOf,
  objectOf,
  resolveFragment,
  textOf,
} from "../src/json/values.ts";
import { TAG as SERVICE_TAG } from "../src/openapi/merge.ts";
import { ONE_METHOD } from "../src/kinds/interface.ts";
import { decodePercent } from "../src/untrusted-text.ts";
import { followInfo } from "./follow-info.ts";
import { setClock } from "./head.ts";
import { base, here, isCall, leadToOther, showAddress } from "./service.ts";

/** What is used of Scalar's module. */
interface Scalar {
  createApiReference(element: Element, configuration: object): unknown;
}

/** A request of Scalar's before it is sent. */
interface Prepared {
  request: Request;
  requestBuilder: { headers: Headers; security: { bearerFormat?: string }[] };
}

interface Tag {
  name: string;
}

const isOwn = ({ name }: Tag) => name === SERVICE_TAG;

/** Says of a security scheme, and so of what is sent by it, that it is the token of this service. */
const TOKEN_FORMAT = "the token of this service";

const mount = document.getElementById("scalar")!;
const { scalar } = document.querySelector<HTMLScriptElement>("script[data-scalar]")!.dataset;

followInfo(base, true, () => false);
showAddress();
leadToOther(() => location.hash);
document.querySelector(".skip")!.addEventListener("click", skip);
for (const type of ["click", "auxclick"]) mount.addEventListener(type, keepHere, true);
await show().catch((error) => {
  document.querySelector("#loading span")!.textContent = "The reference cannot be loaded.";
  reportError(error);
});

async function show(): Promise<void> {
  const [description, { createApiReference }]: [Json, Scalar] = await Promise.all([
    fetchDescription(),
    import(new URL(scalar!, location.href).href),
  ]);
  arrange(description);
  hideRefused(description);
  const fragments = fragmentsOf(description);
  /** Follows a short link: Scalar knows its own fragments alone. */
  const follow = () => {
    const fragment = fragments.get(decodePercent(location.hash.slice(1)));
    if (fragment) history.replaceState(history.state, "", `#${fragment}`);
    return fragment !== undefined;
  };
  follow();
  addEventListener("hashchange", () => follow() && dispatchEvent(new PopStateEvent("popstate")));
  createApiReference(mount, {
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
    onBeforeRequest: prepareRequest,
    // The service's own operations come last.
    tagsSorter: (a: Tag, b: Tag) => Number(isOwn(a)) - Number(isOwn(b)),
  });
}

async function fetchDescription(): Promise<Json> {
  const response = await fetch(new URL("spec.json", base));
  setClock(response.headers.get("date"));
  return await response.json();
}

/**
 * Prepares a request of Scalar's. A call of the node says that it comes from here: the service forwards nothing of
 * pages that do not, and no page of another origin may send this header. Everything else goes without the token:
 * Scalar would send it wherever a visitor has selected it once.
 */
function prepareRequest({ request, requestBuilder }: Prepared): void {
  if (isCall(request.url)) return requestBuilder.headers.set("X-Nodeface", "1");
  const { security } = requestBuilder;
  requestBuilder.security = security.filter(({ bearerFormat }) => bearerFormat !== TOKEN_FORMAT);
}

/** Arranges a description, which is changed, as the simple page has it. */
function arrange(description: Json): void {
  const items = Object.entries(objectOf(description.paths));
  const used = new Set<string>();
  description.servers &&= resolveServers(description.servers);
  for (const [path, value] of items) {
    const item = objectOf(value);
    nameMethod(path, item);
    for (const [, operation] of operationsOf(item)) {
      // Scalar looks for servers at an operation, not at its path, and takes none unless it is selected.
      const servers = resolveServers(operation.servers ?? item.servers);
      if (servers[0]) {
        Object.assign(operation, { servers, "x-scalar-selected-server": servers[0].url });
      }
      const words = wordsOf(operation);
      words.forEach((word) => used.add(word));
      const badges = words.map((name) => {
        const color = MARKS.find(([, , word]) => word === name)?.[4];
        return { name, ...color && { color } };
      });
      if (badges.length > 0) operation["x-badges"] ??= badges;
      quoteExamples(description, operation);
    }
  }
  const isCommon = ([, item]: [string, unknown]) =>
    operationsOf(item).some(([, operation]) => operation["x-common"] === true);
  const others = items.filter((entry) => !isCommon(entry));
  description.paths = Object.fromEntries([...items.filter(isCommon), ...others]);
  const legend = MARKS.filter(([, , word]) => used.has(word))
    .map(([, , word, meaning]) => `- **${word}** ${meaning}`);
  const info = objectOf(description.info);
  info.description = [textOf(info.description), legend.join("\n")].filter(Boolean).join("\n\n");
  const schemes = objectOf(objectOf(description.components).securitySchemes);
  for (const [name, scheme] of Object.entries(schemes)) {
    if (name.startsWith(TOKEN_SCHEME)) objectOf(scheme).bearerFormat = TOKEN_FORMAT;
  }
}

/** Leaves out the button for what the service would refuse. */
function hideRefused(description: Json): void {
  const ids = Object.entries(objectOf(description.paths)).flatMap(([path, item]) =>
    operationsOf(item).flatMap(([method, operation]) => {
      const [server] = listOf(operation.servers ?? description.servers).map(objectOf);
      const isRefused = isCall(`${textOf(server?.url)}${path}`) &&
        !["open", "token"].includes(String(operation[CALL_MARK]));
      return isRefused ? [`/${method.toUpperCase()}${path}`] : [];
    })
  );
  const sections = ids.map((id) => `[id$=${JSON.stringify(id)}]`).join();
  const style = document.createElement("style");
  style.textContent = `:is(${sections}) .show-api-client-button{display:none}`;
  if (sections) document.head.append(style);
}

/** Lists the operations of a path by their methods. What else is an object there stays unseen. */
function operationsOf(item: unknown): [method: string, operation: Json][] {
  const { additionalOperations, ...members } = objectOf(item);
  return Object.entries({ ...members, ...objectOf(additionalOperations) })
    .filter((entry): entry is [string, Json] => isObject(entry[1]));
}

/** Lists servers with their addresses resolved: a relative one begins with a dot, which is this service. */
function resolveServers(servers: unknown): Json[] {
  return listOf(servers).map(objectOf).map((server) => ({
    ...server,
    url: textOf(server.url)?.replace(/^\./, () => here),
  }));
}

/** A method is called by its name, and is shown once. */
function nameMethod(path: string, item: Json): void {
  const name = methodNameOf(path);
  if (!name) return;
  const isBoth = item[ONE_METHOD] === true;
  if (isBoth) delete item.post;
  for (const [, operation] of operationsOf(item)) {
    const also = isBoth && "Also as `POST`, with an object of the parameters.";
    const texts = [textOf(operation.summary), textOf(operation.description), also];
    operation.description = texts.filter(Boolean).join("\n\n");
    operation.summary = name;
  }
}

/** Scalar takes an example that is a text for the JSON that is sent, and complains where it is none. */
function quoteExamples(description: Json, { requestBody }: Json): void {
  const follow = (value: unknown): Json => {
    const { $ref } = objectOf(value);
    return objectOf(typeof $ref === "string" ? resolveFragment(description, $ref.slice(1)) : value);
  };
  for (const [type, value] of Object.entries(objectOf(follow(requestBody).content))) {
    if (!/json/i.test(type) || !isObject(value)) continue;
    const known = value.example ?? (value.examples ? undefined : follow(value.schema).example);
    if (isBareText(known)) value.example = JSON.stringify(known);
    for (const named of Object.values(objectOf(value.examples)).map(objectOf)) {
      if (isBareText(named.value)) named.value = JSON.stringify(named.value);
    }
  }
}

function isBareText(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}

/** Scalar's fragments of the operations by our short ones. */
function fragmentsOf(description: Json): Map<string, string> {
  const fragments = new Map<string, string>();
  for (const [path, item] of Object.entries(objectOf(description.paths))) {
    for (const [method, operation] of operationsOf(item)) {
      const [tag = UNTAGGED] = listOf(operation.tags).map(textOf);
      const anchor = anchorOf(path, operation);
      if (!anchor || fragments.has(anchor)) continue;
      fragments.set(anchor, `${tagFragment(tag ?? "")}/${method.toUpperCase()}${path}`);
    }
  }
  return fragments;
}

/** Follows no link in a text that came over the network: whoever serves it chose where it leads. */
function keepHere(event: Event): void {
  const isForeign = "foreign" in document.getElementById("node")!.dataset;
  if (isForeign && (event.target as Element).closest(".markdown a")) event.preventDefault();
}

/** Skips to Scalar's content without a fragment, which Scalar would take for one of its own. */
function skip(event: Event): void {
  event.preventDefault();
  const target = mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus();
}
