/**
 * Takes users and passwords out of the URLs of servers: everyone may read what is served.
 *
 * @module
 */
import { isEqual, isObject, type Json, objectOf } from "../json/values.ts";
import { hostOf, withoutLogin } from "./server-url.ts";
import { variablesOf } from "./server-variables.ts";

/** A server without the user and the password of its URL, and without the variables for them alone. */
export function withoutLoginOf(server: Json): Json {
  if (typeof server.url !== "string") return server;
  const url = withoutLogin(server.url);
  const [before, after] = [variablesOf(server.url), variablesOf(url)];
  const inHost = url.includes("//") ? variablesOf(hostOf(url)) : new Set<string>();
  const variables = Object.fromEntries(
    Object.entries(objectOf(server.variables))
      .filter(([name]) => after.has(name) || !before.has(name))
      .map(([name, variable]) => [name, withoutLoginIn(variable, inHost.has(name))]),
  );
  const changed = { ...server, url, ...(isObject(server.variables) && { variables }) };
  return isEqual(changed, server) ? server : changed;
}

/** A variable without a user and a password in what it may stand for: a URL, or else a host. */
function withoutLoginIn(variable: unknown, isHost: boolean): unknown {
  if (!isObject(variable)) return variable;
  const strip = (text: unknown): unknown => {
    if (Array.isArray(text)) return text.map(strip);
    if (typeof text !== "string") return text;
    return isHost ? withoutLogin(`//${text}`).slice(2) : withoutLogin(text);
  };
  const changed = { ...variable };
  for (const key of ["default", "enum"]) {
    if (Object.hasOwn(variable, key)) changed[key] = strip(variable[key]);
  }
  return changed;
}
