import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { KINDS } from "../../src/generated/kinds.js";
import { serveFetch } from "../nodes/_played-server.ts";
import { play, RECORDINGS } from "../nodes/_recorded.ts";
import { ROOT } from "../_paths.ts";
import { blocksOf, follow } from "./_manual.ts";

const beside = suite("the manual's instructions for each kind of node");

const page = readFileSync(join(ROOT, "docs/beside-your-node.md"), "utf8");
const partOf = (kind: string) =>
  page.split(/^## /m).find((part) => part.startsWith(`${kind}\n`)) ?? "";
const rowOf = (part: string, name: string) =>
  new RegExp(`^\\| ${name} \\| (.*) \\|$`, "m").exec(part)?.[1] ?? "";

/** The keys that the service adds by the network's name, the status and the pace of a sync. */
const MORE = ["network_name", "status_remedy", "progress"];

for (const [kind, { url }] of Object.entries(KINDS)) {
  beside(`${kind}: the command works as documented, and the configuration is valid`, async () => {
    const recording = RECORDINGS.get(kind) ??
      [...RECORDINGS.values()].find((recording) => recording.kind === kind)!;
    const part = partOf(kind);
    const named = [...rowOf(part, "callable").matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    // The recording has no answers of these methods, but the node has them.
    const wrong = { code: -32602, message: "Invalid params" };
    const errors = Object.fromEntries(named.map((name) => [name, wrong]));
    await using node = await serveFetch(
      play({ ...recording, errors: { ...errors, ...recording.errors } }),
    );
    const own = blocksOf(part)[0]!.text.includes("--port 8081") ? 8081 : 8080;
    // This content is valid in the secret file of every kind.
    const secret = /_file: ([^,}]+)/.exec(part)?.[1]?.trim();
    const files = secret
      ? { [secret.replace(/^~?\//, "")]: "<apikey>user:password</apikey>\n" }
      : {};
    const places = {
      [new URL(url).origin]: new URL(node.url).origin,
      ...secret?.startsWith("/") && { [secret]: `~${secret}` },
    };
    let info = "", report = "";
    const more = [
      `curl http://127.0.0.1:${own}/v1/info`,
      `nodeface check ${url} --forward reads || true`,
      ...secret ? ["nodeface check --config nodeface.yaml || true"] : [],
    ];
    await follow(`${part}\n\`\`\`sh\n${more.join("\n")}\n\`\`\`\n`, {
      places,
      files,
      onPrinted(command, text) {
        if (command.startsWith("curl")) info = text;
        else report += text;
      },
    });
    const { status, status_code, status_reason, api: _, links: _links, ...shown } = JSON.parse(
      info,
    );
    assert.not.equal(status, "unreachable", status_reason ?? status_code);
    const said = rowOf(part, "`/v1/info`").replaceAll("`", "").split(", ");
    assert.equal(Object.keys(shown).filter((key) => ![...said, ...MORE].includes(key)), []);
    const opened = Number(/^\d+/.exec(rowOf(part, "callable"))?.[0]);
    const reports = report.split(/^# Kind$/m).slice(1);
    assert.is(reports.length, secret ? 2 : 1);
    for (const one of reports) {
      const allowed = one.match(/ allowed  +\S+  +it is read-only$/gm)?.length ?? 0;
      // A node may have fewer operations than its kind.
      assert.ok(allowed > 0 && allowed <= opened, `${allowed} of ${opened}`);
      const there = named.filter((name) => one.includes(`\n${name} `));
      assert.ok(there.length > 0, named.join(", "));
      for (const name of there) {
        // A source may have the same name.
        const rows = one.split("\n").filter((line) => line.startsWith(`${name} `));
        assert.ok(rows.some((row) => / allowed  +\S+  +it is read-only$/.test(row)), rows.join());
      }
    }
  });
}

beside.run();
