/**
 * Who may make a call: here one call meets what `decide-operations.ts` has decided of its operation.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { isAllowedCaller } from "./browser-guard.ts";
import {
  hasTokenInQuery,
  notAllowed,
  tokenInQuery,
  tokenUnknown,
  wantsToken,
} from "./call-refusals.ts";
import type { Decided, Decision } from "./decide-operations.ts";
import { hasToken, readToken, type TokenPlace } from "./token.ts";

/** What is looked at of a call. */
export interface Caller {
  readonly head: RequestHead;
  /** Without `?`. */
  readonly query: string;
}

/** Says who may make a call. */
export interface CallerRights {
  /** Whether the caller is no page of another origin. */
  mayCall(caller: Pick<Caller, "head">, right: Decision["right"]): boolean;
  /** Why a caller is refused; `undefined` where he is not. */
  refuse(caller: Caller, decided: Decided): Awaitable<Answer | undefined>;
  /** What the caller may do: what is open, or what the token opens; `unknown` where it cannot be read. */
  rightOf(
    head: RequestHead,
    decision: Pick<Decision, "right">,
  ): Promise<"open" | "token" | "refused" | "unknown">;
  /** Whether the caller shows the token. */
  hasToken(head: RequestHead): Promise<boolean>;
}

/**
 * Makes what says who may make a call.
 *
 * @param origins those whose pages may call
 * @param token where the operator's token is; it is read at each use
 */
export function createCallerRights(
  { origins, token }: { readonly origins: readonly string[] | "*"; readonly token: TokenPlace },
): CallerRights {
  const rightOf: CallerRights["rightOf"] = async (head, decision) => {
    if (decision.right !== "token") return decision.right;
    const known = await readToken(token);
    if ("reason" in known) return "unknown";
    return await hasToken(known.token, head.headers.get("authorization")) ? "token" : "refused";
  };
  const refuseWithoutToken = async (
    { head, query }: Caller,
    { operation, decision }: Decided,
  ): Promise<Answer | undefined> => {
    if (hasTokenInQuery(query)) return tokenInQuery();
    const right = await rightOf(head, decision);
    if (right === "unknown") return tokenUnknown();
    return right === "token" ? undefined : wantsToken(operation.name);
  };
  return {
    rightOf,
    hasToken: async (head) =>
      head.headers.has("authorization") &&
      await rightOf(head, { right: "token" }) === "token",
    mayCall: ({ head }, right) =>
      isAllowedCaller(head, origins === "*" && right !== "open" ? [] : origins),
    refuse(caller, decided) {
      const { operation, decision } = decided;
      if (decision.right === "refused") return notAllowed(operation.name, decision.reason);
      return decision.right === "open" ? undefined : refuseWithoutToken(caller, decided);
    },
  };
}
