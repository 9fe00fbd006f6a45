/**
 * The policy for forwarded calls: the setting `forward`, and the resulting permission of each
 * operation.
 *
 * @module
 */
import type { NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
import type { ClientSettings, ForwardSettings } from "../setting-types.ts";
import { describeValue, quote, shorten } from "../untrusted-text.ts";
import { isEqual } from "../json/values.ts";
import { bytesOf, milliseconds } from "../units.ts";
import { isAddedByProxies, STANDARD } from "./request-headers.ts";
import { nameAtWallet, walletCallIn } from "./wallets.ts";

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

/**
 * The setting `forward`: `off` forwards nothing, `reads` all read-only operations. See {@linkcode
 * ForwardSettings}.
 */
export type Forward = typeof FORWARDS[number] | ForwardSettings;

export interface Allowed {
  readonly reads: boolean;
  readonly names: readonly string[];
}

export interface ResolvedClient extends Omit<ClientSettings, "allow"> {
  readonly allow: Allowed;
}

export interface ResolvedForward extends Pick<ForwardSettings, "at_root" | "per_minute"> {
  readonly open: Allowed;
  readonly clients: readonly ResolvedClient[];
  /** The places of the names in the configuration file, by {@linkcode placeKey}. */
  readonly places?: Readonly<Record<string, string>> | undefined;
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
  const { open, clients = [], origins = [], timeout, limit, concurrency } = settings;
  return {
    open: allowedBy(open),
    clients: clients.map((client) => ({ ...client, allow: allowedBy(client.allow) })),
    origins,
    at_root: settings.at_root,
    per_minute: settings.per_minute,
    timeout: milliseconds(timeout ?? FORWARD_DEFAULTS.timeout),
    limit: bytesOf(limit ?? FORWARD_DEFAULTS.limit),
    concurrency,
  };
}

/** @param list the setting that has the name, such as `forward.open` */
export const placeKey = (list: string, name: string): string => `${list} ${name}`;

const allowedBy = (list: readonly string[] = []): Allowed => ({
  reads: list.includes("reads"),
  names: list.filter((name) => name !== "reads"),
});

export const FORWARD_DEFAULTS = { timeout: "30s", limit: "32MiB", concurrency: 64 } as const;

export const CALL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export type Permission = "open" | "token" | "refused";

export interface PolicyEntry {
  readonly operation: NodeOperation;
  readonly permission: Permission;
  /** The names of the clients that may call the operation; of an open one, everybody may. */
  readonly clients: readonly string[];
  readonly reason: string;
  /** The reason that others are told, which does not name clients. */
  readonly publicReason: string;
  /** True if the operation cannot be called now, but a setting would enable it. */
  readonly isOpenable: boolean;
}

/** The settings that decide what may be called. */
type Rights = Pick<ResolvedForward, "open" | "clients">;

export function decide(operations: readonly NodeOperation[], forward: Rights): PolicyEntry[] {
  const entries = operations.map((operation) => decideOne(operation, forward));
  const byName = new Map(entries.map((entry) => [entry.operation.name, entry]));
  return entries.map((entry) => {
    const twin = byName.get(entry.operation.twin ?? "");
    return twin ? decideTwin(entry, twin, forward) : entry;
  });
}

/**
 * Two operations of one path, such as `/auth/{github}/login` and `/auth/{ldap}/login`, can be
 * called if the policy says the same of both.
 */
function decideTwin(entry: PolicyEntry, twin: PolicyEntry, forward: Rights): PolicyEntry {
  const { operation } = entry;
  if (operation.isChecked || twin.operation.isChecked) return entry;
  const own = decideOne({ ...operation, obstacle: undefined }, forward);
  const isSame = own.permission === twin.permission && isEqual(own.clients, twin.clients);
  return isSame ? { ...own, operation } : entry;
}

function decideOne(operation: NodeOperation, { open, clients }: Rights): PolicyEntry {
  const obstacle = obstacleOf(operation);
  const { isOpen, reason } = obstacle === undefined
    ? decideOpen(operation, open)
    : { isOpen: false, reason: obstacle };
  const entry = { operation, clients: [], reason, publicReason: reason, isOpenable: false };
  if (isOpen) return { ...entry, permission: "open" };
  const named = clients.filter(({ allow }) => allows(allow, operation)).map(({ name }) => name);
  if (obstacle !== undefined || named.length === 0) {
    return { ...entry, permission: "refused", isOpenable: obstacle === undefined };
  }
  return { ...entry, permission: "token", clients: named, reason: `allowed for ${list(named)}` };
}

const NAMES_MAX = 5;

function list(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/**
 * Decides who may call a method at the path of a wallet: the clients whose list has both. Such a
 * client may also call there what it may read elsewhere, since libraries send all calls to one
 * address.
 */
export function decideAtWallet(
  entry: PolicyEntry,
  path: string,
  clients: readonly ResolvedClient[],
): PolicyEntry {
  const { operation, permission } = entry;
  if (isNeverOpen(entry)) return entry;
  const wanted = nameAtWallet(path, operation.name);
  const mayRead = (name: string) =>
    operation.access === "read" && (permission === "open" || entry.clients.includes(name));
  const isAllowed = ({ name, allow: { names } }: ResolvedClient) =>
    names.includes(wanted) ||
    (mayRead(name) && names.some((one) => walletCallIn(one)?.path === path));
  const allowed = clients.filter(isAllowed).map(({ name }) => name);
  const hasWallets = clients.some(({ allow: { names } }) => names.some(walletCallIn));
  const reason = `forward.clients can allow ${quote(shorten(wanted, 200))}`;
  // Without a token, all wallets look alike, whether a client may call them or not.
  return {
    operation,
    permission: hasWallets ? "token" : "refused",
    clients: allowed,
    reason,
    publicReason: reason,
    isOpenable: true,
  };
}

/** Returns why nobody may call an operation. */
function obstacleOf(operation: NodeOperation): string | undefined {
  const { method, isStreaming, obstacle } = operation;
  if (!CALL_METHODS.includes(method)) return `${method} is never forwarded`;
  if (isStreaming) return "the response is a stream";
  if (obstacle !== undefined) return obstacle;
  // The setting `node.auth` may supply any other header.
  const needed = unsentParametersOf(operation).find(({ name, in: place, isRequired }) =>
    isRequired && (place === "query" || isAddedByProxies(name))
  );
  const what = needed?.in === "query" ? "query parameter" : "header";
  return needed && `the ${what} ${describeValue(needed.name)} is required, but never forwarded`;
}

/** The names of parameters in which clients might send the token of this service. */
const isTokenName = (name: string): boolean => /^(?:access_)?token$/.test(name);

/**
 * Tells whether the node takes a query parameter with such a name. Those of a method are described
 * as parts of its body.
 */
export const takesToken = (
  { isUntrusted = false, parameters = [] }: Partial<NodeOperation>,
): boolean =>
  !isUntrusted &&
  parameters.some((one) => /^(?:query|body)$/.test(one.in) && isTokenName(one.name));

/** Returns the described headers and query parameters that are never sent to the node. */
export const unsentParametersOf = (
  { isUntrusted, parameters = [] }: NodeOperation,
): NodeParameter[] =>
  parameters.filter(({ name, in: place }) =>
    place === "query" ? isUntrusted && isTokenName(name) : place === "header" &&
      (isAddedByProxies(name) || (isUntrusted && !IGNORED.includes(name.toLowerCase())))
  );

/** Headers that are always sent, and one that OpenAPI ignores. */
const IGNORED = [...STANDARD, "authorization"];

function decideOpen(
  operation: NodeOperation,
  open: Allowed,
): { readonly isOpen: boolean; readonly reason: string } {
  const refused = (reason: string) => ({ isOpen: false, reason });
  const { access, isUntrusted } = operation;
  const matches = matchesOf(open.names, operation);
  if (isClosed(operation)) {
    if (matches.length > 0) {
      return refused(`it is marked ${access}; only forward.clients can allow it`);
    }
    return refused(
      access === "write"
        ? "it is marked write; forward.clients can allow it"
        : "it reveals sensitive data; forward.clients can allow it",
    );
  }
  if (matches.some((match) => match === "name" || !isUntrusted)) {
    return { isOpen: true, reason: "open names it" };
  }
  // The node's own description cannot mark an operation as `read`, since `withMarks` removes all
  // marks that are not from the kind.
  if (access === "read") {
    return open.reads
      ? { isOpen: true, reason: "it is read-only" }
      : refused('it is read-only, but forward.open does not list "reads"');
  }
  return refused("it has no access mark; list it in forward.open or forward.clients");
}

/** Lists what a client may call beyond what is open. Calls of wallets are named as in its list. */
export function callableBy(
  { name, allow: { names } }: ResolvedClient,
  entries: readonly PolicyEntry[],
): NodeOperation[] {
  const own = entries.filter(({ clients }) => clients.includes(name));
  const ofWallets = names.flatMap((name) => {
    const method = walletCallIn(name)?.method;
    const found = entries.find(({ operation: one }) => one.isMethod && one.name === method);
    return found ? { ...found.operation, name } : [];
  });
  return [...own.map(({ operation }) => operation), ...ofWallets];
}

/**
 * Tells whether nobody may call an operation, whatever the settings say. One with a twin is open
 * with its twin.
 */
export const isNeverOpen = (
  { permission, isOpenable, operation }: Pick<PolicyEntry, "permission" | "isOpenable"> & {
    readonly operation: Partial<NodeOperation>;
  },
): boolean => permission === "refused" && !isOpenable && operation.twin === undefined;

export const isClosed = ({ access }: NodeOperation): boolean =>
  access === "write" || access === "secret";

/** A pattern matches no operation whose marks or names the operator has not written. */
function allows({ reads, names }: Allowed, operation: NodeOperation): boolean {
  if (reads && operation.access === "read") return true;
  const isPatternSafe = !isClosed(operation) && !operation.isUntrusted;
  return matchesOf(names, operation).some((match) => match !== "pattern" || isPatternSafe);
}

/** In an untrusted description, only a match by `name` is safe. */
export type NameMatch = "name" | "operationId" | "pattern";

function matchesOf(names: readonly string[], operation: NodeOperation): NameMatch[] {
  return names.flatMap((name) => howNameMatches(name, operation) ?? []);
}

export function howNameMatches(
  name: string,
  { name: own, operationId }: NodeOperation,
): NameMatch | undefined {
  if (name === own) return "name";
  if (walletCallIn(name)) return undefined;
  if (name === operationId) return "operationId";
  const isFitting = name.includes("*") &&
    [own, operationId ?? own].some((text) => matchesPattern(name, text));
  return isFitting ? "pattern" : undefined;
}

/** Takes linear time, unlike a regular expression with several `.*`. */
export function matchesPattern(pattern: string, text: string): boolean {
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
