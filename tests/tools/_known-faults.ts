/**
 * Pairs of a tool and a document that fail because one of the two has a known fault. The tests
 * report known faults that no longer occur.
 */

export interface KnownFault {
  tool: string;
  documents: readonly string[];
  of: "tool" | "document";
  why: string;
  /**
   * A link to a bug report. If absent, the test checks that the tool also fails on the original
   * document.
   */
  evidence?: string;
  isEndless?: true;
}

const METHODS_OF_3_2 = "omits query or additionalOperations of OpenAPI 3.2";

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    tool: "swagger-parser",
    documents: ["new 3.2"],
    of: "tool",
    why: "supports OpenAPI only up to 3.1",
  },
  {
    tool: "swagger-parser",
    documents: ["Ergo 3.0"],
    of: "tool",
    why: "rejects members beside $ref, which OpenAPI 3.0 ignores",
  },
  ...["prism mock", "openapi-typescript", "swagger-typescript-api", "hey-api", "orval", "kubb"].map(
    (tool) => ({ tool, documents: ["new 3.2"], of: "tool" as const, why: METHODS_OF_3_2 }),
  ),
  {
    tool: "prism mock",
    documents: ["Stripe 3.0"],
    of: "tool",
    why: "is not ready after several minutes",
    isEndless: true,
  },
  {
    tool: "hey-api",
    documents: ["Stripe 3.0"],
    of: "tool",
    why: "has no type for an array with the style deepObject",
  },
  {
    tool: "orval",
    documents: ["Stripe 3.0"],
    of: "tool",
    why: "appends objects to URLSearchParams",
  },
  {
    tool: "prism mock",
    documents: ["Amazon EC2 3.0"],
    of: "document",
    why: "has paths with a fragment, which requests cannot contain",
  },
  {
    tool: "orval",
    documents: ["Amazon EC2 3.0"],
    of: "tool",
    why: "uses the XML text as if it were the parsed object",
  },
  {
    tool: "orval",
    documents: ["Docker 3.0"],
    of: "tool",
    why: "writes TypeScript that cannot be parsed",
  },
  {
    tool: "orval",
    documents: ["Discourse 3.1", "ReadMe 3.1"],
    of: "tool",
    why: "appends values that may be undefined or null to FormData",
  },
  {
    tool: "kubb",
    documents: ["Discourse 3.1"],
    of: "tool",
    why: "stops at an array without items: Cannot read properties of undefined (reading 'items')",
  },
  ...["Scalar's parser", "orval"].map((tool) => ({
    tool,
    documents: ["Kubernetes 2.0"],
    of: "tool" as const,
    why: "mistakes a property that is named $ref for a reference",
  })),
  {
    tool: "orval",
    documents: ["GitHub 3.0"],
    of: "tool",
    why: "mistakes a schema that is named Blob for the global Blob type",
  },
  {
    tool: "spectral",
    documents: ["GitHub 3.0"],
    of: "document",
    why: "has two paths that differ only in the name of their parameter",
  },
  {
    tool: "redocly lint",
    documents: ["Discourse 3.1"],
    of: "document",
    why: "has values in place of schemas",
  },
  {
    tool: "redocly lint",
    documents: ["ReadMe 3.1"],
    of: "document",
    why: "uses nullable, which is in OpenAPI 3.0 but not in 3.1",
  },
  {
    tool: "orval",
    documents: ["kind beacon", "kind bee", "kind stacks"],
    of: "tool",
    why: "passes an object to fetch unchanged if the body may also be bytes",
    evidence: "https://github.com/orval-labs/orval/pull/3804",
  },
  {
    tool: "kubb",
    documents: ["kind beacon", "kind bee"],
    of: "tool",
    why: "accepts only strings as headers, whatever the type of the parameter",
    evidence:
      "https://github.com/kubb-labs/kubb/blob/a18b1db/packages/plugin-client/src/clients/fetch.ts",
  },
];
