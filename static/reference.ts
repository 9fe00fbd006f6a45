/** The reference: Scalar under the head, with the description arranged as on the simple page. */
import {
  anchorOf,
  MARKS,
  methodNameOf,
  tagFragment,
  UNTAGGED,
  wordsOf,
} from "../src/explorer/labels.ts";
import { CALL_MARK, TOKEN_SCHEME } from "../src/gateway/annotate-operations.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "../src/json/values.ts";
import { ONE_METHOD } from "../src/kinds/interface.ts";
import { TAG as SERVICE_TAG } from "../src/openapi/merge.ts";
import { followReference } from "../src/openapi/operations.ts";
import { decodePercent } from "../src/untrusted-text.ts";
import { followInfo, setClock } from "./head.ts";
import { base, here, isCall, leadToOther, showAddress } from "./service.ts";

interface Scalar {
  createApiReference(element: Element, configuration: object): unknown;
}

interface Prepared {
  request: Request;
  requestBuilder: { headers: Headers; security: { bearerFormat?: string }[] };
}

type Tag = { name: string };

/** Marks the security scheme of this service's token, and the requests that use it. */
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
  hideButtons(arrange(description));
  /** Follows our short fragments, which Scalar does not know. */
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
    // Keeps the token in memory only.
    persistAuth: false,
    onBeforeRequest: prepareRequest,
    // This service's operations come last.
    tagsSorter: (a: Tag, b: Tag) => Number(a.name === SERVICE_TAG) - Number(b.name === SERVICE_TAG),
  });
}

async function fetchDescription(): Promise<Json> {
  const response = await fetch(new URL("spec.json", base));
  setClock(response.headers.get("date"));
  return await response.json();
}

/**
 * Adds to calls of the node the header without which the service forwards nothing of a page, and which no other origin
 * may send. Removes the token from all other requests, since Scalar sends it wherever it has been selected once.
 */
function prepareRequest({ request, requestBuilder }: Prepared): void {
  if (isCall(request.url)) return requestBuilder.headers.set("X-Nodeface", "1");
  const { security } = requestBuilder;
  requestBuilder.security = security.filter(({ bearerFormat }) => bearerFormat !== TOKEN_FORMAT);
}

/** Changes a description to what the simple page shows; returns the operations that cannot be called. */
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
      // Scalar ignores servers of a path, and those that are not selected.
      const servers = resolveServers(operation.servers ?? item.servers);
      const [server = objectOf(listOf(description.servers)[0])] = servers;
      if (servers[0]) Object.assign(operation, { servers, "x-scalar-selected-server": server.url });
      const isPermitted = operation[CALL_MARK] === "open" || operation[CALL_MARK] === "token";
      if (isCall(`${server.url}${path}`) && !isPermitted) refused.push(`/${method}${path}`);
      const badges = wordsOf(operation).map((name) => {
        used.add(name);
        const color = MARKS.find(([, , word]) => word === name)?.[4];
        return { name, ...color && { color } };
      });
      if (badges.length > 0) operation["x-badges"] ??= badges;
      quoteExamples(description, operation);
    }
    const isCommon = operations.some(({ operation }) => operation["x-common"] === true);
    (isCommon ? common : others)[path] = item;
  }
  description.paths = { ...common, ...others };
  const legend = MARKS.filter(([, , word]) => used.has(word))
    .map(([, , word, meaning]) => `- **${word}** ${meaning}`);
  const info = objectOf(description.info);
  info.description = [textOf(info.description), legend.join("\n")].filter(Boolean).join("\n\n");
  const schemes = objectOf(objectOf(description.components).securitySchemes);
  for (const [name, scheme] of Object.entries(schemes)) {
    if (name.startsWith(TOKEN_SCHEME)) objectOf(scheme).bearerFormat = TOKEN_FORMAT;
  }
  return refused;
}

/** Lists the operations of a path, as `openapi/operations.ts` does, which imports all tables of OpenAPI. */
function operationsOf(item: unknown): { method: string; operation: Json }[] {
  const { additionalOperations, ...members } = objectOf(item);
  return Object.entries({ ...members, ...objectOf(additionalOperations) }).flatMap(
    ([method, operation]) =>
      isObject(operation) ? [{ method: method.toUpperCase(), operation }] : [],
  );
}

function hideButtons(operations: readonly string[]): void {
  if (operations.length === 0) return;
  const sections = operations.map((id) => `[id$=${JSON.stringify(id)}]`).join();
  const style = document.createElement("style");
  style.textContent = `:is(${sections}) .show-api-client-button{display:none}`;
  document.head.append(style);
}

/** Resolves the URLs of servers, of which relative ones begin with a dot. */
function resolveServers(servers: unknown): Json[] {
  return listOf(servers).map(objectOf).map((server) => ({
    ...server,
    url: textOf(server.url)?.replace(/^\./, () => here),
  }));
}

/** Titles a JSON-RPC method by its name, and shows it once. */
function nameMethod(path: string, item: Json): void {
  const name = methodNameOf(path);
  if (!name) return;
  const isBoth = item[ONE_METHOD] === true;
  if (isBoth) delete item.post;
  for (const { operation } of operationsOf(item)) {
    const also = isBoth && "Also as `POST`, with the parameters as a JSON object.";
    const texts = [textOf(operation.summary), textOf(operation.description), also];
    operation.description = texts.filter(Boolean).join("\n\n");
    operation.summary = name;
  }
}

/** Writes examples that are texts as JSON, for which Scalar takes them. */
function quoteExamples(description: Json, { requestBody }: Json): void {
  const { content } = followReference(description, requestBody);
  for (const [type, media] of Object.entries(objectOf(content))) {
    if (!/json/i.test(type) || !isObject(media)) continue;
    const { example, examples, schema } = media;
    const known = example ?? (examples ? undefined : followReference(description, schema).example);
    if (isBareText(known)) media.example = JSON.stringify(known);
    for (const named of Object.values(objectOf(examples)).map(objectOf)) {
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

/** Finds Scalar's fragment by our short one. */
function fragmentOf(description: Json, anchor: string): string | undefined {
  for (const [path, item] of Object.entries(objectOf(description.paths))) {
    const found = operationsOf(item).find(({ operation }) => anchorOf(path, operation) === anchor);
    if (!found || anchor === "") continue;
    const [tag = UNTAGGED] = listOf(found.operation.tags).map(textOf);
    return `${tagFragment(tag ?? "")}/${found.method}${path}`;
  }
  return undefined;
}

/** Disables links in a description from the network, which may lead anywhere. */
function keepHere(event: Event): void {
  const isForeign = "foreign" in document.getElementById("node")!.dataset;
  if (isForeign && (event.target as Element).closest(".markdown a")) event.preventDefault();
}

/** Focuses the content without a fragment, which Scalar would interpret. */
function skip(event: Event): void {
  event.preventDefault();
  const target = mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus();
}
