/**
 * Contents that cost much to read: JSON of many shapes, descriptions, and regular expressions with
 * their texts.
 */
import { constants, deflateRawSync } from "node:zlib";

export const MB = 1_000_000;

const list = (
  item: (at: number) => string,
  bytes: number,
  open = "[",
  close = "]",
) => {
  const items: string[] = [];
  for (
    let at = 0, length = 0;
    length < bytes - 2;
    length += items[at]!.length + 1, at++
  ) {
    items.push(item(at));
  }
  return open + items.join(",") + close;
};

/** Repeats one item, which is faster than `list`. */
const same = (item: string, bytes: number, open = "[", close = "]") =>
  `${open}${`${item},`.repeat(bytes / (item.length + 1) - 1)}${item}${close}`;

const log = (at: number) =>
  JSON.stringify({
    address: "0xdac17f958d2ee523a2206206994597c13d831ec7",
    topics: [
      `0x${"d".repeat(64)}`,
      `0x${"0".repeat(64)}`,
      `0x${at.toString(16).padStart(64, "0")}`,
    ],
    data: `0x${at.toString(16).padStart(64, "0")}`,
    blockNumber: "0x12f5a3c",
    transactionHash: `0x${"a".repeat(64)}`,
    transactionIndex: "0x1f",
    logIndex: `0x${at.toString(16)}`,
    removed: false,
  });

/** JSON values of about `bytes` bytes. */
export const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  keys: (bytes) => list((at) => `"k${at}":1`, bytes, "{", "}"),
  ones: (bytes) => same("1", bytes),
  arrays: (bytes) => same("[[[[[[[[]]]]]]]]", bytes),
  objects: (bytes) => same('{"a":{"b":1}}', bytes),
  twins: (bytes) => same('"a":1', bytes, "{", "}"),
  deep: (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
  escapes: (bytes) => `"${String.raw`\u0061`.repeat(bytes / 6)}"`,
  text: (bytes) => `"${"a".repeat(bytes)}"`,
  spaces: (bytes) => `[${" ".repeat(bytes)}]`,
  digits: (bytes) => "9".repeat(bytes),
  numbers: (bytes) => same("9".repeat(300), bytes),
  fractions: (bytes) => same(`0.${"1".repeat(30)}e-9`, bytes),
  logs: (bytes) => list(log, bytes),
};

const operation = (at: number) =>
  `"/p${at}":{"get":{"operationId":"o${at}","responses":{"200":{"description":""}}}}`;

const INFO = 'openapi: "3.1.1"\ninfo: { title: A node, version: "1" }\n';
const JSON_INFO = '"openapi":"3.1.1","info":{"title":"A node","version":"1"}';
const HONEST = {
  summary: "Get an account",
  description: "Returns the account with its balance and the number of its transactions.",
  parameters: [{
    name: "id",
    in: "path",
    required: true,
    schema: { type: "string" },
  }, {
    name: "block",
    in: "query",
    description: "The height of a block. By default, it is the latest block that is final.",
    schema: { type: "integer", minimum: 0 },
  }],
  responses: {
    404: {
      description: "There is no such account",
      content: {
        "application/json": {
          schema: { type: "object", properties: { error: { type: "string" } } },
        },
      },
    },
    200: {
      description: "The account",
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["balance"],
            properties: {
              balance: { type: "string" },
              count: { type: "integer", minimum: 0 },
              names: { type: "array", items: { type: "string" } },
            },
          },
        },
      },
    },
  },
};
const honest = (bytes: number) => {
  const count = Math.floor(bytes / (JSON.stringify(HONEST).length + 30));
  const paths = Array.from(
    { length: count },
    (_, at) => [`/accounts${at}/{id}`, { get: HONEST }],
  );
  return {
    openapi: "3.1.1",
    info: { title: "A node", version: "1" },
    paths: Object.fromEntries(paths),
  };
};

/** The YAML of one value, indented by `before`. */
function yamlOf(value: unknown, before: string): string {
  if (typeof value !== "object" || value === null) {
    return ` ${JSON.stringify(value)}`;
  }
  if (Array.isArray(value)) {
    return value.map((item) => `${before}-${yamlOf(item, `${before}  `)}`).join(
      "",
    );
  }
  return Object.entries(value)
    .map(([key, member]) => `${before}${JSON.stringify(key)}:${yamlOf(member, `${before}  `)}`)
    .join("");
}

/** A schema that joins another schema as often as that schema has properties. */
const allOf = (bytes: number) => {
  const members = list((at) => `"p${at}":{}`, bytes / 4, "{", "}");
  const parts = same('{"$ref":"#/components/schemas/A"}', bytes * 3 / 4);
  return `{${JSON_INFO},"paths":{"/p":{"get":{"parameters":[{"name":"a","in":"query","schema":` +
    `{"$ref":"#/components/schemas/B"}}]}}},"components":{"schemas":{"A":{"properties":` +
    `${members}},"B":{"allOf":${parts}}}}}`;
};

/** The JSON of a tree of commands whose names are long as paths. */
export const TREE = (): string =>
  `{"Name":"a","Subcommands":[{"Name":"${"b".repeat(20_000)}","Subcommands":${
    list((at) => `{"Name":"c${at}"}`, 900_000)
  }}]}`;

