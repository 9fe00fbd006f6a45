import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readdirSync } from "node:fs";
import { createInfo } from "../src/info/monitor.ts";
import { recognise } from "../src/info/detect-kind.ts";
import { KINDS } from "../src/kinds/index.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const kinds = suite("kinds");

/** When the recordings are played; their `started_at` is counted back from here where a node tells its uptime. */
const NOW = Date.parse("2026-11-20T09:00:00Z");

kinds("each is a file of its own", () => {
  const files = readdirSync(new URL("../src/kinds/", import.meta.url)).sort();
  assert.equal(
    files.filter((file) => !["index.ts", "kind.ts"].includes(file)).map((f) => f.slice(0, -3)),
    Object.keys(KINDS),
  );
});

kinds("every kind has an answer that was recorded, and it says where", () => {
  const recorded = new Set([...RECORDINGS.values()].map(({ kind }) => kind));
  assert.equal([...recorded].sort(), Object.keys(KINDS));
  for (const { recorded } of RECORDINGS.values()) {
    assert.match(recorded, /run here on|https:\/\//);
  }
});

for (const [name, recording] of RECORDINGS) {
  kinds(`${name} is recognised as ${recording.kind}, and as nothing else`, async () => {
    const found = await recognise("http://node.example", KINDS, undefined, play(recording));
    assert.is(found.kind, recording.kind, found.because);
  });

  kinds(`${name} gives its info`, async () => {
    const { info } = await createInfo({
      service: { software: "nodeface", version: "1", started_at: "" },
      node: { url: "http://node.example", kind: recording.kind },
      kinds: KINDS,
      log: () => {},
      onError: (error) => assert.unreachable(String(error)),
      fetch: play(recording),
      now: () => NOW,
    }).get();
    const { api: _api, links: _links, ...rest } = info;
    assert.equal(rest, recording.info);
  });
}

kinds.run();
