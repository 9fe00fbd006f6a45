/**
 * Operations of a host's own.
 *
 * @module
 */
import type { Cors } from "../http/cors.ts";
import type { Extended, OperationObject } from "./openapi-types.ts";

/** An operation of a host's own. */
export interface Operation<Path extends string = string> {
  /** HEAD is answered where GET is. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path as OpenAPI writes it: `/v1/peers/{id}`. */
  path: Path;
  /** The OpenAPI operation object. */
  operation: Extended<OperationObject>;
  /**
   * The origins whose pages may call it; `"*"` for any, `[]` for none. Pages of other origins cannot read
   * its answers, and are refused with 403 where the method is not GET.
   *
   * @default the origins that `cors` of the service lists; none where that is `"*"`
   */
  cors?: Cors | undefined;
  /**
   * Answers a request to it. HEAD comes here where the method is GET, and has its body left out.
   * An answer that says nothing for more than twelve seconds may be cut by the server.
   *
   * @param request as the server gave it
   * @param params what stands in place of the names in the path, decoded
   * @param context what the host gave to `fetch` after the request, such as `env` and `ctx` of a worker; the
   * `IncomingMessage` where `listener` is mounted
   * @throws {Response} is the answer, such as that of `problem`; anything else is answered with 500
   */
  handle(
    request: Request,
    params: PathParameters<Path>,
    ...context: unknown[]
  ): Response | Promise<Response>;
}

/** What stands in place of the names in a path: `{ id: string }` for `/v1/peers/{id}`. */
export type PathParameters<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in PathName<Path>]: string };

/** The names in a path: `"id"` for `/v1/peers/{id}`. */
export type PathName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathName<Rest>
  : never;

/** Gives an operation as it is, with `params` typed by its path. */
export function defineOperation<const Path extends string>(
  operation: Operation<Path>,
): Operation<Path> {
  return operation;
}
