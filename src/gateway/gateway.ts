/**
 * The gateway to the node: the part that `call-path.ts` and `call-rpc.ts` share.
 *
 * @module
 */
import type { CallRecord } from "../log.ts";
import type { RequestContent } from "../node/http1.ts";
import type { Node } from "../node/node.ts";
import { CODES, RPC_HEADERS } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Call, goneOf } from "./call.ts";
import {
  hasTokenInQuery,
  holdsToken,
  isAllowedCaller,
  isToken,
  readToken,
  TOKEN_IN_QUERY,
  TOKEN_LENGTH_MIN,
} from "./guard.ts";
import { Lease, Leases } from "./lease.ts";
import { createPathMatcher, type MatchPath } from "./match.ts";
import { decide, type Permission, type PolicyEntry, type ResolvedForward } from "./policy.ts";
import { LATER, type Refusal, refusalOf, STATUS_GONE } from "./response.ts";

export interface GatewayOptions {
  readonly forward: ResolvedForward;
  readonly node: Node;
  /** Resolves to `undefined` if the node's kind cannot be found out. */
  readonly findKind: () => Promise<string | undefined>;
  /** Resolves to the path of the node's JSON-RPC endpoint, as for `Node.resolve`. */
  readonly rpcPath: () => Promise<string>;
  /** Returns `undefined` if the description cannot be shown. */
  readonly operations: () => Promise<readonly NodeOperation[] | undefined>;
  /** For privacy, the record contains neither parameters nor content of the call. */
  readonly onCall: (record: CallRecord) => void;
}

export type CallForm = (gateway: Gateway, call: Call, lease: Lease) => Promise<Response>;

export type CallRecorder = (status: number, bytes: number) => void;

interface CallTable {
  readonly operations: readonly NodeOperation[];
  readonly matchPath: MatchPath;
  readonly methods: ReadonlyMap<string, PolicyEntry>;
}

const NONE: readonly NodeOperation[] = [];
const NO_TOKEN: Refusal = {
  status: 503,
  code: CODES.wantsToken,
  setting: "forward.token_file",
  headers: LATER,
  message: "The service cannot read the operator's token at the moment",
};
const encoder = new TextEncoder();

export class Gateway {
  readonly limit: number;
  /** The configured header for the node's secret, in lower case. Clients cannot set this header. */
  readonly secretHeader: string | undefined;
  readonly node: Node;
  readonly #options: GatewayOptions;
  readonly #leases: Leases;
  #table: CallTable | undefined;
  constructor(options: GatewayOptions) {
    const { forward, node } = options;
    this.limit = forward.limit;
    this.secretHeader = node.auth && "header" in node.auth
      ? node.auth.header?.toLowerCase()
      : undefined;
    this.node = node;
    this.#options = options;
    this.#leases = new Leases({ ...forward, node, isAnonymous: (one) => this.#isAnonymous(one) });
  }

