/**
 * The origins of a description's servers, to which the page may send calls.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { type JsonObject, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { atOnce } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import { type Diagnostics, LIMITS } from "./diagnostics.ts";
import { expandUrl, isRelative, schemeAndHostOf, variablesOf } from "./server-url.ts";
import { mapServers, type ServerContext } from "./servers.ts";

/** Returns each server once, even if YAML aliases repeat it. */
const serversOf = onceFor((document: JsonObject): JsonObject[] => {
  const all: (readonly JsonObject[])[] = [];
  atOnce(mapServers(document, (servers) => {
    all.push(servers);
    return servers;
  }));
  return [...new Set(all.flat())];
});

/** Matches origins that are safe in a `Content-Security-Policy`, where `*` and `;` are special. */
const ORIGIN = /^https?:\/\/(?:[a-z\d._-]+|\[[a-f\d:.]+\])(?::\d+)?$/;

/** Parsing more URLs would take seconds. */
const ORIGINS_TRIED_MAX = 10_000;

export function originsOf(document: JsonObject, most: number = LIMITS.origins): string[] {
  const origins = new Set<string>();
  let left = ORIGINS_TRIED_MAX;
  for (const server of serversOf(document)) {
    for (const url of expandUrl({ ...server, url: schemeAndHostOf(textOf(server.url) ?? "") })) {
      if (left-- === 0) return [...origins];
      if (!URL.canParse(url)) continue;
      const { origin } = new URL(url);
      if (ORIGIN.test(origin)) origins.add(origin);
      if (origins.size === most) return [...origins];
    }
  }
  return [...origins];
}

export function checkServers(
  document: JsonObject,
  { node }: ServerContext,
  diagnostics: Diagnostics,
): void {
  const servers = serversOf(document);
  if (node === undefined && servers.some(({ url }) => isRelative(url))) {
    const message = "the node's URL is unknown, so the page sends the calls to this service";
    diagnostics.add("note", message, () => 0);
  }
  for (const [i, server] of listOf(document.servers).map(objectOf).entries()) {
    const open = variablesOf(schemeAndHostOf(textOf(server.url) ?? ""));
    for (const [name, member] of Object.entries(objectOf(server.variables))) {
      const { default: usual, enum: listed } = objectOf(member);
      // If a variable has no `enum`, the page uses only its default. The page's
      // `Content-Security-Policy` must list every origin.
      if (Array.isArray(listed) || !open.has(name)) continue;
      const [variable, value] = [name, formatJson(usual)].map((text) => shorten(text, 200));
      const message = `the page calls operations only with {${variable}} = ${value}; ` +
        'list other values in "enum"';
      diagnostics.add("note", message, () => ["servers", String(i), "variables", name]);
    }
  }
  if (originsOf(document, LIMITS.origins + 1).length > LIMITS.origins) {
    const message = `the page can send requests only to the first ${LIMITS.origins} origins`;
    diagnostics.add("note", message, () => 0);
  }
}
