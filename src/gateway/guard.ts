/**
 * Recognizes callers by their tokens and by the origin of their page. Any web page can make
 * a browser send requests to this machine, so a request from a browser must come from our page or
 * from an allowed origin.
 *
 * @module
 */
import { decodeBase64 } from "../decode.ts";
import { CODES } from "../node/json-rpc.ts";
import { isAllowedCaller, isProgram, looksLikeBrowser } from "../http/browsers.ts";
import type { Client, Identity } from "./clients.ts";
import {
  isNeverOpen,
  type Permission,
  type PolicyEntry,
  type ResolvedForward,
  takesToken,
} from "./policy.ts";
import { challenge, invalidCall, LATER, Refusal } from "./refusal.ts";

export const TOKEN_IN_QUERY: Refusal = invalidCall(
  "Send the token in the Authorization header (Bearer), never in the URL",
);

const TOKEN_SETTING = "forward.clients";

const NO_TOKEN = new Refusal(
  503,
  CODES.wantsToken,
  "The service cannot read a client's token at the moment",
  { setting: TOKEN_SETTING, headers: LATER },
);

/** What may be called only with a permission. */
export interface Guarded extends Omit<PolicyEntry, "operation" | "reason"> {
  readonly operation: Partial<PolicyEntry["operation"]> & Pick<PolicyEntry["operation"], "name">;
}

/** The parts of a request that tell who sent it. */
export interface CallerRequest extends Pick<Request, "method" | "url" | "headers"> {
  /** The client whose call this is, for the access log; set only if there are clients. */
  clientName?: string | undefined;
}

/** The client that sent a request. All calls of a batch are judged by one reading of the token. */
export class Caller {
  readonly client: Client | undefined;
  readonly #request: CallerRequest;
  readonly #query: string;
  readonly #origins: ResolvedForward["origins"];
  readonly #candidates: readonly Client[];
  /** True once the origin has been found allowed, for all calls of a batch. */
  #isOriginAllowed = false;
  readonly #isStandalone: boolean;

  /** @param isStandalone false in a host's server, whose CORS middleware may allow `X-Nodeface` */
  constructor(
    request: CallerRequest,
    query: string,
    origins: ResolvedForward["origins"],
    { client, candidates }: Identity,
    isStandalone: boolean,
  ) {
    this.#isStandalone = isStandalone;
    this.#request = request;
    this.#query = query;
    this.#origins = origins;
    this.client = client;
    this.#candidates = candidates;
  }

  /** Whether the call looks as if a browser had sent it. */
  get isBrowser(): boolean {
    return looksLikeBrowser(this.#request.headers);
  }

  /** Completes a sentence about a call that is refused; empty for callers without a token. */
  get forWhom(): string {
    return this.client ? ` for the client ${this.client.name}` : "";
  }

  /** Tells whether no token would help the caller, or only that of another client. */
  isRefused({ permission, clients }: Guarded): boolean {
    if (permission !== "token") return permission === "refused";
    return this.client !== undefined && !clients.includes(this.client.name);
  }

  /**
   * @param what completes the message "Pages of other origins may not call …"
   * @throws {Refusal} if the call is of a page whose origin is not allowed
   */
  checkOrigin(permission: Permission = "open", what: string = "the node"): void {
    const origins = this.#origins;
    // `origins: "*"` does not allow calls that need the token.
    const isStrict = origins === "*" && permission === "token";
    if (this.#isOriginAllowed && !isStrict) return;
    const trustsHeader = !isStrict && this.#isStandalone;
    if (isAllowedCaller(this.#request, isStrict ? [] : origins, trustsHeader)) {
      this.#isOriginAllowed = true;
      return;
    }
    const message = `Pages of other origins may not call ${what}, and programs only with ` +
      "X-Nodeface: 1 if they send headers of a browser";
    throw new Refusal(403, CODES.notAllowed, message, {
      setting: "forward.origins",
      hint: "If you typed this URL into a browser, use the explorer at /v1/spec instead",
    });
  }

  /**
   * Must be called before anything is sent to the node.
   *
   * @throws {Refusal} if the caller may not make the call
   */
  check(entry: Guarded, what?: string): void {
    const { operation, permission, clients, publicReason } = entry;
    const { name } = operation;
    this.checkOrigin(permission, what);
    if (permission === "open") return;
    if (this.isRefused(entry)) {
      const message = `${name} is not forwarded${this.forWhom}: ${publicReason}`;
      const hint = isNeverOpen(entry) ? "" : 'See the setting "forward"';
      throw new Refusal(403, CODES.notAllowed, message, { setting: "forward", hint });
    }
    if (!takesToken(operation)) refuseTokenIn(this.#query);
    if (this.client) return;
    if (this.#candidates.some(({ name }) => clients.includes(name))) throw NO_TOKEN;
    const isGiven = /^bearer /i.test(this.#request.headers.get("authorization") ?? "");
    const message = isGiven ? "The token is not valid" : `${name} needs a client's token`;
    throw new Refusal(401, CODES.wantsToken, message, {
      setting: TOKEN_SETTING,
      hint: isGiven ? "" : "Send it as Authorization: Bearer",
      headers: challenge(isGiven ? "invalid_token" : undefined),
    });
  }
}

/** @throws {Refusal} if a query has a token */
export function refuseTokenIn(query: string): void {
  if (hasTokenInQuery(query)) throw TOKEN_IN_QUERY;
}

export function hasTokenInQuery(query: string): boolean {
  // Most queries need not be parsed.
  if (!/token|%/.test(query)) return false;
  const parameters = new URLSearchParams(query);
  return parameters.has("token") || parameters.has("access_token");
}

/**
 * Returns the token of a request. Programs such as `bitcoin-cli` can send it only as the password
 * of HTTP Basic. A browser that knows a password sends it with requests of foreign pages, too.
 */
export function tokenIn(headers: Headers): string | undefined {
  const authorization = headers.get("authorization") ?? "";
  const [, scheme = "", word = ""] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return word;
  if (scheme === "" || !isProgram(headers)) return undefined;
  const pair = decodeBase64(word);
  return pair?.slice(pair.indexOf(":") + 1);
}
