/** The attacks whose costs are measured, each with the service that it attacks and its budget. */
import {
  type Act,
  ask,
  type Asked,
  askForMany,
  headOf,
  listen,
  pipeline,
} from "./_cost-clients.ts";
import { MB, SHAPES } from "./_cost-contents.ts";

/**
 * The attacked service. The service knows the node from a file, from a description by HTTP, or from
 * a kind.
 */
export type Service =
  | { readonly sort: "JSON-RPC" }
  | { readonly sort: "REST" }
  | { readonly sort: "description"; readonly file: string }
  | KindService;

export type KindService =
  | { readonly sort: "field" | "detect"; readonly expression: string }
  | { readonly sort: "status"; readonly shape: string }
  | { readonly sort: "listing" }
  | { readonly sort: "tree" };

/** Processor time in seconds, memory in MB. */
export interface Budget {
  readonly cpu: number;
  readonly memory: number;
}

export interface Attack {
  readonly name: string;
  readonly service: Service;
  readonly budget: Budget;
  /** Without `act`, the attack begins as soon as the node responds. */
  readonly act?: Act;
}

/** No megabyte of a request or of a status may cost more. */
const perMegabyte = (megabytes: number): Budget => ({
  cpu: Math.max(1, megabytes),
  memory: Math.max(100, 100 * megabytes),
});

/** No 30 MB of a node's response may cost more. */
const perResponse = (megabytes: number): Budget => ({
  cpu: Math.max(1.5, megabytes / 20),
  memory: Math.max(200, 200 * megabytes / 30),
});

/**
 * Describing many operations costs more than their bytes suggest, also honestly: a page is
 * rendered, two documents are written and compressed. It is done in slices, so that nobody waits.
 */
const perDescription = (megabytes: number): Budget => ({
  cpu: Math.max(1.5, 3 * megabytes),
  // The YAML library keeps every token of a part.
  memory: Math.max(150, 250 * megabytes),
});

/** For many small requests, which need no memory. */
const perRequests = (megabytes: number): Budget => ({ ...perMegabyte(megabytes), memory: 100 });

const RPC: Service = { sort: "JSON-RPC" }, REST: Service = { sort: "REST" };

const asks = (asked: () => readonly Asked[]): Act => (url) => ask(url, asked());
const callOf = (method: string, params = "[]", id = 1) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const call = (method: string, params?: string): Asked => ({
  path: "/v1/rpc",
  body: callOf(method, params),
});
const batch = (count: number, methodOf: (at: number) => string): Asked => ({
  path: "/v1/rpc",
  body: `[${Array.from({ length: count }, (_, at) => callOf(methodOf(at), "[]", at))}]`,
});
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

const PIPELINED = 22_000;

const pipelines = ([
  ["/v1/ready", 1, false],
  ["/v1/ready", 4, false],
  ["/v1/ready", 4, true],
  ["/spec.json", 1, false],
  ["/spec.json", 4, false],
  ["/v1/rpc/eth_nope", 1, false],
  ["/v1/rpc/eth_nope", 4, false],
  ["/v1/rpc/eth_nope", 4, true],
] as const).map(([path, connections, reads]): Attack => ({
  name: `22,000 pipelined GET ${path} x${connections}, ${reads ? "read" : "unread"}`,
  service: RPC,
  budget: perRequests(connections * PIPELINED * headOf(path).length / MB),
  act: (url) => pipeline(url, path, PIPELINED, connections, reads),
}));

const METHODS = [
  ...["keys", "ones", "arrays", "objects", "escapes", "text", "logs", "fractions"],
  ...["keys.error", "logs.error", "text.message"],
];

