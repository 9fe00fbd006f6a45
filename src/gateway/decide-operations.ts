/**
 * Decides of each operation whether its calls are forwarded: once, when the description or the settings
 * change. All that calls, shows or lists operations looks it up.
 *
 * @module
 */
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { CALL_METHODS, type ForwardSettings, READS } from "./forward-settings.ts";
import { fits } from "./wildcards.ts";

/** Whether an operation is forwarded: to anybody, to those with the token, or to nobody; and why. */
export interface Decision {
  readonly right: "open" | "token" | "refused";
  /** A clause, such as "it is a read". */
  readonly reason: string;
}

/** An operation with its decision. */
export interface Decided {
  readonly operation: NodeOperation;
  readonly decision: Decision;
}

/**
 * Decides of operations.
 *
 * @param forward what the operator allows
 */
export function decide(
  operations: readonly NodeOperation[],
  forward: ForwardSettings | undefined,
): Decided[] {
  return operations.map((operation) => ({ operation, decision: decideOne(operation, forward) }));
}

function decideOne(operation: NodeOperation, settings: ForwardSettings | undefined): Decision {
  const refused = (reason: string): Decision => ({ right: "refused", reason });
  if (!settings) return refused("forward is off");
  if (!CALL_METHODS.includes(operation.method)) {
    return refused(`${operation.method} is never forwarded`);
  }
  if (operation.isStreaming) return refused("its answer does not end, or waits");
  if (operation.obstacle !== undefined) return refused(operation.obstacle);
  const { open = [], with_token: withToken = [] } = settings;
  const { access, isForeign } = operation;
  const isRead = access === "read";
  const isClosed = access === "write" || access === "secret";
  const byToken = matchesOf(withToken, operation);
  // What needs the token in one place and none in another needs it.
  if (
    byToken.some((match) => match !== "pattern" || !(isClosed || isForeign)) ||
    (isRead && withToken.includes(READS) && !open.includes(READS))
  ) {
    return { right: "token", reason: "with_token names it" };
  }
  if (byToken.length > 0) {
    return refused(
      isForeign
        ? "with_token covers it with a *, which opens nothing that the network describes"
        : `it is marked ${access}, which with_token has to name without a *`,
    );
  }
  const byOpen = matchesOf(open, operation);
  if (isClosed && byOpen.length > 0) {
    return refused(`it is marked ${access}, which with_token alone can allow`);
  }
  if (byOpen.some((match) => match === "name" || !isForeign)) {
    return { right: "open", reason: "open names it" };
  }
  if (isRead && open.includes(READS)) return { right: "open", reason: "it is a read" };
  if (isRead) return refused("reads are not open");
  if (access === "write") return refused("it may change something; with_token can allow it");
  if (access === "secret") return refused("it shows what is private; with_token can allow it");
  return refused("nobody says that it only reads; open or with_token can allow it by name");
}

/**
 * Which part of an operation a name of the settings means. Whoever serves a description gives operationIds and makes
 * paths that fit a pattern; a method's name, or a method of HTTP with a path, is what the node is asked for.
 */
export type NameMatch = "name" | "operationId" | "pattern";

/** How names of the settings mean an operation; empty where none does. */
function matchesOf(names: readonly string[], operation: NodeOperation): NameMatch[] {
  return names.flatMap((name) => name === READS ? [] : matchOf(name, operation) ?? []);
}

/** How a name of the settings means an operation; `undefined` where it means another one. */
export function matchOf(
  name: string,
  { name: own, operationId, method, path }: NodeOperation,
): NameMatch | undefined {
  const names = [own, `${method} ${path}`];
  if (names.includes(name)) return "name";
  if (name === operationId) return "operationId";
  const isFitting = name.includes("*") &&
    [...names, operationId ?? own].some((text) => fits(name, text));
  return isFitting ? "pattern" : undefined;
}
