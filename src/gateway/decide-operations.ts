/**
 * Decides of each operation whether its calls are forwarded: once, when the description or the settings
 * change. All that calls, shows or lists operations looks it up.
 *
 * @module
 */
import type { NodeOperation } from "../openapi/callable-operations.ts";
import {
  CALL_METHODS,
  type Forward,
  type ForwardSettings,
  READS,
  settingsOf,
} from "./forward-settings.ts";

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
export function decide(operations: readonly NodeOperation[], forward: Forward): Decided[] {
  const settings = settingsOf(forward);
  return operations.map((operation) => ({ operation, decision: decideOne(operation, settings) }));
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
  const isNamed = (names: readonly string[]) =>
    names.some((name) => name !== READS && isMatch(name, operation));
  // What needs the token in one place and none in another needs it.
  const isRead = operation.access === "read";
  if (isNamed(withToken) || (isRead && withToken.includes(READS) && !open.includes(READS))) {
    return { right: "token", reason: "with_token names it" };
  }
  const { access } = operation;
  if (isNamed(open)) {
    if (access === "write" || access === "secret") {
      return refused(`it is marked ${access}, which with_token alone can allow`);
    }
    return { right: "open", reason: "open names it" };
  }
  if (isRead && open.includes(READS)) return { right: "open", reason: "it is a read" };
  if (isRead) return refused("reads are not open");
  if (access === "write") return refused("it may change something; with_token can allow it");
  if (access === "secret") return refused("it shows what is private; with_token can allow it");
  return refused("nobody says that it only reads; open or with_token can allow it by name");
}

/** Whether a name of the settings means an operation. */
export function isMatch(
  name: string,
  { name: own, operationId, method, path }: NodeOperation,
): boolean {
  const pattern = new RegExp(
    `^${name.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&")).join(".*")}$`,
  );
  return [own, operationId, `${method} ${path}`].some((name) =>
    name !== undefined && pattern.test(name)
  );
}

/** A name of the settings that is wrong, and why. */
export interface NameMistake {
  readonly list: "open" | "with_token";
  readonly name: string;
  readonly problem: "unknown" | "closed";
  /** How the operation is marked that cannot be open. */
  readonly access?: NodeOperation["access"];
}

/** The names in the settings that no operation has, and those of writes and secrets that are to be open. */
export function mistakesInNames(
  operations: readonly NodeOperation[],
  forward: Forward,
): NameMistake[] {
  const { open = [], with_token: withToken = [] } = settingsOf(forward) ?? {};
  const mistakes: NameMistake[] = [];
  for (const [list, names] of [["open", open], ["with_token", withToken]] as const) {
    for (const name of names) {
      if (name === READS) continue;
      const meant = operations.filter((operation) => isMatch(name, operation));
      if (meant.length === 0) mistakes.push({ list, name, problem: "unknown" });
      if (list === "with_token" || name.includes("*")) continue;
      const closed = meant.find(({ access }) => access === "write" || access === "secret");
      if (closed) mistakes.push({ list, name, problem: "closed", access: closed.access });
    }
  }
  return mistakes;
}
