/**
 * The servers that a description names: where they lead, and which origins they have.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import type { Complaint } from "./parse.ts";
import { isLoopback } from "../http/loopback.ts";
import { operationsOf } from "./list-operations.ts";
import {
  isObject,
  type Json,
  listOf,
  objectOf,
  type Path,
  setMember,
  textOf,
} from "../json/values.ts";
import { LIMITS } from "./limits.ts";

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

/**
 * A description of which every server leads to the node.
 *
 * @param document is left as it is
 */
export function withServers(document: Json, where: Whereabouts): Json {
  const { base, home = base, publicUrl } = where;
  const isNone = listOf(document.servers).filter(isObject).length === 0;
  const result = publicUrl
    ? { ...document, servers: [{ url: publicUrl }] }
    : home && isNone
    ? { ...document, servers: [{ url: trim(home) }] }
    : withNearServers(document, where);
  if (!isObject(document.paths)) return result;
  const paths = mapMembers(document.paths, (item) => isObject(item) ? inItem(item, where) : item);
  return paths === document.paths ? result : { ...result, paths };
}

function inItem(item: Json, where: Whereabouts): Json {
  const operations = new Set<unknown>(operationsOf(item).map(({ operation }) => operation));
  const change = (member: unknown) =>
    operations.has(member) ? withNearServers(member as Json, where) : member;
  const mapped = mapMembers(withNearServers(item, where), change);
  const { additionalOperations: others } = mapped;
  if (!isObject(others)) return mapped;
  const further = mapMembers(others, change);
  return further === others ? mapped : { ...mapped, additionalOperations: further };
}

/** An object of which all servers lead to the node; the same one where they do already. */
function withNearServers(holder: Json, { base, publicUrl, itself }: Whereabouts): Json {
  if (!Array.isArray(holder.servers)) return holder;
  const servers = holder.servers.filter(isObject);
  const near = publicUrl ?? base;
  const urls = servers.map(({ url }) => {
    if (typeof url !== "string") return url;
    const local = itself && loopbackOriginOf(url);
    if (local) return trim(trim(publicUrl ?? itself) + url.slice(local.length));
    return near && isRelative(url) ? absolute(url, near) : url;
  });
  if (urls.every((url, i) => url === servers[i]!.url)) return holder;
  const seen = new Set<unknown>();
  const distinct = urls.map((url) => !seen.has(url) && seen.add(url) !== undefined);
  const mapped = servers.map((server, i) => ({ ...server, url: urls[i] }));
  return { ...holder, servers: mapped.filter((_, i) => distinct[i]) };
}

/** An object whose members are changed; the same one where none is. */
function mapMembers(object: Json, change: (member: unknown) => unknown): Json {
  const changed: Json = {};
  let isSame = true;
  for (const [key, member] of Object.entries(object)) {
    const value = change(member);
    isSame &&= value === member;
    setMember(changed, key, value);
  }
  return isSame ? object : changed;
}

/** Whether some operation would be tried at this service, since it is not known where the node is. */
export function isAstray(document: Json, { base, publicUrl }: Whereabouts): boolean {
  if (base ?? publicUrl) return false;
  const whole = listOf(document.servers).filter(isObject);
  return whole.length === 0 || whole.some(({ url }) => isRelative(url));
}

/**
 * The origins of the servers of a description, as many as the page may ask; of what servers leave open, the
 * values that are listed.
 */
export function originsOf(document: Json): string[] {
  return [...allOriginsOf(document)].slice(0, LIMITS.origins);
}

/** Whether there are more origins than the page may ask. */
export function hasManyOrigins(document: Json): boolean {
  return allOriginsOf(document).size > LIMITS.origins;
}

function allOriginsOf(document: Json): Set<string> {
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
  return origins;
}

/**
 * What servers leave open of where they are: the page may not ask just anyone, so that only the values
 * that a variable lists can be tried.
 */
export function* openServers(document: Json): Generator<Complaint> {
  for (const { path, servers } of serversOf(document)) {
    for (const [i, server] of servers.entries()) {
      const open = variablesOf(hostOf(server));
      for (const [name, value] of Object.entries(objectOf(server.variables))) {
        const variable = objectOf(value);
        if (Array.isArray(variable.enum) || !open.has(name)) continue;
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

/**
 * The URLs of a server, one for each listed value of its variables; of more than can be tried, the one
 * with their defaults. A value that looks like a variable is not one.
 */
function expand({ url, variables }: Json): string[] {
  const template = typeof url === "string" ? url : "";
  const names = variablesOf(template);
  let choices: ReadonlyMap<string, string>[] = [new Map()];
  const defaults = new Map<string, string>();
  for (const [name, value] of Object.entries(objectOf(variables))) {
    if (!names.has(name)) continue;
    const { default: usual, enum: listed } = objectOf(value);
    const texts = [usual, ...listOf(listed)].map(textOf).filter((text) => text !== undefined);
    const values = new Set(texts);
    const [first] = values;
    if (first !== undefined) defaults.set(name, first);
    if (choices.length * values.size > LIMITS.combinations) choices = [];
    choices = choices.flatMap((choice) =>
      [...values].map((value) => new Map(choice).set(name, value))
    );
  }
  const all = choices.length > 0 ? choices : [defaults];
  return all.map((choice) => fill(template, choice)).filter((url) => url !== undefined);
}

/** The names of the variables in a URL. */
function variablesOf(template: string): Set<string> {
  return new Set(template.match(/\{[^{}]*\}/g)?.map((part) => part.slice(1, -1)));
}

/** A URL with the values of its variables; `undefined` where it is too long for one. */
function fill(template: string, values: ReadonlyMap<string, string>): string | undefined {
  let length = 0;
  const parts = template.split(/(\{[^{}]*\})/).map((part) => {
    const value = (part.startsWith("{") ? values.get(part.slice(1, -1)) : undefined) ?? part;
    length += value.length;
    return value;
  });
  return length > LIMITS.url ? undefined : parts.join("");
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