  async call(form: CallForm, call: Call): Promise<Response> {
    const lease = new Lease(this.#leases, goneOf(call));
    try {
      return await form(this, call, lease);
    } finally {
      lease.dispose();
    }
  }

  get waiting(): number {
    return this.#leases.slots.waiting;
  }

  close(): void {
    this.#leases.close();
  }

  async isDescribed(): Promise<boolean> {
    return await this.#options.operations() !== undefined;
  }

  async table(): Promise<CallTable> {
    const operations = await this.#options.operations() ?? NONE;
    if (this.#table?.operations !== operations) {
      const entries = decide(operations, this.#options.forward);
      const methods = entries.filter(({ operation }) => operation.isMethod)
        .map((entry) => [entry.operation.path, entry] as const);
      const matchPath = createPathMatcher(entries);
      this.#table = { operations, matchPath, methods: new Map(methods) };
    }
    return this.#table;
  }

  refusalForPage(
    request: Request,
    permission: Permission = "open",
    what: string = "the node",
  ): Refusal | undefined {
    const { origins } = this.#options.forward;
    // `origins: "*"` does not allow calls that need the token.
    const allowed = origins === "*" && permission === "token" ? [] : origins;
    if (isAllowedCaller(request, allowed)) return undefined;
    return {
      ...{ status: 403, code: CODES.notAllowed, setting: "forward.origins" },
      message: `Pages of other origins may not call ${what}`,
      more: "; if you typed this URL into a browser, use the explorer at /v1/spec instead",
    };
  }

  /**
   * Must be called before anything is sent to the node. `what` completes the message "Pages of other origins may not
   * call …".
   */
  async authorize(
    { request, query }: Pick<Call, "request" | "query">,
    { operation: { name }, permission, reason }: PolicyEntry,
    what?: string,
  ): Promise<Refusal | undefined> {
    const foreign = this.refusalForPage(request, permission, what);
    if (foreign || permission === "open") return foreign;
    if (permission === "refused") {
      return {
        ...{ status: 403, code: CODES.notAllowed, setting: "forward" },
        message: `${name} is not forwarded: ${reason}`,
        more: '. See the setting "forward"',
      };
    }
    if (hasTokenInQuery(query)) return TOKEN_IN_QUERY;
    const about = { code: CODES.wantsToken, setting: "forward.token_file" };
    const known = await readToken(this.#options.forward);
    if ("reason" in known) return NO_TOKEN;
    const given = request.headers.get("authorization");
    if (await isToken(known.token, given)) return undefined;
    const isGiven = /^bearer /i.test(given ?? "");
    // A client that sent no token gets no error code (RFC 6750, section 3.1).
    const error = isGiven ? ', error="invalid_token"' : "";
    return {
      ...{ ...about, status: 401 },
      message: isGiven ? "The token is not valid" : `${name} needs the operator's token`,
      more: isGiven ? "" : ": send it as Authorization: Bearer",
      headers: { "www-authenticate": `Bearer realm="nodeface"${error}` },
    };
  }

  /** Refuses a call that would send the operator's token to the node in a header. */
  async refusalForToken(
    headers: readonly (readonly [name: string, value: string])[],
  ): Promise<Refusal | undefined> {
    const { token_file, token_env } = this.#options.forward;
    const long = headers.filter(([, value]) => value.length >= TOKEN_LENGTH_MIN);
    if (long.length === 0 || (token_file ?? token_env) === undefined) return undefined;
    const known = await readToken(this.#options.forward);
    if ("reason" in known) return NO_TOKEN;
    const leak = long.find(([, value]) => holdsToken(value, known.token));
    return leak && {
      status: 400,
      code: CODES.invalidCall,
      message: `The header ${leak[0]} contains the operator's token, which is never forwarded`,
    };
  }

  async hasToken({ headers }: Request): Promise<boolean> {
    if (!headers.has("authorization")) return false;
    const known = await readToken(this.#options.forward);
    return "token" in known && await isToken(known.token, headers.get("authorization"));
  }

  async rpcRequest(text: string): Promise<RequestContent> {
    return {
      method: "POST",
      url: this.node.resolve(await this.#options.rpcPath()),
      headers: RPC_HEADERS,
      body: encoder.encode(text),
    };
  }

  /** Reads of some kinds are called without `node.auth`, so that responses contain no private data. */
  async #isAnonymous({ isAnonymous, access }: NodeOperation): Promise<boolean> {
    if (isAnonymous || access !== "read" || !this.node.auth) return isAnonymous;
    const [kind, kinds] = await Promise.all([this.#options.findKind(), this.node.kinds.get()]);
    return kinds[kind ?? "none"]?.auth?.reads === "none";
  }

  record({ name }: NodeOperation): CallRecorder {
    const started = performance.now();
    return (status, bytes) => {
      const milliseconds = performance.now() - started;
      this.#options.onCall({ operation: name, status, milliseconds, bytes });
    };
  }

  fail(error: unknown, { access }: NodeOperation, call: Call, record: CallRecorder): Refusal {
    const refusal = refusalOf(error, access === "read", this.#options.forward.timeout);
    record(goneOf(call).aborted ? STATUS_GONE : refusal.status, 0);
    return refusal;
  }
}
