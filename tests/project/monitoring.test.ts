import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createNodeface } from "../../src/index.ts";
import { STATUSES } from "../../src/info/status.ts";
import { METRICS, STATUS_CODES } from "../../src/metrics/metrics.ts";
import { ROOT } from "../_paths.ts";

const monitoring = suite("docs/monitoring.md");

const page = readFileSync(`${ROOT}docs/monitoring.md`, "utf8");
const blocks = [...page.matchAll(/^```yml\n([^]*?)^```/gm)].map(([, yaml]) => yaml!);

monitoring("the configurations of other programs in docs/monitoring.md are valid", () => {
  assert.ok(blocks.length > 0);
  for (const yaml of blocks) assert.ok(parse(yaml) !== null);
});

monitoring("every path requested by the probes in docs/monitoring.md returns 200", async () => {
  const app = createNodeface({ metrics: true });
  const paths = [...page.matchAll(/(?::8080|path: "?)(\/v1\/[^\s"},]+)/g)].map(([, path]) => path!);
  assert.ok(paths.length >= 3, paths.join());
  for (const path of new Set(paths)) {
    const { status } = await app.fetch(new Request(`http://127.0.0.1:8080${path}`));
    assert.is(status, 200, path);
  }
});

monitoring("the alerts use only metrics and codes that exist", () => {
  const text = readFileSync(`${ROOT}deploy/alerts.yaml`, "utf8");
  const codes = STATUS_CODES as readonly string[];
  const used = [...text.matchAll(/\b((?:node(?:face)?|process)_\w+)(?:\{(.*?)\})?/g)];
  assert.ok(used.length > 10, `${used.length} metrics`);
  for (const [, name, labels = ""] of used) {
    assert.ok(Object.hasOwn(METRICS, name!), name);
    if (name !== "nodeface_node_status_code") continue;
    const [, words = ""] = /^code=~?"(.+)"$/.exec(labels) ?? [];
    for (const code of words.split("|")) assert.ok(codes.includes(code), code);
  }
});

monitoring("the dashboard uses only metrics, labels, statuses and variables that exist", () => {
  const dashboard = readFileSync(`${ROOT}deploy/grafana.json`, "utf8");
  const { panels, annotations, templating } = JSON.parse(dashboard);
  type Target = { expr: string; legendFormat: string };
  const targets = panels.flatMap(({ targets = [] }: { targets?: Target[] }) => targets) as Target[];
  const expressions: string[] = [
    ...targets.map(({ expr }) => expr),
    ...annotations.list.map(({ expr = "" }) => expr),
    ...templating.list.map(({ definition = "" }) => definition),
  ];
  const labels = ["job", "instance", ...Object.values(METRICS).flatMap(({ labels }) => labels)];
  const used = new Set<string>();
  for (const expression of expressions) {
    for (const [name] of expression.matchAll(/\b(?:nodeface|process)_\w+/g)) {
      const metric = name.replace(/_bucket$/, "");
      assert.ok(Object.hasOwn(METRICS, metric), name);
      used.add(metric);
    }
    for (const [, label] of expression.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)) {
      assert.ok(labels.includes(label!), `${label}: ${expression}`);
    }
    for (const [, status] of expression.matchAll(/nodeface_node_status\{[^}]*status="(\w+)"/g)) {
      assert.ok((STATUSES as readonly string[]).includes(status!), status);
    }
  }
  for (const { legendFormat } of targets) {
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      assert.ok(labels.includes(label!), legendFormat);
    }
  }
  const states = JSON.stringify(panels.find(({ title }: { title: string }) => title === "State"));
  for (const status of STATUSES) assert.match(states, `"text":"${status}"`);
  assert.ok(used.size > 12, [...used].join());
  const variables = templating.list.map(({ name }: { name: string }) => name);
  for (const [, name] of dashboard.matchAll(/\$\{?((?!__)\w+)/g)) {
    assert.ok(variables.includes(name), name);
  }
  const places = panels.map(({ id }: { id: number }) => id);
  assert.is(new Set(places).size, places.length);
});

monitoring("docs/troubleshooting.md has a table row for every status_code", () => {
  const rows = readFileSync(`${ROOT}docs/troubleshooting.md`, "utf8").split("\n")
    .flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? []);
  for (const code of STATUS_CODES) {
    assert.ok(rows.some((row) => row.includes(`\`${code}\``)), code);
  }
});

monitoring.run();
