/**
 * The refusals of calls, as problem details (RFC 9457).
 *
 * @module
 */
import { problem, problemWith } from "../http/problem-details.ts";
import { retryAfterOf } from "./answer-headers.ts";
import { WRONG_MAX, type WrongParameter } from "./parameters.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** Says which parameters are wrong, and why; never their values. */
export function wrongParameters(wrong: readonly WrongParameter[]): Response {
  const [{ name, rule }] = wrong as [WrongParameter];
  const others = wrong.length - 1;
  const more = others === 0
    ? ""
    : others === 1
    ? ", and 1 more is wrong"
    : `, and ${wrong.length < WRONG_MAX ? others : `at least ${others}`} more are wrong`;
  const subject = name === "" ? "The method" : `The parameter "${name}"`;
  return problemWith(400, `${subject} ${rule}${more}`, { errors: JSON.stringify(wrong) });
}

/** Says that nobody may call this, and which setting would open it. */
export const notAllowed = (name: string, reason: string): Response =>
  problem(403, `${name} is not forwarded: ${reason}. The setting "forward" says what is`);

/** Says that a token would do. */
export const wantsToken = (name: string): Response =>
  problem(401, `${name} needs the operator's token, as Authorization: Bearer`, {
    "www-authenticate": 'Bearer realm="nodeface"',
  });

/** Says that a page of another origin may not call. */
export const foreignCaller = (): Response =>
  problem(
    403,
    "Pages of other origins may not call the node, nor may addresses typed in on plain http; the " +
      "explorer at /v1/spec of this service can",
  );

/** What is said where there is no place for a call. */
export const BUSY = "Too many calls are under way at the node";

/** Says that a call can be sent again later. */
export const busy = (detail: string = BUSY): Response =>
  problem(503, detail, { "retry-after": "5" });

/** What is said of a node that has too much to do, or is starting. */
export const busyNode = ({ status }: Pick<UpstreamAnswer, "status">): string =>
  `The node answers ${status}: it is busy or warming up`;

/** Says so, and when the node is to be asked again. */
export const nodeBusy = (answer: Pick<UpstreamAnswer, "status" | "headers">): Response =>
  problem(503, busyNode(answer), { "retry-after": retryAfterOf(answer.headers) ?? "5" });

/** Whether a query has a token, which would stand in logs. */
export const hasTokenInQuery = (query: string): boolean =>
  new URLSearchParams(query).has("token") || new URLSearchParams(query).has("access_token");

/** What is said of a token in a query. */
export const TOKEN_IN_QUERY = "The token is sent as Authorization: Bearer, never in the address";

/** Says where the token belongs. */
export const tokenInQuery = (): Response => problem(400, TOKEN_IN_QUERY);

/** What is said where the operator's token is gone. */
export const TOKEN_UNKNOWN = "The operator's token cannot be read now";

/** Says that nobody can have the token now. */
export const tokenUnknown = (): Response => problem(503, TOKEN_UNKNOWN, { "retry-after": "5" });
