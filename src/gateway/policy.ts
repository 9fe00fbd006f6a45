/**
 * The policy for forwarded calls: the setting `forward`, and the resulting permission of each
 * operation.
 *
 * @module
 */
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { ForwardSettings } from "../setting-types.ts";
import { describeValue } from "../untrusted-text.ts";
import { bytesOf, milliseconds } from "../units.ts";
import { isAddedByProxies } from "./request-headers.ts";

export const FORWARDS = ["off", "reads"] as const;

export const MEANT_FORWARD: Readonly<Record<string, (typeof FORWARDS)[number]>> = {
  true: "reads",
  on: "reads",
  yes: "reads",
  read: "reads",
  false: "off",
  no: "off",
  none: "off",
};

export type { ForwardSettings } from "../setting-types.ts";

/**
 * The setting `forward`: `off` forwards nothing, `reads` all read-only operations. See {@linkcode
 * ForwardSettings}.
 */
export type Forward = typeof FORWARDS[number] | ForwardSettings;

export interface Allowed {
  readonly reads: boolean;
  readonly names: readonly string[];
}

export interface ResolvedForward
  extends Pick<ForwardSettings, "token_file" | "token_env" | "at_root"> {
  readonly open: Allowed;
  readonly with_token: Allowed;
  readonly origins: readonly string[] | "*";
  /** The time limit for a whole response, in milliseconds. */
  readonly timeout: number;
  /** The size limit for a response, and for the body of a call of a path, in bytes. */
  readonly limit: number;
  /** @default the number of the node's kind */
  readonly concurrency: number | undefined;
}

export function resolveForward(forward: ForwardSettings | "reads"): ResolvedForward;
export function resolveForward(forward: Forward | undefined): ResolvedForward | undefined;
export function resolveForward(forward: Forward | undefined): ResolvedForward | undefined {
  if (forward === undefined || forward === "off") return undefined;
  const settings: ForwardSettings = forward === "reads" ? { open: ["reads"] } : forward;
  const { open, with_token, origins = [], token_file, token_env } = settings;
  const { timeout, limit, concurrency, at_root } = settings;
  return {
    open: allowedBy(open),
    with_token: allowedBy(with_token),
    origins,
    token_file,
    token_env,
    at_root,
    timeout: milliseconds(timeout ?? FORWARD_DEFAULTS.timeout),
    limit: bytesOf(limit ?? FORWARD_DEFAULTS.limit),
    concurrency,
  };
}

const allowedBy = (list: readonly string[] = []): Allowed => ({
  reads: list.includes("reads"),
  names: list.filter((name) => name !== "reads"),
});

export const FORWARD_DEFAULTS = { timeout: "30s", limit: "32MiB" } as const;

export const CALL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export type Permission = "open" | "token" | "refused";

export interface PolicyEntry {
  readonly operation: NodeOperation;
  readonly permission: Permission;
  readonly reason: string;
}

export function decide(
  operations: readonly NodeOperation[],
  forward: Pick<ResolvedForward, "open" | "with_token">,
): PolicyEntry[] {
  return operations.map((operation) => ({ operation, ...decideOne(operation, forward) }));
}

function decideOne(
  operation: NodeOperation,
  { open, with_token: withToken }: Parameters<typeof decide>[1],
): Omit<PolicyEntry, "operation"> {
  const refused = (reason: string) => ({ permission: "refused" as const, reason });
  if (!CALL_METHODS.includes(operation.method)) {
    return refused(`${operation.method} is never forwarded`);
  }
  if (operation.isStreaming) return refused("the response is a stream");
  if (operation.obstacle !== undefined) return refused(operation.obstacle);
  const needed = operation.parameters?.find(({ name, in: place, isRequired }) =>
    place === "header" && isRequired && isAddedByProxies(name)
  );
  if (needed) {
    return refused(
      `the header ${describeValue(needed.name)} is required, but never forwarded`,
    );
  }
  const { access, isForeign } = operation;
  const isRead = access === "read";
  const isClosed = access === "write" || access === "secret";
  const byToken = matchesOf(withToken.names, operation);
  // An operation in both `open` and `with_token` needs the token.
  if (
    byToken.some((match) => match !== "pattern" || !(isClosed || isForeign)) ||
    (isRead && withToken.reads && !open.reads)
  ) {
    return { permission: "token", reason: "with_token names it" };
  }
  if (byToken.length > 0) {
    return refused(
      isForeign
        ? "the description was read over the network; list the operation in " +
          "forward.with_token without using *"
        : `it is marked ${access}; list it in forward.with_token without using *`,
    );
  }
  const byOpen = matchesOf(open.names, operation);
  if (isClosed && byOpen.length > 0) {
    return refused(`it is marked ${access}; only with_token can allow it`);
  }
  if (byOpen.some((match) => match === "name" || !isForeign)) {
    return { permission: "open", reason: "open names it" };
  }
  // The node's own description cannot mark an operation as `read`, since `withMarks` removes all
  // marks that are not from the kind.
  if (isRead && open.reads) return { permission: "open", reason: "it is read-only" };
  if (isRead) return refused('it is read-only, but forward.open does not list "reads"');
  if (access === "write") return refused("it is marked write; with_token can allow it");
  if (access === "secret") return refused("it reveals sensitive data; with_token can allow it");
  return refused("it has no access mark; list it in forward.open or forward.with_token");
}

/** In an untrusted description, only a match by `name` is safe. */
export type NameMatch = "name" | "operationId" | "pattern";

function matchesOf(names: readonly string[], operation: NodeOperation): NameMatch[] {
  return names.flatMap((name) => matchOf(name, operation) ?? []);
}

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

export function policyRows(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): [operation: string, mark: string, call: string, why: string][] {
  const words = { open: "allowed", token: "needs the token", refused: "refused" } as const;
  return decide(operations, forward).map(({ operation, permission, reason }) => [
    operation.name,
    operation.access ?? "-",
    words[permission],
    reason,
  ]);
}

/** Takes linear time, unlike a regular expression with several `.*`. */
export function fits(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
