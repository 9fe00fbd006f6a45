/**
 * The servers that a description names: where they lead, and which origins they have.
 *
 * @module
 */
import type { Edit } from "./edits.ts";
import { isObject, type Json, listOf, METHODS, objectOf, type Path } from "./values.ts";

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
  /** Where the node is reached from outside; takes the place of the document's servers. */
  readonly publicUrl?: string | undefined;
}

/** The changes that make every server of a description lead to the node. */
export function serverEdits(document: Json, { base, publicUrl }: Whereabouts): Edit[] {
  const edits: Edit[] = [];
  const whole = listOf(document.servers).filter(isObject);
  const near = publicUrl ?? base;
  if (publicUrl) edits.push({ kind: "value", path: ["servers"], value: [{ url: publicUrl }] });
  else if (base && whole.length === 0) {
    edits.push({ kind: "value", path: ["servers"], value: [{ url: trim(base) }] });
  }
  for (const { path, servers } of serversOf(document)) {
    if (!near || !servers.some(isRelative) || (publicUrl && path.length === 1)) continue;
    const value = servers.map((server) =>
      isRelative(server) ? { ...server, url: absolute(String(server.url), near) } : server
    );
    edits.push({ kind: "value", path, value });
  }
  return edits;
}

/** Whether some operation would be tried at this service, since it is not known where the node is. */
export function isAstray(document: Json, { base, publicUrl }: Whereabouts): boolean {
  if (base ?? publicUrl) return false;
  const whole = listOf(document.servers).filter(isObject);
  return whole.length === 0 || whole.some(isRelative);
}

/** The origins of all servers of a description; of what they leave open, the values that are listed. */
export function originsOf(document: Json): string[] {
  const origins = new Set<string>();
  for (const { servers } of serversOf(document)) {
    for (const server of servers) {
      for (const url of expand(server)) {
        if (!URL.canParse(url)) continue;
        const { origin } = new URL(url);
        if (ORIGIN.test(origin)) origins.add(origin);
      }
    }
  }
  return [...origins];
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
    for (const method of METHODS) yield* read(["paths", name, method], objectOf(item[method]));
  }
}

/** The URLs of a server, one for each listed value of its variables. */
function expand({ url, variables }: Json): string[] {
  let urls = [typeof url === "string" ? url : ""];
  for (const [name, value] of Object.entries(objectOf(variables))) {
    const variable = objectOf(value);
    const values = new Set([variable.default, ...listOf(variable.enum)].map(String));
    urls = urls.flatMap((url) =>
      url.includes(`{${name}}`)
        ? [...values].map((value) => url.replaceAll(`{${name}}`, () => value))
        : [url]
    ).slice(0, COMBINATIONS_MAX);
  }
  return urls;
}

/** A URL with a scheme, or with a variable that may stand for one. */
const isRelative = ({ url }: Json): boolean =>
  typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url);

function absolute(url: string, base: string): string {
  const { href } = new URL(url, base.endsWith("/") ? base : `${base}/`);
  return trim(href.replaceAll("%7B", "{").replaceAll("%7D", "}"));
}

/** Paths begin with a slash of their own. */
const trim = (url: string): string => url.replace(/\/+$/, "");
