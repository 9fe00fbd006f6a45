/**
 * What is wrong, or dangerous, in what an operator allows.
 *
 * @module
 */
import { warnOfReaders } from "../file-access.ts";
import { isLoopback } from "../http/loopback.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { quote } from "../untrusted-text.ts";
import { mistakesInNames } from "./decide-operations.ts";
import { clashesWith, type Forward, settingsOf } from "./forward-settings.ts";
import { readToken } from "./token.ts";

/** Something to tell an operator. */
export interface Judgement {
  /** An error keeps calls from working as they were meant to; a note is worth knowing. */
  readonly level: "error" | "warn";
  /** A line. */
  readonly message: string;
}

/** What is known besides of the service. */
export interface ServiceFacts {
  /** The host names that are answered for. */
  readonly hosts: readonly string[] | "*";
  /** Where the node answers. */
  readonly url: string | undefined;
  /** Where the service listens, if that is known. */
  readonly listening?: { readonly host: string; readonly port: number } | undefined;
}

/** What is wrong with the names in the settings, by the operations that there are. */
export function judgeNames(operations: readonly NodeOperation[], forward: Forward): Judgement[] {
  const names = operations.flatMap(({ name, operationId }) => [name, operationId ?? name]);
  return mistakesInNames(operations, forward).map(({ list, name, problem, access }) => {
    const at = `forward.${list} names ${quote(name)}`;
    const message = problem === "unknown"
      ? `${at}, an operation that the description does not have${didYouMean(nearest(name, names))}`
      : `${at}, which is marked ${access}: it can stand under with_token alone`;
    return { level: "error", message };
  });
}

/** What is wrong with the settings whatever the operations are. */
export async function judgeSettings(
  forward: Forward,
  { hosts, url, listening }: ServiceFacts,
): Promise<Judgement[]> {
  const settings = settingsOf(forward);
  if (!settings) return [];
  const { open = [], with_token: withToken = [] } = settings;
  const found: Judgement[] = [];
  const add = (level: Judgement["level"], message: string) => found.push({ level, message });
  for (const { key, message } of clashesWith(forward, { hosts, hasNode: url !== undefined })) {
    add("error", `${key} ${message}`);
  }
  if (withToken.length > 0) {
    const token = await readToken(settings);
    if ("reason" in token) add("error", token.reason);
    const file = settings.token_file;
    const warning = file && await warnOfReaders("forward.token_file", file);
    if (warning) add("warn", warning);
  }
  if (url !== undefined && listening && isSelf(url, listening)) {
    add("error", `node.url ${url} is where this service listens itself`);
  }
  const isFar = listening && !isLoopback(listening.host);
  if (isFar && open.length > 0) {
    add("warn", `anybody who reaches ${listening.host} may call what forward.open names`);
  }
  if (isFar && withToken.length > 0) {
    add(
      "warn",
      "the token crosses the network in plain http, unless a proxy with TLS stands before",
    );
  }
  return found;
}

function isSelf(url: string, { host, port }: { host: string; port: number }): boolean {
  const { hostname, port: nodePort, protocol } = new URL(url);
  const at = nodePort === "" ? (protocol === "https:" ? 443 : 80) : Number(nodePort);
  if (at !== port) return false;
  const isAny = ["0.0.0.0", "::", "[::]"].includes(host);
  return hostname === host || hostname === `[${host}]` ||
    (isLoopback(hostname) && (isAny || isLoopback(host)));
}
