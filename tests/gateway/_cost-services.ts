/**
 * The configurations of the attacked services. Each service knows the hostile node in another way.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../release/_folder.ts";
import type { KindService, Service } from "./_cost-attacks.ts";
import { EXPRESSIONS } from "./_cost-contents.ts";

const folder = makeFolder();
let files = 0;

function write(name: string, content: unknown): string {
  const path = join(folder, `${files++}-${name}`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** Writes a configuration, and returns the path of the file. */
export function configure(port: number, service: Service): string {
  const url = `http://127.0.0.1:${port}`;
  const forward = { open: ["reads"], timeout: "12s" };
  const common = { metrics: true, log_calls: "off" };
  const { sort } = service;
  if (sort === "description") {
    const description = `${url}/held/${service.file}`;
    return write("config.json", { ...common, description, node: { url, kind: "none" } });
  }
  if (sort === "JSON-RPC" || sort === "REST") {
    const description = write("description.json", sort === "REST" ? REST : OPENRPC);
    return write("config.json", { ...common, description, forward, node: { url, kind: "none" } });
  }
  const place = { url, timeout: "10s", ...sort !== "detect" && { kind: "hostile" } };
  const kinds = [{ name: "hostile", ...KIND, ...kindFor(service) }];
  return write("config.json", { ...common, kinds, node: place });
}

const KIND = {
  title: "A hostile node",
  url: "http://127.0.0.1:1",
  detect: { "status#/isHere": "^true$" },
  sources: { status: { get: "/held/status-ones_1" } },
  fields: {},
  health: { ok: "it responds" },
};

function kindFor(service: KindService): Readonly<Record<string, unknown>> {
  const sources = (path: string) => ({ status: { get: `/held/${path}` } });
  const version = (match: string) => ({ version: { from: "status#/x", as: { match } } });
  switch (service.sort) {
    case "field": {
      const [expression] = EXPRESSIONS[service.expression]!;
      return { sources: sources(service.expression), fields: version(expression) };
    }
    case "detect": {
      const [expression] = EXPRESSIONS[service.expression]!;
      return { sources: sources(service.expression), detect: { "status#/x": expression } };
    }
    case "status":
      return { sources: sources(`status-${service.shape}_1000`), fields: version("^x$") };
    case "listing":
      return {
        listing: { jsonrpc: "text_900", path: "/held/rpc", names: String.raw`(\w+)!` },
        openrpc: { methods: [{ ...method("ones_1"), summary: "Do it" }] },
      };
    case "tree":
      return {
        listing: { post: "/held/tree", tree: { name: "Name", children: "Subcommands" } },
        openapi: { paths: { "/a": { get: { ...read, operationId: "a", summary: "Do it" } } } },
      };
  }
}

function method(name: string, params: readonly object[] = []) {
  return { name, params, result: { name: "result", schema: {} }, "x-access": "read" };
}

const SHAPES = ["keys", "ones", "arrays", "objects", "escapes", "text", "logs", "fractions"];

const OPENRPC = {
  openrpc: "1.3.2",
  info: { title: "A hostile node", version: "1" },
  methods: [
    ...SHAPES.flatMap((shape) => [method(`${shape}_1`), method(`${shape}_30000`)]),
    ...["keys_30000.error", "logs_30000.error", "text_30000.message"].map((name) => method(name)),
    ...["keys_7000", "keys_9000"].map((name) => method(name)),
    method("named", [{ name: "name", schema: { type: "string" } }]),
  ],
};

const responses = { 200: { description: "Done" } };
const read = { "x-access": "read", responses };
const inPath = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
const list = { name: "n", in: "query", schema: { type: "array", items: {} } };
const body = { content: { "application/json": { schema: {} } } };

const LETTERS = [..."abcdefghijkl"];
/** The number of templates, in addition to those that requests match. */
const TEMPLATES = 500;

const REST = {
  openapi: "3.1.1",
  info: { title: "A hostile node", version: "1" },
  paths: {
    "/shaped/{name}": { parameters: [inPath("name")], get: read },
    "/interim": { get: read },
    "/posted": { post: { ...read, requestBody: body } },
    "/queried": { get: { ...read, parameters: [list] } },
    [`/t/${LETTERS.map((name) => `{${name}}`).join("-")}/x`]: {
      ...{ parameters: LETTERS.map(inPath), get: read },
    },
    ...Object.fromEntries(
      Array.from({ length: TEMPLATES }, (_, at) => {
        const path = `/t/{a}/${"t/".repeat(at % 10)}x${at}`;
        return [path, { parameters: [inPath("a")], get: read }];
      }),
    ),
  },
};
