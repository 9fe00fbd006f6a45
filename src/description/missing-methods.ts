/**
 * Finds out which methods of its kind a node lacks, by calling each light `read` method with
 * impossible parameters.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { isNearby } from "../http/host-names.ts";
import type { Info } from "../info/info.ts";
import type { Method } from "../kinds/interface.ts";
import type { JsonRpcSource } from "../kinds/kind.ts";
import type { RpcOutcome } from "../node/json-rpc.ts";
import { HAS_SOCKETS } from "../platform.ts";
import type { NodeSettings } from "../setting-types.ts";

type Params = NonNullable<JsonRpcSource["params"]>;

export type CallMethod = (method: string, params: Params) => Promise<RpcOutcome>;

/** The methods of which a node may be asked whether it has them, and the function to call them. */
export interface Questions {
  readonly methods: readonly Method[];
  readonly call: CallMethod;
}

/** Providers count the calls to their nodes, so only a node in this machine or network is asked. */
export function mayAskMethods({ url, ask_methods: isAllowed = true }: NodeSettings): boolean {
  return isAllowed && HAS_SOCKETS && url !== undefined && isNearby(new URL(url).hostname);
}

/** A call of such a method has no effect, whatever the parameters. */
export const isAskable = (method: Method): boolean =>
  method["x-access"] === "read" && method["x-cost"] !== "heavy" && !method["x-streaming"] &&
  !method["x-checked"] && !method["x-subscription"] && !method["x-connection"];

const CALLS_AT_ONCE = 2;
/** A node that keeps restarting is not asked more often. */
const PAUSE_MS = 60_000;

/** A proxy or a wrong path can make all methods seem missing. */
const isIncredible = (missing: number, asked: number) => asked > 10 && missing > asked / 2;

/**
 * Resolves to the names of the missing methods, or to `undefined` if too many methods seem missing.
 * A method counts as present unless the node says twice that the method is missing.
 */
export async function findMissing(
  { methods, call }: Questions,
  isStopped: () => boolean = () => false,
): Promise<readonly string[] | undefined> {
  const missing: string[] = [];
  const queue = methods.values();
  const work = async () => {
    for (const method of queue) {
      if (isStopped()) return;
      if (await isMissing(method, call)) missing.push(method.name);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return isIncredible(missing.length, methods.length) ? undefined : missing.sort();
}

async function isMissing({ name, params, paramStructure }: Method, call: CallMethod) {
  const isByName = paramStructure === "by-name";
  const tooMany = Array.from({ length: params.length + 1 }, () => "nodeface");
  // hardhat says of some methods with wrong parameters that it does not support them.
  for (const wrong of isByName ? [{ nodeface: "nodeface" }, {}] : [tooMany, []]) {
    const outcome = await call(name, wrong);
    // A path that is missing says nothing of the method.
    if (!outcome.error?.isAbsent || outcome.json === undefined) return false;
  }
  return true;
}

/** The members of `/v1/info` that decide when a node is asked. */
export type NodeInfo = Pick<Info, "software" | "version" | "status" | "status_code">;

interface MissingMethodsOptions {
  /** Resolves to `undefined` if the node must not be asked. `signal` cancels the calls. */
  readonly prepare: (signal: LightSignal) => Promise<Questions | undefined>;
  /** Called when `names` has changed. */
  readonly onChange: () => void;
  /** Called once if too many methods seem missing. */
  readonly onIncredible: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Asks the node once about each described method, and again if its software or version changes, or
 * it was away.
 */
export class MissingMethods {
  readonly #options: MissingMethodsOptions;
  #described: readonly string[] = [];
  #node: NodeInfo = {};
  #version = "";
  readonly #asked = new Set<string>();
  #askedAt = -Infinity;
  #missing: readonly string[] | undefined;
  #run: LightSignal | undefined;
  #isClosed = false;
  #hasComplained = false;

  constructor(options: MissingMethodsOptions) {
    this.#options = options;
  }

  /** The names of the missing methods in order, or `undefined` while they are unknown. */
  get names(): readonly string[] | undefined {
    return this.#missing;
  }

  /**
   * Takes the names of all described methods, including those that are omitted because they are
   * missing.
   */
  setMethods(methods: readonly string[]): void {
    this.#described = methods;
    this.#askIfDue();
  }

  note(node: NodeInfo): void {
    this.#node = node;
    const isSettled = performance.now() - this.#askedAt > PAUSE_MS;
    // A node that was down may have been restarted with other options, which may take a moment.
    const isDown = node.status === "unreachable" && node.status_code !== "timeout";
    const isRestarted = node.status_code === "connection_refused" && isSettled;
    if (isDown || isRestarted) this.#forget();
    if (node.status !== "ok") return;
    const version = `${node.software} ${node.version}`;
    // Behind one address, nodes of several versions may respond in turn.
    if (version !== this.#version && (isSettled || this.#version === "")) {
      this.#version = version;
      this.#forget();
      this.#setMissing(undefined);
    }
    this.#askIfDue();
  }

  close(): void {
    this.#isClosed = true;
    this.#run?.abort();
  }

  #forget(): void {
    this.#asked.clear();
    this.#run?.abort();
    this.#run = undefined;
  }

  #setMissing(names: readonly string[] | undefined): void {
    const before = this.#missing;
    this.#missing = names;
    if (String(names) !== String(before)) this.#options.onChange();
  }

  #askIfDue(): void {
    if (this.#isClosed || this.#run || this.#node.status !== "ok") return;
    const names = this.#described.filter((name) => !this.#asked.has(name));
    if (names.length === 0) return;
    this.#askedAt = performance.now();
    const run = this.#run = new LightSignal();
    this.#ask(names, run).catch((error) => {
      if (!run.aborted) this.#options.onError(error);
    }).finally(() => {
      if (this.#run !== run) return;
      this.#run = undefined;
      this.#askIfDue();
    });
  }

  async #ask(names: readonly string[], signal: LightSignal): Promise<void> {
    const isFirst = this.#asked.size === 0;
    for (const name of names) this.#asked.add(name);
    const wanted = new Set(names);
    const questions = await this.#options.prepare(signal);
    const methods = questions?.methods.filter(({ name }) => wanted.has(name)) ?? [];
    if (!questions || methods.length === 0) return;
    const found = await findMissing({ ...questions, methods }, () => signal.aborted);
    if (signal.aborted) return;
    if (found) return this.#setMissing([...isFirst ? [] : this.#missing ?? [], ...found].sort());
    if (!this.#hasComplained) this.#options.onIncredible();
    this.#hasComplained = true;
  }
}