const responses = [
  ...METHODS.map((method) => {
    const [shape, part = "result"] = method.split(".");
    const asked = call(method.replace(shape!, `${shape}_30000`));
    return [`${part} of 30 MB: ${shape}`, 30, RPC, [asked]] as const;
  }),
  ["result of 30 MB for GET: keys", 30, RPC, [{ path: "/v1/rpc/keys_30000" }]],
  ["result of 30 MB for GET: logs", 30, RPC, [{ path: "/v1/rpc/logs_30000" }]],
  ["REST response of 30 MB: keys", 30, REST, [{ path: "/v1/node/shaped/keys_30000" }]],
  ["REST response of 30 MB: logs", 30, REST, [{ path: "/v1/node/shaped/logs_30000" }]],
  ["8 results of 9 MB: keys", 72, RPC, times(8, call("keys_9000"))],
  ["batch of 4 results of 7 MB: keys", 28, RPC, [batch(4, () => "keys_7000")]],
  ["endless 1xx for 12 s x1", 1, REST, [{ path: "/v1/node/interim" }]],
  ["endless 1xx for 12 s x8", 1, REST, times(8, { path: "/v1/node/interim" })],
] as const;

/** A megabyte of each shape, as parameters, batch and content. */
const BODIES = [
  ...["keys", "ones", "arrays", "objects", "escapes", "text", "spaces", "numbers", "digits"],
];
const bodyOf = (shape: string) => SHAPES[shape]!(0.95 * MB);

const bodies = BODIES.map((shape): Attack => ({
  name: `params, batch and content of 1 MB: ${shape}`,
  service: RPC,
  budget: perMegabyte(3),
  act: asks(() => {
    const body = bodyOf(shape);
    const params = /^[[{]/.test(body) ? body : `[${body}]`;
    return [call("ones_1", params), { path: "/v1/rpc", body }, { path: "/v1/rpc/named", body }];
  }),
}));

/** 64 requests with a head of 15 kB are a megabyte. */
const HEADS = 64, FIELD_LENGTH = 15_000, TARGET_LENGTH = 7900;

const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));
const fields = ([
  ["Accept-Encoding", "gzip;q=0.5,", "/spec.json"],
  ["Accept-Encoding", ",", "/spec.json"],
  ["Accept", "a/b;q=0.1,", "/"],
  ["If-None-Match", '"a",', "/spec.json"],
  ["If-None-Match", '"', "/spec.json"],
  ["If-None-Match", "W/", "/spec.json"],
  ["Cookie", "a=b;", "/v1/events"],
  ["Authorization", "Bearer ", "/v1/rpc/named"],
  ["Last-Event-ID", "1", "/v1/events"],
  ["Origin", "http://a.", "/v1/events"],
  ["Content-Type", "a/b;", "/v1/rpc"],
] as const).map(([name, unit, path]) => ({ path, headers: { [name]: fill(unit, FIELD_LENGTH) } }));

const targetsOf = (rows: readonly (readonly [start: string, unit: string])[]) =>
  rows.map(([start, unit]) => ({ path: start + fill(unit, TARGET_LENGTH) }));
const targets = targetsOf([
  ["/v1/node/", "a/"],
  ["/v1/node/", "%2F"],
  ["/v1/node/", "../"],
  ["/", "/"],
  ["/v1/rpc/", "%41"],
  ["/v1/rpc/named?", "a=1&"],
  ["/v1/rpc/named?", "name=1&"],
  ["/v1/health?accept=", "ok,"],
  ["/v1/events?events=", "info,"],
  ["/v1/history?", "a=1&"],
]);
const targetsOfRest = targetsOf([
  ["/v1/node/t/", "a-"],
  ["/v1/node/", "t/"],
  ["/v1/node/queried?", "n=1&"],
  ["/v1/node/queried?n=", "%31"],
]);
/** Forms whose names cost much to read. */
const FORMS = [
  ...["%&", "&", "%5f", "%26", "& "].map((unit) => [unit, "application/x-www-form-urlencoded"]),
  ["name=%;", "multipart/form-data; boundary=x"],
].map(([unit, type]) => ({
  path: "/v1/node/posted",
  headers: { "content-type": type! },
  body: `content-disposition: ${fill(unit!, 0.95 * MB)}`,
}));
const each = (asked: readonly Asked[]) => () => asked.flatMap((one) => times(HEADS, one));

