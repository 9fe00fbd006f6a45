/**
 * Diagnostics for the setting `forward`.
 *
 * @module
 */
import { isLoopback, isLoopbackListener } from "../http/host-names.ts";
import { isEqual } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
import { warnOfReaders } from "../platform.ts";
import { excerpt, quote, shorten } from "../untrusted-text.ts";
import { Clients } from "./clients.ts";
import {
  callableBy,
  decide,
  howNameMatches,
  isClosed,
  isNeverOpen,
  type NameMatch,
  placeKey,
  type ResolvedForward,
  unsentParametersOf,
} from "./policy.ts";
import { isAddedByProxies } from "./request-headers.ts";
import { isWalletPath, walletCallIn } from "./wallets.ts";

export interface ForwardDiagnostic {
  readonly level: "error" | "warn" | "info";
  readonly message: string;
  /** True for an error of a file that the service may be able to read. */
  readonly dependsOnReader?: boolean;
}

/** @param kind the kind of the node, if it is known */
export function lintNames(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
  kind?: Pick<Kind, "wallets">,
): ForwardDiagnostic[] {
  const obstacles = new Map(
    decide(operations, forward).filter(isNeverOpen)
      .map(({ operation, reason }) => [operation, reason]),
  );
  return listedNames(forward).flatMap((listed) => {
    const { list, name } = listed;
    const place = forward.places?.[placeKey(list, name)];
    const start = `${place ? `${place} ` : ""}${list} names ${quote(name)}, `;
    const found = walletCallIn(name)
      ? lintWalletCall(operations, forward, listed, kind)
      : lintName(operations, listed, obstacles);
    return found.map(([level, what]) => ({ level, message: start + what }));
  });
}

type NameDiagnostic = [level: ForwardDiagnostic["level"], what: string];

function lintWalletCall(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
  { isOpen, name }: ListedName,
  kind: Pick<Kind, "wallets"> | undefined,
): NameDiagnostic[] {
  const { path, method } = walletCallIn(name)!;
  if (isOpen) return [["error", "a call of a wallet; move it to forward.clients"]];
  if (name.includes("*")) return [["error", "but a wallet and its method need full names"]];
  if (kind && kind.wallets === undefined) {
    return [["error", "but nodes of this kind have no paths of wallets"]];
  }
  if (kind && !isWalletPath(path, kind.wallets)) {
    return [["error", `but the path of a wallet has the form ${kind.wallets}NAME`]];
  }
  if (!forward.at_root) {
    return [["error", "but the node's own paths are closed; set forward.at_root to true"]];
  }
  const methods = operations.filter(({ isMethod }) => isMethod).map(({ name }) => name);
  if (methods.includes(method)) return [];
  const right = didYouMean(nearest(method, methods));
  return [["error", `but the description has no such method${right}`]];
}

function lintName(
  operations: readonly NodeOperation[],
  { isOpen, name }: ListedName,
  obstacles: ReadonlyMap<NodeOperation, string>,
): NameDiagnostic[] {
  const meant = { name: [], operationId: [], pattern: [] } as Record<NameMatch, NodeOperation[]>;
  for (const operation of operations) {
    const match = howNameMatches(name, operation);
    if (match) meant[match].push(operation);
  }
  const foreign = (of: NameMatch) => meant[of].filter(({ isUntrusted }) => isUntrusted);
  const named = [...meant.name, ...meant.operationId];
  if (named.length === 0 && meant.pattern.length === 0) {
    const names = operations.flatMap(({ name, operationId, isUntrusted }) =>
      isUntrusted ? [name] : [name, operationId ?? name]
    );
    const right = didYouMean(nearest(name, names));
    return [["error", `but the description has no such operation${right}`]];
  }
  const obstacle = obstacles.get(named[0]!);
  if (obstacle !== undefined && named.every((one) => obstacles.has(one))) {
    return [["error", `which nobody may call: ${obstacle}`]];
  }
  const covered = foreign("pattern");
  if (covered.length > 0) {
    const what = "but * does not match operations in a description read over the network";
    return [["error", `${what}; write ${lines(covered)}`]];
  }
  const found: NameDiagnostic[] = [];
  const moved = foreign("operationId");
  if (moved.length > 0 && !(isOpen && meant.name.length > 0)) {
    const what = "an operationId that the author of the description can give to another operation";
    found.push([isOpen ? "error" : "warn", `${what}; write ${lines(moved)}`]);
  }
  const [marked] = isOpen ? named.filter(isClosed) : [];
  if (marked) {
    found.push(["error", `which is marked ${marked.access}; move it to forward.clients`]);
  }
  const omitted = meant.pattern.filter(isClosed);
  if (omitted.length > 0) {
    const what = "but * does not match operations marked write or secret";
    found.push(["warn", `${what}: ${lines(omitted)}`]);
  }
  return found;
}

