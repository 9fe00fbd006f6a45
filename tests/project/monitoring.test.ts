import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createNodeface } from "../../src/index.ts";
import { METRICS, STATUS_CODES } from "../../src/metrics/metrics.ts";
import { ROOT } from "../_paths.ts";

const monitoring = suite("docs/monitoring.md");

const page = readFileSync(`${ROOT}docs/monitoring.md`, "utf8");
const blocks = [...page.matchAll(/^```yml\n([^]*?)^```/gm)].map(([, yaml]) => yaml!);

monitoring("the configurations of other programs in docs/monitoring.md are valid", () => {
  assert.ok(blocks.length > 0);
  for (const yaml of blocks) assert.type(parse(yaml), "object");
});

monitoring("every path requested by the probes in docs/monitoring.md returns 200", async () => {
  const app = createNodeface({ metrics: true });
  const paths = [...page.matchAll(/(?::8080|path: "?)(\/v1\/[^\s"},]+)/g)].map(([, path]) => path!);
  assert.ok(paths.length >= 6, paths.join());
  for (const path of new Set(paths)) {
    const { status } = await app.fetch(new Request(`http://127.0.0.1:8080${path}`));
    assert.is(status, 200, path);
  }
});

monitoring("a pod has the probes that docs/monitoring.md names, on the service's port", () => {
  const [pod] = blocks.map((yaml) => parse(yaml)).filter(({ kind }) => kind === "Pod");
  const [nodeface, node] = pod.spec.containers;
  const [{ containerPort: port }] = nodeface.ports;
  for (const probe of ["livenessProbe", "readinessProbe"]) {
    assert.equal(nodeface[probe].httpGet, { path: "/v1/ready", port });
  }
  assert.is(node.readinessProbe.httpGet.port, port);
  assert.is(node.livenessProbe, undefined);
});

monitoring("the table in docs/monitoring.md has every metric, in the order of /v1/metrics", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\| (.*?) +\|$/gm)];
  const wanted = Object.entries(METRICS).map(([name, { type, help, labels }]) => [
    name,
    type,
    labels.map((label) => `\`${label}\``).join(", "),
    help,
  ]);
  assert.equal(rows.map(([, ...cells]) => cells), wanted);
});

monitoring("the table of alerts has every alert, and the time after which it fires", () => {
  const { groups: [{ rules }] } = parse(readFileSync(`${ROOT}deploy/alerts.yaml`, "utf8"));
  const rows = [...page.matchAll(/^\| `(Node\w+)` +\| .*? +\| (\w+) +\|$/gm)];
  assert.equal(
    rows.map(([, ...cells]) => cells),
    rules.map((rule: { alert: string; for: string }) => [rule.alert, rule.for]),
  );
});

monitoring("the alerts use only metrics, statuses and codes that exist", () => {
  const text = readFileSync(`${ROOT}deploy/alerts.yaml`, "utf8");
  const codes = STATUS_CODES as readonly string[];
  for (const [, name, labels = ""] of text.matchAll(/\b(node(?:face)?_\w+)(?:\{(.*?)\})?/g)) {
    assert.ok(Object.hasOwn(METRICS, name!), name);
    if (name !== "nodeface_node_status_code") continue;
    const [, words = ""] = /^code=~?"(.+)"$/.exec(labels) ?? [];
    for (const code of words.split("|")) assert.ok(codes.includes(code), code);
  }
});

monitoring("docs/troubleshooting.md has a table row for every status_code", () => {
  const rows = readFileSync(`${ROOT}docs/troubleshooting.md`, "utf8").split("\n")
    .flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? []);
  for (const code of STATUS_CODES) {
    assert.ok(rows.some((row) => row.includes(`\`${code}\``)), code);
  }
});

monitoring.run();