/** Descriptions, by file name. */
export const DESCRIPTIONS: Readonly<Record<string, () => string>> = {
  "tiny.json": () => `{${JSON_INFO},"paths":{}}`,
  "lists.yaml": () =>
    `${INFO}paths: {}\nx-a: &a [${"1,".repeat(97)}1]\nx-b: [${"*a,".repeat(9899)}*a]\n`,
  "texts.yaml": () =>
    `${INFO}paths: {}\nx-a: &a ${"a".repeat(3000)}\nx-b: [${"*a,".repeat(9899)}*a]\n`,
  "nested-lists.yaml": () => {
    const levels = [..."abcdef"].map((name, at) =>
      `x-${name}: &${name} [${at ? `*${"abcdef"[at - 1]},`.repeat(9) : "1,".repeat(9)}1]`
    );
    return `${INFO}paths: {}\n${levels.join("\n")}\n`;
  },
  "schemas.yaml": () => {
    const schema = "{ type: object, properties: { a: { type: string } } }";
    const paths = Array.from({ length: 900 }, (_, at) => `  /p${at}: *p`).slice(
      1,
    );
    return `${INFO}paths:\n  /p0: &p { get: { responses: { "200": { description: "", content: ` +
      `{ application/json: { schema: ${schema} } } } } } }\n${paths.join("\n")}\n`;
  },
  "operations-62kB.json": () => `{${JSON_INFO},"paths":${list(operation, 62_000, "{", "}")}}`,
  "short-operations-22kB.json": () =>
    `{${JSON_INFO},"paths":${list((at) => `"/${at}":{"get":{}}`, 22_000, "{", "}")}}`,
  "slashes-25kB.json": () =>
    `{${JSON_INFO},"servers":[{"url":"http://127.0.0.1${"/".repeat(1000)}x"}],` +
    `"paths":${list((at) => `"/p${at}":{"get":{}}`, 23_500, "{", "}")}}`,
  "servers-30kB.yaml": () => {
    const variables = [..."abcdef"].map((name) => `${name}: { default: "1", enum: ["1", "2"] }`);
    return `${INFO}paths: {}\nx-s: &s\n  url: http://h/${"x".repeat(1000)}{a}{b}{c}{d}{e}{f}\n` +
      `  variables: { ${variables.join(", ")} }\nservers: [${"*s,".repeat(8999)}*s]\n`;
  },
  "all-of-60kB.json": () => allOf(60_000),
  "all-of-150kB.json": () => allOf(150_000),
  "inherited-62kB.json": () => {
    const operations = list((at) => `"A${"B".repeat(at)}":{}`, 2000, "{", "}");
    const parameters = list((at) => `{"name":"p${at}","in":"query"}`, 58_000);
    return `{"openapi":"3.2.0","info":{"title":"A node","version":"1"},"paths":{"/p":{` +
      `"parameters":${parameters},"additionalOperations":${operations}}}}`;
  },
  "unknown-members-62kB.json": () =>
    `{${JSON_INFO},"paths":{},${list((at) => `"member${at}":1`, 61_000, "", "")}}`,
  "long-default-62kB.json": () =>
    `{${JSON_INFO},"paths":{},"servers":[{"url":"http://{a}/","variables":{"a":{"default":` +
    `"?${"://".repeat(20_000)}"}}}]}`,
  // The most operations that are described.
  "operations-1MB.json": () => {
    const described = (at: number) =>
      operation(at).replace('"description":""', `"description":"${"word ".repeat(150)}"`);
    return `{${JSON_INFO},"paths":${list(described, MB, "{", "}")}}`;
  },
  "tags-0.5MB.json": () => {
    const tags = JSON.stringify(Array.from({ length: 100 }, (_, at) => `t${at}`));
    const tagged = (at: number) => `"/p${at}":{"get":{"tags":${tags}}}`;
    return `{${JSON_INFO},"paths":${list(tagged, 0.5 * MB, "{", "}")}}`;
  },
  "honest-1MB.json": () => JSON.stringify(honest(MB)),
  "honest-1MB.yaml": () => yamlOf(honest(0.6 * MB), "\n"),
};

/**
 * A gzip stream that becomes 1.5 GB of spaces. Each block is compressed alone, so that it can be
 * repeated.
 */
export function bomb(): Buffer {
  const block = deflateRawSync(Buffer.alloc(32 * MB, " "), {
    finishFlush: constants.Z_FULL_FLUSH,
  });
  const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  return Buffer.concat([head, ...Array.from({ length: 48 }, () => block)]);
}

/** Regular expressions of a kind's file, each with a text of the node that takes long to match. */
export const EXPRESSIONS: Readonly<
  Record<string, readonly [expression: string, text: string]>
> = {
  words: [String.raw`^(\w+\s?)*$`, `y${"a".repeat(54)}!`],
  alternatives: ["^(a|a)*$", `${"a".repeat(50)}!`],
  cubic: ["a*a*a*b", "a".repeat(1000)],
  quartic: [String.raw`^\w*\d*\w*\d*!$`, "1".repeat(1000)],
};
