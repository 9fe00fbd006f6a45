import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type HostInfo, type NodefaceOptions } from "../src/index.ts";
import { BOUNDS, expose, Meters, Series } from "../src/metrics/metrics.ts";
import type { Info } from "../src/info/info.ts";
import { forwarding, json, playNode, REST, result, RPC, TOKEN, until } from "./_gateway.ts";
import { type Lines, namesIn, readMetrics } from "./_metrics.ts";

const metrics = suite("metrics");

const at = (path: string, init?: RequestInit) => new Request(`http://localhost${path}`, init);

function serviceOf(options: NodefaceOptions = {}) {
  const app = createNodeface({ metrics: true, log: () => {}, ...options });
  const ask = async (path: string, init?: RequestInit) => await app.fetch(at(path, init));
  const read = async () => readMetrics(await (await ask("/v1/metrics")).text());
  return { app, ask, read };
}

const infoOf = async (info: HostInfo): Promise<Lines> => await serviceOf({ info }).read();

const NODE = /^nodeface_node_(?!quer|identity|configured)/;
const ofNode = (lines: Lines) => [...namesIn(lines)].filter((name) => NODE.test(name));

metrics("if metrics are off, /v1/metrics is not found, and the response says why", async () => {
  for (const options of [{}, { metrics: false }, { metrics: undefined }]) {
    const app = createNodeface(options);
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      assert.is((await app.fetch(at("/v1/metrics", { method }))).status, 404);
    }
    const { detail } = await (await app.fetch(at("/v1/metrics"))).json();
    assert.match(detail, "It is off; see the setting metrics");
    const { paths } = await (await app.fetch(at("/spec.json"))).json();
    assert.not(Object.hasOwn(paths, "/v1/metrics"));
    const yaml = await (await app.fetch(at("/spec.yaml"))).text();
    assert.not.match(yaml, "metrics");
  }
});

metrics("a client at a path without its version is told the right path", async () => {
  const node = await playNode();
  const { app } = forwarding(node.url, REST, { open: ["reads"] });
  try {
    for (const service of [createNodeface({ metrics: true }), app]) {
      for (const path of ["/metrics", "/info", "/health", "/clients/self"]) {
        const response = await service.fetch(at(path));
        assert.is(response.status, 404);
        const { detail } = await response.json();
        assert.match(detail, `This path is not served; see /v1${path}`);
      }
      const { detail } = await (await service.fetch(at("/nothing"))).json();
      assert.match(detail, "This path is not served; see /v1/spec for the available paths");
    }
  } finally {
    await node.close();
  }
});

metrics(
  "if metrics are on, only the metrics path is added to both forms of the description",
  async () => {
    const without = await (await createNodeface().fetch(at("/spec.json"))).json();
    const { ask } = serviceOf();
    const { paths: { "/v1/metrics": added, ...paths }, ...rest } = await (await ask("/spec.json"))
      .json();
    assert.is(added.get.operationId, "getMetrics");
    assert.equal({ ...rest, paths }, without);
    assert.match(await (await ask("/spec.yaml")).text(), "\n  /v1/metrics:\n");
  },
);

metrics("pages of other origins get no metrics, even with cors", async () => {
  const origin = "https://app.example";
  for (const cors of ["*", [origin]] as const) {
    const { ask } = serviceOf({ cors });
    for (
      const [method, status] of [["GET", 403], ["HEAD", 403], ["OPTIONS", 204], [
        "POST",
        405,
      ]] as const
    ) {
      const asked = { origin, "access-control-request-method": "GET" };
      const response = await ask("/v1/metrics", { method, headers: asked });
      const { headers } = response;
      assert.is(response.status, status);
      assert.equal([...headers.keys()].filter((name) => /^access-control/.test(name)), []);
      assert.is(headers.get("cross-origin-resource-policy"), "same-origin");
    }
    const own = { host: "localhost", origin: "http://localhost" };
    assert.is((await ask("/v1/metrics", { headers: own })).status, 200);
    assert.is(
      (await ask("/v1/metrics", { headers: { "sec-fetch-site": "cross-site" } })).status,
      200,
    );
    assert.ok((await ask("/v1/info", { headers: { origin } })).headers
      .has("access-control-allow-origin"));
  }
});

