/**
 * Calls every operation of real descriptions at the drop-in address. The descriptions are those
 * that tests/tools/setup.mjs extracts, and the files in the folder `DESCRIPTIONS_FOLDER`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import type { JsonObject } from "../../src/json/values.ts";
import { type PlayedNode, playNode, type ReceivedRequest, textOf } from "../_gateway.ts";
import { testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { callsOf, type Described } from "./_described-calls.ts";

const real = suite("every operation of real descriptions");

const FOLDERS = [`${ROOT}tests/.cache/documents`, process.env.DESCRIPTIONS_FOLDER ?? ""];
const FILES = FOLDERS.filter((folder) => folder !== "" && existsSync(folder))
  .flatMap((folder) => readdirSync(folder).sort().map((name) => join(folder, name)))
  .filter((file) => /\.(json|ya?ml)$/.test(file));

/** What `nodeface check` says of an operation. */
interface Row {
  readonly operation: string;
  readonly call: "allowed" | "refused";
  readonly address: string;
  readonly why: string;
}

/** What came of a call: nothing if it arrived as it was sent. */
interface Outcome {
  readonly call: Described;
  readonly reason?: string;
  /** True if `nodeface check` gives the reason. */
  readonly isListed: boolean;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
real.after(() => agent.destroy());

if (FILES.length === 0) {
  const missing = "needs node tests/tools/setup.mjs or DESCRIPTIONS_FOLDER";
  testWhere(real, missing, "each operation arrives as it was sent", () => Promise.resolve());
}

for (const file of FILES) {
  real(
    `each operation of ${file} arrives as it was sent, or is listed with the reason`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "nodeface-described-"));
      const node = await playNode();
      const config = join(folder, "nodeface.json");
      const settings = {
        node: { url: node.url, kind: "none" },
        description: file,
        forward: { open: ["*"] },
      };
      await writeFile(config, JSON.stringify(settings));
      const service = await start([...COMMANDS.Node, "--config", config]);
      try {
        const rows = await check(config);
        await isRead(service, rows);
        const outcomes: Outcome[] = [];
        for (const call of callsOf(read(file))) {
          outcomes.push(await outcomeOf(call, { rows, service, node }));
        }
        console.log(`\n${file}: ${report(outcomes)}`);
        const unexplained = outcomes.filter(({ reason, isListed }) => reason && !isListed);
        assert.equal(unexplained.map(({ call, reason }) => `${nameOf(call)}: ${reason}`), []);
      } finally {
        await service.stop();
        await node.close();
        await rm(folder, { recursive: true });
      }
    },
  );
}

function read(file: string): JsonObject {
  const text = readFileSync(file, "utf8");
  return extname(file) === ".json" ? JSON.parse(text) : parse(text, { maxAliasCount: -1 });
}

async function check(config: string): Promise<ReadonlyMap<string, Row>> {
  const { stdout } = await run([...COMMANDS.Node, "check", "--config", config, "--json"]);
  const rows: Row[] = JSON.parse(stdout).calls;
  return new Map(rows.map((row) => [row.operation, row]));
}

/** Waits until the service serves what it has read. */
async function isRead({ url }: Running, rows: ReadonlyMap<string, Row>): Promise<void> {
  const allowed = [...rows.values()].find(({ call }) => call === "allowed");
  await until(async () => {
    const { paths } = await (await fetch(new URL("spec.json", url))).json();
    return allowed === undefined || allowed.address in paths;
  });
}

interface Scene {
  readonly rows: ReadonlyMap<string, Row>;
  readonly service: Running;
  readonly node: PlayedNode;
}

async function outcomeOf(call: Described, { rows, service, node }: Scene): Promise<Outcome> {
  const row = rows.get(nameOf(call));
  if (row?.call !== "allowed") {
    const reason = row?.why ?? elsewhere(call);
    return { call, isListed: reason !== undefined, reason: reason ?? "check does not know it" };
  }
  // The simulated node does not record what the service itself asks.
  if (nameOf(call) === "HEAD /") return { call, isListed: true, reason: "it is not recorded" };
  node.forget();
  const prefix = row.address.slice(0, row.address.length - call.path.replace(/[#?].*/, "").length);
  const [status, answer] = await send(service, { ...call, target: prefix + call.target });
  const [request, more] = node.received;
  if (!request) return { call, isListed: false, reason: `${status} ${detailOf(answer)}` };
  const difference = more ? "it arrived twice" : differenceOf(call, request);
  return { call, isListed: false, ...difference && { reason: difference } };
}

/** An operation of another host is not one of the node. */
const elsewhere = ({ server }: Described) =>
  server !== undefined && /^https?:/.test(server) ? `it belongs to ${server}` : undefined;

const nameOf = ({ method, path }: Described) => `${method} ${path}`;

function differenceOf(call: Described, request: ReceivedRequest): string | undefined {
  if (request.method !== call.method) return `the method arrived as ${request.method}`;
  if (request.url !== call.target) return `${call.target} arrived as ${request.url}`;
  if (textOf(request) !== call.body) return `the body arrived as ${textOf(request)}`;
  const lost = Object.entries(call.headers).filter(([name, value]) =>
    request.headers[name] !== value
  );
  return lost.length > 0 ? `without ${lost.map(([name]) => name).join(", ")}` : undefined;
}

function send({ url }: Running, { method, target, headers, body }: Described) {
  const { hostname, port } = new URL(url);
  const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise<[status: number, text: string]>((resolve, reject) => {
    const sent = request({
      ...{ hostname, port, method, path: target, agent },
      headers: { ...headers, ...length },
    }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => text += part);
      response.on("end", () => resolve([response.statusCode ?? 0, text])).on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

function detailOf(answer: string): string {
  try {
    return JSON.parse(answer).detail;
  } catch {
    return answer.slice(0, 100);
  }
}

/** Counts the calls, and lists each reason with the first operation it applies to. */
function report(outcomes: readonly Outcome[]): string {
  const reasons = new Map<string, Described[]>();
  for (const { reason, call } of outcomes) {
    if (reason) reasons.set(reason, [...reasons.get(reason) ?? [], call]);
  }
  const arrived = outcomes.filter(({ reason }) => !reason).length;
  const lines = [...reasons].map(([reason, calls]) =>
    `  ${calls.length} × ${reason} (${nameOf(calls[0]!)})`
  );
  return [`${arrived} of ${outcomes.length} operations arrived as sent`, ...lines].join("\n");
}

real.run();