/** Descriptions, with their megabytes. */
const descriptions = ([
  ["lists.yaml", 0.03],
  ["texts.yaml", 0.03],
  ["nested-lists.yaml", 0.001],
  ["schemas.yaml", 0.01],
  ["operations-62kB.json", 0.06],
  ["short-operations-22kB.json", 0.03],
  ["slashes-25kB.json", 0.03],
  ["servers-30kB.yaml", 0.03],
  ["all-of-60kB.json", 0.06],
  ["all-of-150kB.json", 0.15],
  ["inherited-62kB.json", 0.06],
  ["unknown-members-62kB.json", 0.06],
  ["long-default-62kB.json", 0.06],
  ["operations-1MB.json", 1],
  ["tags-0.5MB.json", 0.5],
  ["honest-1MB.json", 1],
  ["honest-1MB.yaml", 1],
  ["bomb.json", 1.5],
] as const).map(([file, megabytes]): Attack => ({
  name: `description ${file}`,
  service: { sort: "description", file },
  budget: perDescription(megabytes),
}));

const ofKinds = ([
  ...["words", "alternatives", "cubic", "quartic"].map((expression) =>
    [`expression of a field: ${expression}`, { sort: "field", expression }] as const
  ),
  ["expression that detects: words", { sort: "detect", expression: "words" }],
  ["expression of a listing over 0.9 MB", { sort: "listing" }],
  ["tree of 0.9 MB of commands", { sort: "tree" }],
  ...["keys", "arrays", "escapes", "numbers", "fractions"].map((shape) =>
    [`status of the node of 1 MB: ${shape}`, { sort: "status", shape }] as const
  ),
] as const).map(([name, service]): Attack => ({ name, service, budget: perMegabyte(1) }));

export const ATTACKS: readonly Attack[] = [
  ...pipelines,
  {
    name: "300 pipelined GET /v1/events",
    service: RPC,
    budget: perRequests(0.1),
    act: (url) => listen(url, 300),
  },
  ...responses.map(([name, megabytes, service, asked]): Attack => ({
    ...{ name, service, budget: perResponse(megabytes), act: asks(() => asked) },
  })),
  ...descriptions,
  ...ofKinds,
  ...bodies,
  {
    name: "content of 1 MB for REST, in 9 shapes",
    service: REST,
    budget: perMegabyte(9),
    act: asks(() => BODIES.map((shape) => ({ path: "/v1/node/posted", body: bodyOf(shape) }))),
  },
  {
    name: `forms of 1 MB for REST, in ${FORMS.length} shapes`,
    service: REST,
    budget: perMegabyte(FORMS.length),
    act: asks(() => FORMS),
  },
  {
    name: "batch of 10,000 unknown methods",
    service: RPC,
    budget: perMegabyte(1),
    act: asks(() => [batch(10_000, () => "eth_nope")]),
  },
  {
    name: "16 batches of 100 methods, of which 99 are unknown",
    service: RPC,
    budget: perMegabyte(0.1),
    act: asks(() => times(16, batch(100, (at) => at === 0 ? "ones_1" : "eth_nope"))),
  },
  {
    name: "64 x 15 kB of each of 11 header fields",
    service: RPC,
    budget: perRequests(11),
    act: asks(each(fields)),
  },
  {
    name: "64 x 8 kB of each of 10 paths and queries",
    service: RPC,
    budget: perRequests(5),
    act: asks(each(targets)),
  },
  {
    name: "64 x 8 kB of each of 4 paths and queries, 500 templates",
    service: REST,
    budget: perRequests(2),
    act: asks(each(targetsOfRest)),
  },
  {
    name: "5,000 methods that do not exist",
    service: RPC,
    // As much as 5,000 requests for /v1/ready cost, most of it before the code is compiled.
    budget: perRequests(2.5),
    act: (url) => askForMany(url, 5000),
  },
];