metrics(
  "with a node, the metrics path comes last among the service's own paths",
  async () => {
    for (const isOn of [true, false]) {
      const description = { openapi: "3.1.1", info: { title: "x", version: "1" }, paths: {} };
      const app = createNodeface({ metrics: isOn, description, log: () => {} });
      const { paths } = await (await app.fetch(at("/spec.json"))).json();
      const own = ["/v1/info", "/v1/events", "/v1/history", "/v1/health", "/v1/ready"];
      assert.equal(Object.keys(paths), isOn ? [...own, "/v1/metrics"] : own);
    }
  },
);

metrics("the metrics are uncompressed Prometheus text, with Cache-Control: no-store", async () => {
  const { ask } = serviceOf();
  const get = await ask("/v1/metrics", { headers: { "accept-encoding": "gzip, br" } });
  assert.is(get.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.is(get.headers.get("content-encoding"), null);
  assert.is(get.headers.get("cache-control"), "no-store");
  const head = await ask("/v1/metrics", { method: "HEAD" });
  assert.equal([head.status, await head.text()], [200, ""]);
  assert.ok(Number(head.headers.get("content-length")) > 0);
  const etag = get.headers.get("etag")!;
  assert.is((await ask("/v1/metrics", { headers: { "if-none-match": etag } })).status, 200);
  assert.is((await ask("/v1/metrics", { headers: { "if-none-match": "*" } })).status, 304);
  const post = await ask("/v1/metrics", { method: "POST" });
  assert.is(post.status, 405);
  assert.not.match((await post.json()).detail, "off");
});

metrics("each metric has one HELP and one TYPE line, before its samples", async () => {
  const { ask } = serviceOf({ info: () => ({ height: 1 }) });
  await ask("/v1/info");
  const text = await (await ask("/v1/metrics")).text();
  const heads = [...text.matchAll(/^# HELP (\S+) .+\n# TYPE \1 (gauge|counter|histogram)\n\1/gm)];
  assert.is(new Set(heads.map(([, name]) => name)).size, heads.length);
  assert.is([...text.matchAll(/^#/gm)].length, heads.length * 2);
});

metrics("a service without a node has no node metrics", async () => {
  const lines = await serviceOf().read();
  assert.equal(ofNode(lines), []);
  assert.ok(namesIn(lines).has("nodeface_build_info"));
  assert.ok(Number(lines.get("process_resident_memory_bytes")) > 10_000_000);
});

metrics("each number in /v1/info is a metric, and no text is", async () => {
  const lines = await infoOf(() => ({
    height: 1,
    series: 815,
    size: 2n ** 60n,
    tag: "7",
    ok: true,
  }));
  const fields = [...lines].filter(([name]) => name.startsWith("nodeface_field"));
  assert.equal(fields, [
    ['nodeface_field{name="series"}', "815"],
    ['nodeface_field{name="size"}', "1152921504606846976"],
  ]);
  for (const [name] of lines) assert.match(name, /^(nodeface|process)_/);
});

metrics("a value that the node does not report is absent from the metrics, not 0", async () => {
  assert.equal(ofNode(await infoOf(() => ({}))), [
    "nodeface_node_up",
    "nodeface_node_status",
    "nodeface_node_status_code",
  ]);
  const some = await infoOf(() => ({ height: 0, peers: null, synced: "yes", head_at: "soon" }));
  assert.is(some.get("nodeface_node_height"), "0");
  for (
    const name of [
      "nodeface_node_peers",
      "nodeface_node_synced",
      "nodeface_node_head_age_seconds",
      "nodeface_node_info",
    ]
  ) {
    assert.not(namesIn(some).has(name), name);
  }
});

metrics("numbers from the node keep all their digits in the metrics", async () => {
  const started_at = "2026-01-01T00:00:00.500Z";
  const lines = await infoOf(() => ({
    ...{ software: "exampled", version: "1.2", network: "main", started_at },
    ...{ height: 18446744073709551614n, peers: 3, synced: true, progress: 0.25 },
    head_at: new Date(Date.now() - 90_000).toISOString(),
  }));
  const got = (series: string) => lines.get(series);
  assert.is(got("nodeface_node_up"), "1");
  const identity = 'software="exampled",version="1.2",network="main",chain="none exampled main"';
  assert.is(got(`nodeface_node_info{${identity}}`), "1");
  assert.is(got("nodeface_node_height"), "18446744073709551614");
  assert.equal([got("nodeface_node_peers"), got("nodeface_node_synced")], ["3", "1"]);
  assert.is(got("nodeface_node_sync_progress_ratio"), "0.25");
  assert.is(got("nodeface_node_start_time_seconds"), String(Date.parse(started_at) / 1000));
  const age = Number(got("nodeface_node_head_age_seconds"));
  assert.ok(age >= 90 && age < 200, String(age));
});

metrics("the chain is the kind with the chain_id, or else with software and network", () => {
  const chainOf = (info: Partial<Info>, kind?: string) =>
    /chain="(.*?)"/.exec(exposed({ status: "ok", links: LINKS, ...info }, undefined, kind))?.[1];
  assert.is(
    chainOf({ chain_id: "1", software: "Geth", network: "main" }, "ethereum"),
    "ethereum 1",
  );
  assert.is(chainOf({ software: "Satoshi", network: "main" }, "bitcoin"), "bitcoin Satoshi main");
  assert.is(chainOf({ network: "main" }, "bitcoin"), undefined);
  assert.is(chainOf({ software: "etcd" }, "etcd"), undefined);
});

metrics("a key that is hidden in the info object is absent from the metrics too", async () => {
  const info = { hide: ["peers", "version"], static: { peers: 5, version: "9", software: "x" } };
  const lines = await serviceOf({ info, node: { url: "http://127.0.0.1:9", kind: "none" } }).read();
  assert.not(lines.has("nodeface_node_peers"));
  assert.is(lines.get('nodeface_node_info{software="x"}'), "1");
});

metrics("only the current status and its code, if there is one, have the value 1", async () => {
  const which = (lines: Lines, name: string) =>
    [...lines].filter(([series, value]) => series.startsWith(`${name}{`) && value === "1")
      .map(([series]) => series);
  const ok = await infoOf(() => ({}));
  assert.equal(which(ok, "nodeface_node_status"), ['nodeface_node_status{status="ok"}']);
  assert.equal(which(ok, "nodeface_node_status_code"), []);
  const syncing = await infoOf(() => ({ synced: false }));
  assert.equal(which(syncing, "nodeface_node_status"), ['nodeface_node_status{status="syncing"}']);
  assert.equal(which(syncing, "nodeface_node_status_code"), [
    'nodeface_node_status_code{code="syncing"}',
  ]);
  assert.is(syncing.get("nodeface_node_synced"), "0");
});

const LINKS = { explorer: "spec" };
const sampled = (info: Partial<Info>) =>
  readMetrics(exposed({ status: "ok", links: LINKS, ...info }));
function exposed(info: Info | undefined, meters = new Meters(), kind?: string): string {
  return expose({
    info,
    besideNode: [],
    kind,
    now: 0,
    meters,
    waitingCalls: undefined,
    sockets: undefined,
    subscriptions: undefined,
    listeners: 0,
    descriptionAge: undefined,
  });
}

metrics(
  "a node that does not respond is reported as down, without its last values",
  async () => {
    const last = {
      height: 5,
      peers: 1,
      synced: true,
      head_at: "1970-01-01T00:00:00Z",
      version: "1",
    };
    for (const status of ["stale", "unreachable"] as const) {
      const lines = sampled({ status, status_code: "timeout", ...last });
      assert.is(lines.get("nodeface_node_up"), "0");
      assert.is(lines.get('nodeface_node_info{version="1"}'), "1");
      assert.is(lines.get('nodeface_node_status_code{code="timeout"}'), "1");
      for (const name of ["height", "peers", "synced", "head_age_seconds"]) {
        assert.not(lines.has(`nodeface_node_${name}`), name);
      }
    }
    for (const status_code of ["unauthorized", "stalled", "warming_up"] as const) {
      assert.is(
        sampled({ status: "degraded", status_code }).get("nodeface_node_up"),
        "1",
        status_code,
      );
    }
    assert.not(sampled({ status: "starting", status_code: "starting" }).has("nodeface_node_up"));
    const { read } = serviceOf({ node: "http://127.0.0.1:9" });
    assert.is((await read()).get("nodeface_node_up"), "0");
  },
);

metrics("labels with text from the node are escaped, truncated, and kept on one line", async () => {
  const software = 'a"b\\c\nd\0e\ud800';
  const { ask } = serviceOf({ info: () => ({ software, version: "9".repeat(3000) }) });
  const text = await (await ask("/v1/metrics")).text();
  const [series] = [...readMetrics(text).keys()].filter((name) =>
    name.startsWith("nodeface_node_info")
  );
  const version = "9".repeat(128);
  assert.is(
    series,
    `nodeface_node_info{software="a\\"b\\\\c\ufffdd\ufffde\ufffd",version="${version}"}`,
  );
});

metrics("a request for the metrics queries the node", async () => {
  let asked = 0;
  const { read } = serviceOf({ info: () => ({ height: ++asked }) });
  assert.is((await read()).get("nodeface_node_height"), "1");
  assert.is(asked, 1);
});

metrics("responses are counted by status and by route template", async () => {
  const operation = { responses: { 200: { description: "" } } };
  const { ask, read } = serviceOf({
    operations: [{
      ...{ method: "POST", path: "/v1/peers/{peer-id}", operation },
      handle: () => new Response(null, { status: 418 }),
    }, {
      ...{ method: "GET", path: "/v1/broken", operation },
      handle: () => {
        throw new Error("broken");
      },
    }],
  });
  const etag = (await ask("/v1/ready")).headers.get("etag")!;
  await ask("/v1/ready", { method: "HEAD" });
  await ask("/v1/ready", { headers: { "if-none-match": etag } });
  await ask("/v1/ready", { method: "DELETE" });
  await ask("/v1/ready", { method: "OPTIONS" });
  await ask("/v1/health?accept=nope");
  await ask("/");
  await ask("/v1/");
  await ask("/assets/explorer-hunter2/hunter2");
  await ask("/v1/peers/hunter2", { method: "POST" });
  await ask("/v1/broken");
  await ask("/hunter2?hunter2=hunter2");
  await ask("/v1/metrics", { headers: { host: "hunter2.example" } });
  await ask(`/${"x".repeat(9000)}`);
  const text = await (await ask("/v1/metrics")).text();
  const counted = [...readMetrics(text)].filter(([name]) => name.startsWith("nodeface_requests"))
    .map(([name, value]) => name.replace(/.*route="([^"]*)",status="(\d+)".*/, `$1 $2 ${value}`));
  assert.equal(counted, [
    ...["/v1/ready 200 2", "/v1/ready 304 1", "/v1/ready 405 1"],
    ...["/v1/ready 204 1", "/v1/health 400 1", "/ 307 1", "/v1 307 1"],
    ...[
      "/assets/explorer-{digest}/{file} 404 1",
      "/v1/peers/{peer-id} 418 1",
      "/v1/broken 500 1",
    ],
    ...["other 404 1", "/v1/metrics 421 1", "other 414 1"],
  ]);
  assert.not.match(text, "hunter2");
  assert.is((await read()).get('nodeface_requests_total{route="/v1/metrics",status="200"}'), "1");
});

metrics(
  "queries to the node are counted by source and result, and their duration is measured",
  async () => {
    const node = await playNode();
    node.answer = ({ url }, response) => {
      const status = url.startsWith("/good") ? 200 : url.startsWith("/refused") ? 401 : 404;
      json({ height: 7 }, status)({} as never, response);
    };
    try {
      const { read } = serviceOf({
        node: { url: node.url, kind: "none" },
        info: {
          sources: {
            good: { get: "/good?key=hunter2" },
            refused: { get: "/refused" },
            missing: { get: "/missing", optional: true },
          },
          fields: { height: "good#/height", peers: "refused#/x", more: "missing#/x" },
        },
      });
      await read();
      const lines = await read();
      const count = (source: string, result: string) =>
        lines.get(`nodeface_node_queries_total{source="${source}",result="${result}"}`);
      assert.equal(
        [count("good", "ok"), count("refused", "unauthorized"), count("missing", "absent")],
        ["1", "1", "1"],
      );
      const times = "nodeface_node_query_duration_seconds";
      assert.is(lines.get(`${times}_count{source="good"}`), "1");
      assert.is(lines.get(`${times}_bucket{source="good",le="+Inf"}`), "1");
      assert.ok(Number(lines.get(`${times}_sum{source="good"}`)) > 0);
      for (const series of lines.keys()) assert.not.match(series, "hunter2");
    } finally {
      await node.close();
    }
  },
);

metrics("forwarded calls are counted by operation, and no label contains a parameter", async () => {
  const node = await playNode();
  const rest = forwarding(node.url, REST, { open: ["reads"] }, { metrics: true });
  const rpc = forwarding(node.url, RPC, { open: ["reads"] }, { metrics: true });
  try {
    const before = readMetrics(await (await rest.ask("/v1/metrics")).text());
    assert.is(before.get("nodeface_queue_length"), "0");
    assert.not(namesIn(before).has("nodeface_calls_total"));
    await rest.ask("/v1/node/blocks/7711");
    await rest.ask("/v1/node/blocks/7712");
    node.answer = json({}, 500);
    await rest.ask("/v1/node/peers/hunter2");
    await rest.ask("/v1/node/hunter2/hunter2/hunter2");
    node.answer = result("1");
    await rpc.ask("/v1/rpc/block?hash=hunter2");
    await rpc.rpc([{ jsonrpc: "2.0", id: 1, method: "number" }]);
    const read = async ({ ask }: typeof rest) => await (await ask("/v1/metrics")).text();
    const [restText, rpcText] = [await read(rest), await read(rpc)];
    const calls = (text: string) =>
      [...readMetrics(text)].filter(([name]) => name.startsWith("nodeface_calls_total"));
    assert.equal(calls(restText), [
      [
        'nodeface_calls_total{operation="GET /blocks/{height}",status="200",client="anonymous"}',
        "2",
      ],
      [
        'nodeface_calls_total{operation="GET /peers/{address}",status="500",client="anonymous"}',
        "1",
      ],
    ]);
    assert.equal(calls(rpcText), [
      ['nodeface_calls_total{operation="block",status="200",client="anonymous"}', "1"],
      ['nodeface_calls_total{operation="number",status="200",client="anonymous"}', "1"],
    ]);
    assert.is(
      readMetrics(restText).get('nodeface_call_duration_seconds_count{client="anonymous"}'),
      "3",
    );
    const route = 'nodeface_requests_total{route="/v1/node/{path}",status="200"}';
    assert.is(readMetrics(restText).get(route), "2");
    for (const text of [restText, rpcText]) {
      for (const series of readMetrics(text).keys()) assert.not.match(series, /hunter2|771/);
    }
  } finally {
    await node.close();
  }
});

metrics("calls that are waiting for a slot at the node are counted", async () => {
  const node = await playNode();
  const held: (() => void)[] = [];
  node.answer = (request, response) => held.push(() => void json({})(request, response));
  const forward = { open: ["reads"], concurrency: 1 };
  const { ask } = forwarding(node.url, REST, forward, { metrics: true });
  const waiting = async () =>
    readMetrics(await (await ask("/v1/metrics")).text()).get("nodeface_queue_length");
  try {
    const first = ask("/v1/node/blocks/1");
    await until(() => held.length === 1);
    const others = [ask("/v1/node/blocks/2"), ask("/v1/node/blocks/3")];
    let seen: string | undefined;
    await until(() => {
      void waiting().then((length) => seen = length);
      return seen === "2";
    });
    for (let i = 0; i < 3; i++) {
      await until(() => held.length > 0);
      held.shift()!();
    }
    await Promise.all([first, ...others]);
    assert.is(await waiting(), "0");
  } finally {
    for (const release of held) release();
    await node.close();
  }
});

metrics("the metrics include the age of the current description, if there is one", async () => {
  const age = "nodeface_description_age_seconds";
  const description = { openapi: "3.1.1", info: { title: "x", version: "1" }, paths: {} };
  const shown = serviceOf({ description });
  assert.not((await shown.read()).has(age));
  await shown.ask("/spec.json");
  const first = Number((await shown.read()).get(age));
  assert.ok(first >= 0 && first < 60, String(first));
  const broken = serviceOf({ description: { text: "openapi: [" } as never });
  await broken.ask("/spec.json");
  assert.not((await broken.read()).has(age));
});

metrics("a counter has a limited number of series, and one more for all other labels", () => {
  const counter = new Series(500, () => 0);
  for (let i = 0; i < 507; i++) counter.at("a", i).value++;
  counter.at("a", 0).value++;
  const [first, second, ...others] = counter.samples;
  assert.equal(first, { labels: ["a", 0], value: 2 });
  assert.equal(second, { labels: ["a", 1], value: 1 });
  assert.is(others.length, 499);
  assert.equal(others.at(-1), { labels: ["other", "other"], value: 7 });
});

metrics("a failed call keeps its status and client, however many series there are", () => {
  const meters = new Meters();
  const call = { client: "app", milliseconds: 1, bytes: 1 };
  for (let at = 0; at < 510; at++) meters.countCall({ operation: `m${at}`, status: 200, ...call });
  meters.countCall({ operation: "m9", status: 502, ...call });
  const labels = meters.calls.samples.map((sample) => sample.labels);
  assert.equal(labels.slice(500), [["other", 200, "app"], ["other", 502, "app"]]);
});

metrics("a histogram counts each duration in every bucket with an equal or higher bound", () => {
  const meters = new Meters();
  const histogram = meters.queryTimes;
  for (const seconds of [0.004, 0.005, 0.2, 99]) histogram.at("a").value.add(seconds);
  for (let i = 0; i < 101; i++) histogram.at(`b${i}`).value.add(1);
  const { counts, count, sum } = histogram.at("a").value;
  assert.equal(counts, BOUNDS.map((bound) => bound < 0.25 ? 2 : 3));
  assert.equal([count, sum], [4, 99.209]);
  assert.is(histogram.samples.length, 101);
  assert.is(histogram.at("other").value.count, 2);
  const text = exposed(undefined, meters);
  const name = "nodeface_node_query_duration_seconds";
  assert.match(text, `${name}_bucket{source="a",le="0.005"} 2\n`);
  assert.match(text, `${name}_bucket{source="a",le="+Inf"} 4\n`);
  assert.match(text, `${name}_sum{source="a"} 99.209\n${name}_count{source="a"} 4\n`);
});

metrics("no label contains a client's token", async () => {
  const { ask, read } = serviceOf();
  await ask("/v1/info", { headers: { authorization: `Bearer ${TOKEN}` } });
  await ask(`/v1/info?token=${TOKEN}`);
  for (const series of (await read()).keys()) assert.not.match(series, TOKEN);
});

metrics("numbers that do not come from the node stay in the metrics while it is away", async () => {
  const node = await playNode();
  node.answer = json({ used: 8 });
  const { app, read } = serviceOf({
    node: { url: node.url, kind: "none" },
    info: {
      ttl: "1ms",
      static: { shelf: 3, peers: 4 },
      sources: {
        state: { get: "/state" },
        disk: { command: ["echo", '{"free":9}'], ttl: "1h" },
      },
      fields: {
        used: "state#/used",
        free: "disk#/free",
        either: { from: ["state#/used", "disk#/free"] },
      },
    },
  });
  const fieldsIn = (lines: Lines) =>
    [...lines].filter(([series]) => series.startsWith("nodeface_field"))
      .map(([series, value]) => series.replace(/.*"(.*)".*/, `$1 ${value}`));
  let lines = await read();
  await until(async () => fieldsIn(lines = await read()).length === 4);
  assert.equal(fieldsIn(lines), ["used 8", "free 9", "either 8", "shelf 3"]);
  await node.close();
  await until(async () => (lines = await read()).get("nodeface_node_up") === "0");
  assert.equal(fieldsIn(lines), ["free 9", "shelf 3"]);
  assert.not(lines.has("nodeface_node_peers"));
  await app.close();
});

metrics.run();
