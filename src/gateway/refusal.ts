/**
 * Refusals: why a client does not get the node's response.
 *
 * @module
 */
import { problemResponse, withHint } from "../http/problem.ts";
import type { HttpStatus } from "../http/response.ts";
import { clauseOf, failureOf, isBusy, SourceError } from "../node/failures.ts";
import { CODES, type RpcFailure } from "../node/json-rpc.ts";
import type { CallOutcome } from "../node/rpc.ts";
import { HAS_SOCKETS } from "../platform.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";

interface RefusalDetails {
  /** A further sentence of problem details, which JSON-RPC errors do not have. */
  readonly hint?: string;
  /** The setting that would allow the call, shown in JSON-RPC errors. */
  readonly setting?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Further members of the problem details, as JSON text. */
  readonly members?: Readonly<Record<string, string | undefined>>;
  /** True if the node may have carried out the call. */
  readonly isUncertain?: boolean;
  /** True if no connection to the node could be made, or it has ended: the node may come back. */
  readonly isAway?: boolean;
}

/** The reason why a client does not get the node's response. */
export class Refusal extends Error {
  readonly status: HttpStatus;
  readonly code: number;
  readonly details: RefusalDetails;
  constructor(status: HttpStatus, code: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Refuses a call that nobody may make as it is. */
export const invalidCall = (message: string, status: HttpStatus = 400): Refusal =>
  new Refusal(status, CODES.invalidCall, message);

export function problemOfRefusal({ status, message, details }: Refusal): Response {
  const { hint = "", members = {}, headers } = details;
  return problemResponse(status, withHint(message, hint), headers, members);
}

export const LATER = { "retry-after": "5" };

export const FULL: Refusal = new Refusal(
  503,
  CODES.busy,
  "Too much data is in transit; try again later",
  { headers: LATER },
);

export const STOPPING: Refusal = new Refusal(503, CODES.busy, "The service is stopping", {
  headers: LATER,
});

/** @param error a code of RFC 6750, section 3.1, which a client that sent no token does not get */
export const challenge = (error?: "invalid_token") => ({
  "www-authenticate": `Bearer realm="nodeface"${error ? `, error="${error}"` : ""}`,
});

/** For a call whose token ends. */
export const TOKEN_ENDED: Refusal = new Refusal(
  401,
  CODES.wantsToken,
  "The client's token is not valid any more",
  {
    setting: "forward.clients",
    headers: challenge("invalid_token"),
  },
);

/** Adds to a refusal that the call may have been sent, so that the node may have carried it out. */
export function toUncertain(reason: unknown): unknown {
  if (!(reason instanceof Refusal)) return reason;
  const { status, code, message, details } = reason;
  return new Refusal(status, code, message, { ...details, isUncertain: true });
}

/** For a reader that keeps others waiting. */
export const READS_SLOWLY: Refusal = new Refusal(
  503,
  CODES.busy,
  "The client reads too slowly, and others wait",
  { headers: LATER },
);

/** For a response that might never end. */
export const STREAMED: Refusal = new Refusal(
  403,
  CODES.notAllowed,
  "The response is a stream, which is not forwarded; connect to the node for it",
  { isUncertain: true },
);

/** For a node that must be verified again whenever a connection is lost. */
export const NOT_SENT: Refusal = new Refusal(
  503,
  CODES.notReached,
  "The node loses its connections before a call can be sent; try again later",
  { headers: LATER },
);

export const NO_WEBSOCKET: string = "There is no WebSocket here; a started service that " +
  "forwards calls has JSON-RPC over WebSocket at /v1/rpc";

const SUBSCRIBES = "it subscribes to notifications; call it over WebSocket";

export const howToSubscribe = ({ isOfConnection }: NodeOperation): string =>
  isOfConnection
    ? SUBSCRIBES
    : `${SUBSCRIBES}, or at /v1/rpc/METHOD with Accept: text/event-stream`;

export const NO_UPGRADE: Refusal = invalidCall(NO_WEBSOCKET);

export const CREDENTIALS_REJECTED: Refusal = new Refusal(
  502,
  CODES.notReached,
  "The node rejected the service's credentials",
);

export const CREDENTIALS_WANTED: Refusal = new Refusal(
  502,
  CODES.notReached,
  "The node requires credentials, and the service sent none; see node.auth",
);

/** @param retryAfter the node's header `Retry-After` */
function busyNode(status: number, retryAfter: string | null): Refusal {
  return new Refusal(503, CODES.busy, `The node responded with ${status}: it is busy or starting`, {
    headers: /^\d{1,9}$/.test(retryAfter ?? "") ? { "retry-after": retryAfter! } : LATER,
  });
}

export const NOT_FORWARDED: Readonly<Record<"off" | "unknown", Refusal>> = {
  off: new Refusal(
    403,
    CODES.notAllowed,
    HAS_SOCKETS
      ? "This service documents the node but does not forward calls to it; " +
        'the setting "forward" allows calls'
      : "This service runs in a worker, which cannot forward calls to the node",
  ),
  // A 404 would mean that the method does not exist.
  unknown: new Refusal(
    503,
    CODES.notReached,
    "The node's operations are not known yet; /v1/info shows its status",
    { headers: LATER },
  ),
};

/** Failure codes which show that the node has not received the call. */
const BEFORE: ReadonlySet<string> = new Set([
  ...["connection_refused", "dns", "tls", "not_tls"],
  // The node has rejected the call, and the service could not authorize it.
  "no_credentials",
]);

export function refusalOf(error: unknown, isRead: boolean): Refusal {
  const refusal = error instanceof Refusal ? error : failureToRefusal(error);
  if (isRead || !refusal.details.isUncertain) return refusal;
  const { status, code, details: { headers } } = refusal;
  const message = `${refusal.message}; the call may have been carried out`;
  // A call that may change something gets 502, since clients retry after a 503.
  return status === 503
    ? new Refusal(502, CODES.notReached, message)
    : new Refusal(status, code, message, { headers });
}

function failureToRefusal(error: unknown): Refusal {
  const { code, message } = failureOf(error);
  return new Refusal(502, CODES.notReached, `The node ${clauseOf(message)}`, {
    isUncertain: !BEFORE.has(code),
    isAway: AWAY.has(code),
  });
}

/** Failure codes of a node that may come back. */
const AWAY: ReadonlySet<string> = new Set(["connection_refused", "dns", "reset"]);

type CallFailure = RpcFailure & Pick<CallOutcome, "response">;

/** Tells whether a call failed because the node's response to it is not JSON-RPC. */
export const isUnreadable = (
  { error, reason = error, response }: CallFailure,
): boolean => response !== undefined && reason instanceof SourceError;

/** Returns the reason why a call has neither a result nor an error of the node. */
export function refusalOfFailure(failure: CallFailure): Refusal {
  const { error, reason = error, response } = failure;
  if (!response || !isUnreadable(failure)) return refusalOf(reason, true);
  const { status, headers } = response;
  if (isBusy(status) || isBusy(error?.number)) {
    return busyNode(status, headers.get("retry-after"));
  }
  const isRefused = status >= 400 && status < 500 && status !== 408;
  return new Refusal(
    502,
    CODES.notReached,
    status < 400
      ? "The node's response is not JSON-RPC"
      : `The node responded with ${status}, and without JSON-RPC`,
    { isUncertain: !isRefused },
  );
}
