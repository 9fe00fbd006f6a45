/**
 * What a kind of node offers to be called: a part of an OpenRPC document where it speaks JSON-RPC, a part of
 * an OpenAPI document where it speaks REST, and the marks of both. It is data of the kind's file;
 * `src/settings/interface.ts` checks it.
 *
 * @module
 */

/** What calling an operation may do. */
export type Access = "read" | "write" | "secret";

/** What is said of an operation beyond the standards. */
export interface OperationMarks {
  "x-access": Access;
  "x-cost"?: "heavy";
  "x-streaming"?: true;
  "x-since"?: string;
  "x-software"?: readonly string[];
  "x-common"?: true;
}

/** One mark, for documents and messages. */
export interface Mark {
  /** What it stands at. */
  readonly on: "operation" | "parameter";
  /** What it may be, as it is written. */
  readonly value: string;
  /** What it says: sentences without a period at the end. */
  readonly text: string;
}

/** What the marks are called. */
export type MarkName = keyof OperationMarks | "x-spans" | "x-position";

/** The marks, by name: `docs/kinds.md` and the schema of a kind have their texts from here. */
export const MARKS: Readonly<Record<MarkName, Mark>> = {
  "x-access": {
    on: "operation",
    value: "`read`, `write` or `secret`",
    text:
      "What calling it may do; every operation needs it, and nothing else decides, neither the " +
      "verb nor the name. read changes nothing and shows what anybody may see. secret changes nothing " +
      "and shows what is private: balances and keys of a wallet, addresses of peers, configuration, " +
      "logs. write is all else, and what may do either by its parameters. A method that holds the " +
      "node up for everybody is no read",
  },
  "x-cost": {
    on: "operation",
    value: "`heavy`",
    text: "It may keep a node busy for seconds, or answer with megabytes: one at a time",
  },
  "x-streaming": {
    on: "operation",
    value: "`true`",
    text: "Its answer does not end, or comes when something happens: shown, never forwarded",
  },
  "x-since": {
    on: "operation",
    value: 'a version, as in `"0.19"`',
    text: "The first version of the node that has it; those without it had it before",
  },
  "x-software": {
    on: "operation",
    value: "names in lower case, as in `[mastodon]`",
    text:
      "The software that has it, where the nodes of a kind run different software; those without it " +
      "are had by all. It is left out where the node does not say its software",
  },
  "x-common": {
    on: "operation",
    value: "`true`",
    text: "What a client developer uses in the first hour: shown before the others",
  },
  "x-spans": {
    on: "parameter",
    value: "`true`",
    text: "A parameter of the path that may hold slashes",
  },
  "x-position": {
    on: "parameter",
    value: "a whole number from 0",
    text: "Where a parameter stands in a call by position. The service writes it; in a kind the " +
      "order of `params` says it",
  },
};

/** A JSON Schema (2020-12); references lead to `#/components/schemas/…` of the same part. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A parameter or the result of a method (OpenRPC: Content Descriptor). */
export interface ContentDescriptor {
  readonly name: string;
  readonly summary?: string;
  /** @default false */
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** A value with a name. */
export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** A call and its answer, recorded from a real node (OpenRPC: Example Pairing). */
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
  readonly description?: string;
  readonly tags?: readonly { readonly name: string }[];
  /** @default "either" */
  readonly paramStructure?: ParamStructure;
  /** In the order of their positions. */
  readonly params: readonly ContentDescriptor[];
  readonly result: Omit<ContentDescriptor, "required">;
  readonly examples?: readonly MethodExample[];
  readonly deprecated?: boolean;
}

/** The part of an OpenRPC 1.3 document that a kind has. */
export interface OpenRpcPart {
  /** Where calls are posted to, below the node's URL. @default the node's URL itself */
  readonly path?: string;
  readonly methods: readonly Method[];
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

/** An operation of REST: an Operation Object of OpenAPI 3.1 with marks. */
export interface RestOperation extends OperationMarks {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly deprecated?: boolean;
}

/** The part of an OpenAPI 3.1 document that a kind has. */
export interface OpenApiPart {
  /** Path items by their template, below the node's URL and the base path. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  /** At most one, with nothing but the path that all the others begin with. */
  readonly servers?: readonly { readonly url: string }[];
}

/** What a kind offers; both where its nodes speak both. */
export interface KindInterface {
  openrpc?: OpenRpcPart;
  openapi?: OpenApiPart;
}
