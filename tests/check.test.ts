import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { check as checkConfig } from "../src/cli/check.ts";
import type { Config } from "../src/cli/configuration.ts";
import type { Kind } from "../src/kinds/kind.ts";

const check = suite("nodeface check");

/** Nothing listens there. */
const NOWHERE = "http://127.0.0.1:9";
const DESCRIPTION = new URL("../spec/openapi.yaml", import.meta.url).href;

/** What is reported of a configuration. */
const report = async (config: Partial<Config>) =>
  (await checkConfig({
    command: "check",
    remarks: [],
    host: "127.0.0.1",
    port: 0,
    log: "off",
    node: {},
    kinds: {},
    info: {},
    ...config,
  })).report;

check(
  "asks a node of a kind that describes itself for its description, and says where",
  async () => {
    const found = await report({ node: { url: NOWHERE, kind: "algorand" } });
    assert.match(found, `There is no description of the node at ${NOWHERE}/swagger.json: `);
  },
);

check("has nothing on descriptions where there is none to read", async () => {
  const mine: Kind = {
    title: "Mine",
    url: NOWHERE,
    detect: { "info#": "." },
    sources: { info: { get: "/info" } },
    fields: {},
    health: { ok: "it answers" },
  };
  const nodes = [
    { node: {} },
    { node: { url: NOWHERE, kind: "none" } },
    { node: { kind: "mine" }, kinds: { mine } },
    { node: { url: NOWHERE, kind: "mine" }, kinds: { mine } },
    { node: { url: NOWHERE, kind: "algorand" }, description: "none" },
  ];
  for (const config of nodes) assert.not.match(await report(config), "# Description");
});

check("says that what nodes of the kind offer is shown, and why", async () => {
  const text = await report({ node: { url: NOWHERE, kind: "bitcoin" } });
  assert.match(
    text,
    `There is no description of the node at ${NOWHERE} by getopenrpcinfo: the node `,
  );
  assert.match(
    text,
    "Shown is what nodes of the kind bitcoin offer; what this one lacks is not known",
  );
});

check("reads the description that is configured, whatever the kind has", async () => {
  for (const node of [{}, { url: NOWHERE, kind: "algorand" }]) {
    const found = await report({ node, description: DESCRIPTION });
    assert.match(found, "The description can be shown");
    assert.not.match(found, "swagger.json");
  }
});

check("a node that cannot be reached is said to be that, in plain words", async () => {
  const text = await report({ node: { url: NOWHERE } });
  assert.match(text, "The kind of the node is not known: ");
  assert.not.match(text, /: it connection refused/);
  assert.match(text, "- the node is unreachable: ");
});

/** A description with many findings, notes among them. */
const many = (count: number) => {
  const wrong = Array.from(
    { length: count },
    (_, i) => `    S${i}: ${i === 0 ? "null" : "text"}\n`,
  );
  return `openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\ncomponents:\n  schemas:\n${
    wrong.join("")
  }`;
};

check("tells all findings of a description, the errors before the notes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    const file = join(folder, "openapi.yaml");
    writeFileSync(file, many(40));
    const found = await report({ description: file });
    const levels = [...found.matchAll(/^(error|note) +openapi\.yaml:/gm)].map(([, level]) => level);
    assert.equal(levels.slice(0, 39), Array(39).fill("error"));
    assert.equal(levels.slice(39), ["note", "note"]);
    assert.match(found, "- errors in the description: 39");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

check.run();
