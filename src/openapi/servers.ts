/**
 * The servers that a description names: where they lead, and which origins they have.
 *
 * @module
 */
import type { Edit } from "./document-edits.ts";
import { formatJson } from "../json/lossless.ts";
import type { Complaint } from "./parse.ts";
import { isLoopback } from "../http/loopback.ts";
import { operationsOf } from "./list-operations.ts";
import { isObject, type Json, listOf, objectOf, type Path } from "../json/values.ts";

/** How many values of variables are tried for one server. */
const COMBINATIONS_MAX = 64;

/**
 * An origin that means itself in a content policy: hosts may have characters, such as `*` and `;`, that
 * mean something else there.
 */
const ORIGIN = /^https?:\/\/(?:[a-z\d._-]+|\[[a-f\d:.]+\])(?::\d+)?$/;

/** A list of servers and where it stands: below the document, a path or an operation. */
interface Servers {
  readonly path: Path;
  readonly servers: readonly Json[];
}

/** What the operator knows of where the node is. */
export interface Whereabouts {
  /** What the URLs of servers are relative to. */
  readonly base?: string | undefined;
  /** The server of a document that names none. @default base */
  readonly home?: string | undefined;
  /** Where the node is reached from outside; takes the place of the document's servers. */
  readonly publicUrl?: string | undefined;
  /** Where the node answers that gave the document itself: it may know itself as `localhost` only. */
  readonly itself?: string | undefined;
}

/** The changes that make every server of a description lead to the node. */
export function serverEdits(
  document: Json,
  { base, home = base, publicUrl, itself }: Whereabouts,
): Edit[] {
  const edits: Edit[] = [];
  const whole = listOf(document.servers).filter(isObject);
  const near = publicUrl ?? base;
  if (publicUrl) edits.push({ kind: "value", path: ["servers"], value: [{ url: publicUrl }] });
  else if (home && whole.length === 0) {
    edits.push({ kind: "value", path: ["servers"], value: [{ url: trim(home) }] });
  }
  for (const { path, servers } of serversOf(document)) {
    if (publicUrl && path.length === 1) continue;
    const urls = servers.map(({ url }) => {
      if (typeof url !== "string") return url;
      const local = itself && loopbackOriginOf(url);
      if (local) return trim(trim(publicUrl ?? itself) + url.slice(local.length));
      return near && isRelative(url) ? absolute(url, near) : url;
    });
    if (urls.every((url, i) => url === servers[i]!.url)) continue;
    const value = servers.map((server, i) => ({ ...server, url: urls[i] }))
      .filter(({ url }, i) => urls.indexOf(url) === i);
    edits.push({ kind: "value", path, value });
  }
  return edits;
}

/** Whether some operation would be tried at this service, since it is not known where the node is. */
export function isAstray(document: Json, { base, publicUrl }: Whereabouts): boolean {
  if (base ?? publicUrl) return false;
  const whole = listOf(document.servers).filter(isObject);
  return whole.length === 0 || whole.some(({ url }) => isRelative(url));
}

/** The origins of all servers of a description; of what they leave open, the values that are listed. */
export function originsOf(document: Json): string[] {
  const origins = new Set<string>();
  for (const { servers } of serversOf(document)) {
    for (const server of servers) {
      for (const url of expand({ ...server, url: hostOf(server) })) {
        if (!URL.canParse(url)) continue;
        const { origin } = new URL(url);
        if (ORIGIN.test(origin)) origins.add(origin);
      }
    }
  }
  return [...origins];
}

/**
 * What servers leave open of where they are: the page may not ask just anyone, so that only the values
 * that a variable lists can be tried.
 */
export function* openServers(document: Json): Generator<Complaint> {
  for (const { path, servers } of serversOf(document)) {
    for (const [i, server] of servers.entries()) {
      for (const [name, value] of Object.entries(objectOf(server.variables))) {
        const variable = objectOf(value);
        if (Array.isArray(variable.enum) || !hostOf(server).includes(`{${name}}`)) continue;
        const message = `operations can be tried where {${name}} is ${
          formatJson(variable.default)
        } and nowhere else; "enum" lists other values`;
        yield { path: [...path, String(i), "variables", name], message };
      }
    }
  }
}

/** The path before every path of a description, for each of its servers. */
export function basePathsOf(document: Json): string[] {
  const urls = listOf(document.servers).filter(isObject).flatMap(expand);
  const paths = urls.filter((url) => URL.canParse(url, "http://localhost"))
    .map((url) => trim(new URL(url, "http://localhost").pathname));
  return [...new Set(["", ...paths])];
}

function* serversOf(document: Json): Generator<Servers> {
  const read = (path: Path, holder: Json): Servers[] =>
    Array.isArray(holder.servers)
      ? [{ path: [...path, "servers"], servers: holder.servers.filter(isObject) }]
      : [];
  yield* read([], document);
  for (const [name, value] of Object.entries(objectOf(document.paths))) {
    const item = objectOf(value);
    yield* read(["paths", name], item);
    for (const { path, operation } of operationsOf(item)) {
      yield* read(["paths", name, ...path], operation);
    }
  }
}

/** What stands before the path of a server. */
function hostOf({ url }: Json): string {
  const text = typeof url === "string" ? url : "";
  return /^[^/]*\/\/[^/?#]*/.exec(text)?.[0] ?? text;
}

/** The URLs of a server, one for each listed value of its variables. */
function expand({ url, variables }: Json): string[] {
  let urls = [typeof url === "string" ? url : ""];
  for (const [name, value] of Object.entries(objectOf(variables))) {
    const variable = objectOf(value);
    const { default: usual, enum: listed } = variable;
    const values = new Set([...usual === undefined ? [] : [usual], ...listOf(listed)].map(String));
    urls = urls.flatMap((url) =>
      url.includes(`{${name}}`)
        ? [...values].map((value) => url.replaceAll(`{${name}}`, () => value))
        : [url]
    ).slice(0, COMBINATIONS_MAX);
  }
  return urls;
}

/** The origin that a URL begins with, where that is this machine. */
function loopbackOriginOf(url: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
  if (!origin || !URL.canParse(origin)) return undefined;
  return isLoopback(new URL(origin).hostname) ? origin : undefined;
}

/** Neither a URL with a scheme, nor with a variable that may stand for one. */
const isRelative = (url: unknown): boolean =>
  typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url);

function absolute(url: string, base: string): string {
  const folder = base.endsWith("/") ? base : `${base}/`;
  // A variable may stand where no URL has one, as in a port.
  if (!URL.canParse(url, folder)) return url;
  const { href } = new URL(url, folder);
  return trim(href.replaceAll("%7B", "{").replaceAll("%7D", "}"));
}

/** Paths begin with a slash of their own. */
const trim = (url: string): string => url.replace(/\/+$/, "");
