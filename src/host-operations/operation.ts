/**
 * Operations that a host adds, and OpenAPI 3.1 types to describe them.
 *
 * @module
 */
import type { Cors } from "../http/common-headers.ts";

/** An operation that a host adds: see [Operations](../docs/operations.md). */
export interface Operation<Path extends string = string> {
  /** A GET operation also serves HEAD. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** An OpenAPI path template, such as `/v1/peers/{id}`. */
  path: Path;
  operation: Extended<OperationObject>;
  /**
   * The origins whose pages may call the operation; `"*"` for any, `[]` for none. Pages of other
   * origins get a 403.
   *
   * @default the origins in the `cors` option of the service, or none if the option is `"*"`
   */
  cors?: Cors | undefined;
  /**
   * Responds to a request. A GET operation also receives HEAD requests. The response may pause for
   * any time.
   *
   * @param params the parameters of the path, decoded
   * @param context further arguments that the host passed to `fetch`, such as a worker's `env` and
   * `ctx`; with `listener`, the `IncomingMessage`
   * @throws {Response} a response to send, such as one from `problem`; any other thrown value
   * becomes a 500
   */
  handle(
    request: Request,
    params: PathParameters<Path>,
    ...context: unknown[]
  ): Response | Promise<Response>;
}

/**
 * The type of a path's parameters.
 *
 * @example
 * ```ts
 * type Params = PathParameters<"/v1/peers/{id}">; // { readonly id: string }
 * ```
 */
export type PathParameters<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in PathName<Path>]: string };

/** The names of a path's parameters, such as `"id"` for `/v1/peers/{id}`. */
export type PathName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathName<Rest>
  : never;

/**
 * Returns the operation unchanged. The operation's path determines the type of `params`.
 *
 * @example
 * ```ts
 * const getPeer = defineOperation({
 *   method: "GET",
 *   path: "/v1/peers/{id}",
 *   operation: { summary: "Get a peer" },
 *   handle: (_request, { id }) => Response.json({ id }),
 * });
 * ```
 */
export function defineOperation<const Path extends string>(
  operation: Operation<Path>,
): Operation<Path> {
  return operation;
}

/**
 * A string for which editors suggest the values of `Known`. `createNodeface` rejects all other
 * values.
 */
export type Word<Known extends string> = Known | (string & Record<never, never>);

/** `T`, with or without `x-` keys. OpenAPI types of other packages may not declare such keys. */
export type Extended<T> = T | (T & { readonly [extension: `x-${string}`]: unknown });

/** A reference, such as `{ $ref: "#/components/schemas/Peer" }`. */
export interface ReferenceObject {
  readonly $ref: string;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
}

/** Objects or references, by name. */
export type NamedObjects<T> = Readonly<Record<string, Extended<T> | ReferenceObject>>;

/** An OpenAPI operation, without its path and method: see [Operations](../docs/operations.md). */
export interface OperationObject {
  readonly tags?: readonly string[] | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly externalDocs?: Extended<ExternalDocumentationObject> | undefined;
  readonly operationId?: string | undefined;
  /** Missing path parameters are added as strings. */
  readonly parameters?: readonly (Extended<ParameterObject> | ReferenceObject)[] | undefined;
  readonly requestBody?: Extended<RequestBodyObject> | ReferenceObject | undefined;
  /** The responses by status, such as `200`, `"4XX"` or `default`. */
  readonly responses?: NamedObjects<ResponseObject> | undefined;
  readonly callbacks?: Readonly<Record<string, object>> | undefined;
  readonly deprecated?: boolean | undefined;
  readonly security?: readonly SecurityRequirementObject[] | undefined;
  /** @default the service that serves the description */
  readonly servers?: readonly Extended<ServerObject>[] | undefined;
}

export interface ParameterObject extends HeaderObject {
  readonly name: string;
  readonly in: Word<"path" | "query" | "header" | "cookie">;
  readonly allowEmptyValue?: boolean | undefined;
  readonly allowReserved?: boolean | undefined;
}

export interface HeaderObject {
  readonly description?: string | undefined;
  /** Must be `true` for a path parameter. */
  readonly required?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly schema?: SchemaObject | undefined;
  readonly style?: string | undefined;
  readonly explode?: boolean | undefined;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, object>> | undefined;
  readonly content?: Readonly<Record<string, Extended<MediaTypeObject>>> | undefined;
}

export interface RequestBodyObject {
  readonly description?: string | undefined;
  readonly content: Readonly<Record<string, Extended<MediaTypeObject>>>;
  readonly required?: boolean | undefined;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: NamedObjects<HeaderObject> | undefined;
  readonly content?: Readonly<Record<string, Extended<MediaTypeObject>>> | undefined;
  readonly links?: Readonly<Record<string, object>> | undefined;
}

export interface MediaTypeObject {
  readonly schema?: SchemaObject | undefined;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, object>> | undefined;
  readonly encoding?: Readonly<Record<string, object>> | undefined;
}

/** A JSON Schema (draft 2020-12). */
export type SchemaObject = object | boolean;

/** Names of security schemes, each with the required scopes. */
export interface SecurityRequirementObject {
  readonly [scheme: string]: readonly string[];
}

export interface ServerObject {
  readonly url: string;
  readonly description?: string | undefined;
  readonly variables?: Readonly<Record<string, object>> | undefined;
}

export interface InfoObject {
  readonly title: string;
  /** The version of the described interface, not the version of OpenAPI. */
  readonly version: string;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly termsOfService?: string | undefined;
  readonly contact?: object | undefined;
  readonly license?: object | undefined;
}

export interface TagObject {
  readonly name: string;
  readonly description?: string | undefined;
  readonly externalDocs?: Extended<ExternalDocumentationObject> | undefined;
}

export interface ExternalDocumentationObject {
  readonly url: string;
  readonly description?: string | undefined;
}

export interface ComponentsObject {
  readonly schemas?: Readonly<Record<string, SchemaObject>> | undefined;
  readonly responses?: NamedObjects<ResponseObject> | undefined;
  readonly parameters?: NamedObjects<ParameterObject> | undefined;
  readonly examples?: Readonly<Record<string, object>> | undefined;
  readonly requestBodies?: NamedObjects<RequestBodyObject> | undefined;
  readonly headers?: NamedObjects<HeaderObject> | undefined;
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined;
  readonly links?: Readonly<Record<string, object>> | undefined;
  readonly callbacks?: Readonly<Record<string, object>> | undefined;
  readonly pathItems?: Readonly<Record<string, object>> | undefined;
}

/**
 * The parts of the description other than its operations: the option {@linkcode
 * NodefaceOptions.document}.
 */
export interface DocumentOptions {
  /** Replaces the title, version and texts of the description. */
  readonly info?: Extended<InfoObject> | undefined;
  /** Tags to insert before the other tags. */
  readonly tags?: readonly Extended<TagObject>[] | undefined;
  readonly externalDocs?: Extended<ExternalDocumentationObject> | undefined;
  readonly components?: Extended<ComponentsObject> | undefined;
}