/** Names of parameters that may make of a call a stream, a write or a request to elsewhere. */
const RISKY = /^(?:watch|follow|stream|url|uri|redirect|callback|jsonp|cmd|action)$/i;

/** Warns of open operations that may be more than reads with a certain parameter. */
export function lintParameters(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): ForwardDiagnostic[] {
  return decide(operations, forward).flatMap(({ operation, permission }): ForwardDiagnostic[] => {
    const { name, isChecked, parameters = [] } = operation;
    const risky = parameters.filter(({ name }) => RISKY.test(name));
    if (permission !== "open" || isChecked || risky.length === 0) return [];
    const named = risky.map(({ name }) => quote(name)).join(" and ");
    const message = `every client may call ${quote(shorten(name, 200))} with ${named}, which may ` +
      "make it a stream, a write or a request to elsewhere; x-checked restricts parameters";
    return [{ level: "warn", message }];
  });
}

const UNSENT: readonly (readonly [what: string, isMeant: (one: NodeParameter) => boolean])[] = [
  [
    "headers by which a client could claim an identity are never sent to the node",
    (one) => one.in === "header" && isAddedByProxies(one.name),
  ],
  [
    "headers that only a description from the network describes are never taken from calls",
    (one) => one.in === "header" && !isAddedByProxies(one.name),
  ],
  [
    "query parameters for tokens in a description from the network are never sent to the node",
    (one) => one.in === "query",
  ],
];

/** Names what callable operations describe, but is never sent to the node. */
export function lintUnsent(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): ForwardDiagnostic[] {
  const callable = decide(operations, forward)
    .flatMap(({ operation, permission }) => permission === "refused" ? [] : operation);
  return UNSENT.flatMap(([what, isMeant]): ForwardDiagnostic[] => {
    const unsent = (operation: NodeOperation) => unsentParametersOf(operation).filter(isMeant);
    const concerned = callable.filter((operation) => unsent(operation).length > 0);
    if (concerned.length === 0) return [];
    const names = new Set(concerned.flatMap(unsent).map(({ name }) => name.toLowerCase()));
    const message = `${what} (${excerpt([...names].join(", "), 400)}): ${lines(concerned)}`;
    return [{ level: "warn", message }];
  });
}

interface ListedName {
  /** The setting that has the name. */
  readonly list: string;
  readonly name: string;
  readonly isOpen: boolean;
}

function listedNames({ open, clients }: ResolvedForward): ListedName[] {
  return [
    ...open.names.map((name) => ({ list: "forward.open", name, isOpen: true })),
    ...clients.flatMap((client) =>
      client.allow.names.map((name) => ({
        list: `forward.clients ${client.name}`,
        name,
        isOpen: false,
      }))
    ),
  ];
}

export interface ClientRights {
  readonly name: string;
  /** What the client may call beyond what is open. */
  readonly operations: readonly NodeOperation[];
}

export function rightsIn(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): ClientRights[] {
  const entries = decide(operations, forward);
  return forward.clients.map((client) => ({
    name: client.name,
    operations: callableBy(client, entries),
  }));
}

