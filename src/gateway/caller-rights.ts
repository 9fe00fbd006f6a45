/**
 * Who may make a call: here one call meets what `decide-operations.ts` has decided of its operation.
 *
 * @module
 */
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
  readonly request: Request;
  /** Without `?`. */
  readonly query: string;
}

/** Says who may make a call. */
export interface CallerRights {
  /** Whether the caller is no page of another origin. */
  mayCall(caller: Pick<Caller, "request">, right: Decision["right"]): boolean;
  /** Why a caller is refused; `undefined` where he is not. */
  refuse(caller: Caller, decided: Decided): Promise<Response | undefined>;
  /** What the caller may do: what is open, or what the token opens; `unknown` where it cannot be read. */
  rightOf(
    request: Request,
    decision: Pick<Decision, "right">,
  ): Promise<"open" | "token" | "refused" | "unknown">;
  /** Whether the caller shows the token. */
  hasToken(request: Request): Promise<boolean>;
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
  const rightOf: CallerRights["rightOf"] = async (request, decision) => {
    if (decision.right !== "token") return decision.right;
    const known = await readToken(token);
    if ("reason" in known) return "unknown";
    return await hasToken(known.token, request.headers.get("authorization")) ? "token" : "refused";
  };
  const refuseWithoutToken = async (
    { request, query }: Caller,
    { operation, decision }: Decided,
  ): Promise<Response | undefined> => {
    if (hasTokenInQuery(query)) return tokenInQuery();
    const right = await rightOf(request, decision);
    if (right === "unknown") return tokenUnknown();
    return right === "token" ? undefined : wantsToken(operation.name);
  };
  return {
    rightOf,
    hasToken: async (request) =>
      request.headers.has("authorization") &&
      await rightOf(request, { right: "token" }) === "token",
    mayCall: ({ request }, right) =>
      isAllowedCaller(request, origins === "*" && right !== "open" ? [] : origins),
    async refuse(caller, decided) {
      const { operation, decision } = decided;
      if (decision.right === "refused") return notAllowed(operation.name, decision.reason);
      return decision.right === "open" ? undefined : await refuseWithoutToken(caller, decided);
    },
  };
}
