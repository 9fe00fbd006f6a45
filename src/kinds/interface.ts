/**
 * What a kind of node offers to be called: a part of an OpenRPC document where it speaks JSON-RPC, a part of
 * an OpenAPI document where it speaks REST, and the marks of both. It is data of the kind's file;
 * `src/settings/kind-interface.ts` checks it.
 *
 * @module
 */

import type { OperationMarks } from "./marks.ts";

/** A JSON Schema (2020-12); references lead to `#/components/schemas/…` of the same part. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A parameter or the result of a method (OpenRPC: Content Descriptor). */
export interface ContentDescriptor {
  readonly name: string;
  readonly summary?: string | undefined;
  /** @default false */
  readonly required?: boolean | undefined;
  readonly schema: JsonSchema;
}

/** A value with a name. */
export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** A call and its response, recorded from a real node (OpenRPC: Example Pairing). */
export interface MethodExample {
  readonly name: string;
  readonly params: readonly NamedValue[];
  readonly result: NamedValue;
}

/** How a method takes its parameters. */
export type ParamStructure = "by-name" | "by-position" | "either";

/** A method of JSON-RPC. */
export interface Method extends OperationMarks {
  /** As the node has it. */
  readonly name: string;
  /** One line. */
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tags?: readonly { readonly name: string }[] | undefined;
  /** @default "either" */
  readonly paramStructure?: ParamStructure | undefined;
  /** In the order of their positions. */
  readonly params: readonly ContentDescriptor[];
  readonly result: Omit<ContentDescriptor, "required">;
  readonly examples?: readonly MethodExample[] | undefined;
  readonly deprecated?: boolean | undefined;
}

/** The part of an OpenRPC 1.3 document that a kind has. */
export interface OpenRpcPart {
  /** Where calls are posted to, below the node's URL. @default the node's URL itself */
  readonly path?: string | undefined;
  readonly methods: readonly Method[];
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> } | undefined;
}

/** An operation of REST: an Operation Object of OpenAPI 3.1 with marks. */
export interface RestOperation extends OperationMarks {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly parameters?: readonly JsonSchema[] | undefined;
  readonly requestBody?: JsonSchema | undefined;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly deprecated?: boolean | undefined;
}

/** The part of an OpenAPI 3.1 document that a kind has. */
export interface OpenApiPart {
  /** Path items by their template, below the node's URL and the base path. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly tags?:
    | readonly { readonly name: string; readonly description?: string | undefined }[]
    | undefined;
  /** At most one, with nothing but the path that all the others begin with. */
  readonly servers?: readonly { readonly url: string }[] | undefined;
}

/** What a kind offers; both where its nodes speak both. */
export interface KindInterface {
  openrpc?: OpenRpcPart;
  openapi?: OpenApiPart;
}