/** Tells which writes and secrets each client may call, for the log. */
function tellRights({ name, operations }: ClientRights): ForwardDiagnostic[] {
  const closed = operations.filter(isClosed);
  const named = closed.map((one) => `${quote(shorten(one.name, 200))} (${one.access})`).join(", ");
  return named ? [{ level: "info", message: `the client ${name} may call ${named}` }] : [];
}

const OPERATIONS_MAX = 10;

function lines(operations: readonly NodeOperation[]): string {
  const names = operations.slice(0, OPERATIONS_MAX).map(({ name }) => quote(shorten(name, 200)));
  const more = operations.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/**
 * Returns a function to call after each load of the description, with the arguments of
 * {@linkcode lintNames}. The function omits diagnostics that the previous load had too, and adds a
 * warning for each name that now matches different operations.
 */
export function createNameWatch(
  forward: ResolvedForward,
): (operations: readonly NodeOperation[], kind?: Pick<Kind, "wallets">) => ForwardDiagnostic[] {
  let reported = new Set<string>();
  const before = new Map<string, readonly NodeOperation[]>();
  return (operations, kind) => {
    const found = [
      ...lintNames(operations, forward, kind),
      ...rightsIn(operations, forward).flatMap(tellRights),
    ];
    const news = found.filter(({ message }) => !reported.has(message));
    reported = new Set(found.map(({ message }) => message));
    for (const { list, name } of listedNames(forward)) {
      const now = operations.filter((operation) => howNameMatches(name, operation));
      const key = placeKey(list, name);
      const was = before.get(key) ?? now;
      if (now.length === 0) continue;
      before.set(key, now);
      if (isEqual(now.map(({ name }) => name), was.map(({ name }) => name))) continue;
      const change = `which now matches ${lines(now)}; before, it matched ${lines(was)}`;
      news.push({ level: "warn", message: `${list} names ${quote(name)}, ${change}` });
    }
    return news;
  };
}

/** For `nodeface check`; the service tells what is wrong with a token when it reads the token. */
export async function lintTokens({ clients }: ResolvedForward): Promise<ForwardDiagnostic[]> {
  const known = new Clients(clients);
  await known.read();
  return [...known.troubles.values()].map((trouble) => ({ level: "error", ...trouble }));
}

export async function lintSettings(
  settings: ResolvedForward,
  { node: { url }, host, port }: {
    readonly node: { readonly url?: string | undefined };
    readonly host: string;
    readonly port: number;
  },
): Promise<ForwardDiagnostic[]> {
  const { open, clients } = settings;
  const found: ForwardDiagnostic[] = [];
  const add = (level: ForwardDiagnostic["level"], message: string) =>
    found.push({ level, message });
  for (const { token_file: file } of clients) {
    const warning = file && await warnOfReaders("token_file", file);
    if (warning) add("warn", warning);
  }
  if (url !== undefined && isSelf(url, host, port)) {
    const hint = "choose another port with --port or listen";
    add("error", `node.url ${url} is where this service would listen; ${hint}`);
  }
  const isFar = !isLoopbackListener(host);
  if (isFar && (open.reads || open.names.length > 0)) {
    const who = `every client that reaches ${host}`;
    add("warn", `${who} may call the operations in forward.open`);
  }
  if (isFar && clients.length > 0) {
    add("warn", "clients send their tokens over plain http unless a proxy in front adds TLS");
  }
  return found;
}

function isSelf(url: string, host: string, port: number): boolean {
  const { hostname, port: nodePort, protocol } = new URL(url);
  const at = nodePort === "" ? (protocol === "https:" ? 443 : 80) : Number(nodePort);
  if (at !== port) return false;
  const isAny = ["0.0.0.0", "::", "[::]"].includes(host);
  return hostname === host || hostname === `[${host}]` ||
    (isLoopback(hostname) && (isAny || isLoopbackListener(host)));
}
