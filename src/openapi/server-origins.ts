/**
 * The origins of the servers that a description names, which the page may ask.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { type Json, objectOf, textOf } from "../json/values.ts";
import { LIMITS } from "./limits.ts";
import { serversOf } from "./list-servers.ts";
import type { Complaint } from "./parse.ts";
import { hostOf } from "./server-url.ts";
import { expand, variablesOf } from "./server-variables.ts";

/**
 * An origin that means itself in a content policy: hosts may have characters, such as `*` and `;`, that
 * mean something else there.
 */
const ORIGIN = /^https?:\/\/(?:[a-z\d._-]+|\[[a-f\d:.]+\])(?::\d+)?$/;

/**
 * The origins of the servers of a description, as many as the page may ask; of what servers leave open, the
 * values that are listed.
 */
export function originsOf(document: Json): string[] {
  return [...firstOriginsOf(document)].slice(0, LIMITS.origins);
}

/** Whether there are more origins than the page may ask. */
export function hasManyOrigins(document: Json): boolean {
  return firstOriginsOf(document).size > LIMITS.origins;
}

/** The origins, up to one more than the page may ask. */
function firstOriginsOf(document: Json): Set<string> {
  const origins = new Set<string>();
  for (const { servers } of serversOf(document)) {
    for (const server of servers) {
      for (const url of expand({ ...server, url: hostOf(textOf(server.url) ?? "") })) {
        if (!URL.canParse(url)) continue;
        const { origin } = new URL(url);
        if (ORIGIN.test(origin)) origins.add(origin);
        if (origins.size > LIMITS.origins) return origins;
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
      const open = variablesOf(hostOf(textOf(server.url) ?? ""));
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
