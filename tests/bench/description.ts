/** How long a large description takes until it is served, and what it costs meanwhile. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { FOLDER } from "./answers.ts";
import { type Section, step, Table } from "./output.ts";
import { ask, memory, run, start } from "./processes.ts";
import { chosen, PROGRAMS } from "./servers.ts";
import { median } from "./statistics.ts";

/** Each is about one kB. */
const OPERATIONS = 7_000;

/** The least that a service in JavaScript has to do with a description. */
const LEAST = `
  const text = require("node:fs").readFileSync(process.argv[1], "utf8");
  const since = performance.now();
  JSON.stringify(JSON.parse(text));
  console.log(performance.now() - since);`;

/** Measures on Node 26 and as an executable. */
export async function description(
  _only: readonly string[],
  isQuick: boolean,
): Promise<Section> {
  const document = createDocument();
  const [json, yaml] = [join(FOLDER, "large.json"), join(FOLDER, "large.yaml")];
  writeFileSync(json, JSON.stringify(document));
  writeFileSync(yaml, stringify(document, { aliasDuplicateObjects: false }));
  const rounds = Array.from({ length: isQuick ? 1 : 3 });

  const table = new Table(["description", "served, s", "× JSON", "wait, ms", "MB at most"]);
  const least: number[] = [];
  for (const _ of rounds) least.push(Number(await run([PROGRAMS["Node 26"], "-e", LEAST, json])));
  table.add("JSON.parse, stringify", median(least) / 1000, 1, NaN, NaN);
  for (const { nodeface } of chosen(["node26", "executable"])) {
    for (const [form, file] of [["JSON", json], ["YAML", yaml]] as const) {
      const name = `${nodeface.name}, ${form}`;
      const served: Served[] = [];
      for (const _ of rounds) {
        step(name);
        served.push(await serve((port) => [...nodeface.command(port, ""), "--spec", file]));
      }
      const of = (what: keyof Served) => median(served.map((each) => each[what]));
      table.add(name, of("took") / 1000, of("took") / median(least), of("wait"), of("memory"));
    }
  }
  const text = `A description of ${
    OPERATIONS.toLocaleString("en")
  } operations, about 7 MB of JSON or 10 MB of YAML: from the
start of the process until \`/spec.json\` is answered, beside what JSON.parse and JSON.stringify take
for it on Node 26; the longest that \`/v1/info\` has to wait meanwhile; and the most memory the
process has had by then.`;
  return { title: "A large description", text, table };
}

/** Milliseconds and MB. */
interface Served {
  took: number;
  wait: number;
  memory: number;
}

async function serve(command: (port: number) => readonly string[]): Promise<Served> {
  const { port, pid, took, stop } = await start(command);
  const since = performance.now();
  let isServed = false;
  const spec = ask(port, "/spec.json").finally(() => isServed = true);
  let wait = 0;
  while (!isServed) {
    const asked = performance.now();
    await ask(port, "/v1/info");
    wait = Math.max(wait, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { status } = await spec;
  if (status !== 200) throw new Error(`"/spec.json" is answered with ${status}`);
  const whole = took + performance.now() - since;
  const result = { took: whole, wait, memory: memory(pid, "VmHWM") };
  await stop();
  return result;
}

/** Makes a description in which no two operations are the same. */
function createDocument(): object {
  const text = "Says what the thing is, what state it is in, and since when it has been so. ";
  const paths = Object.fromEntries(Array.from({ length: OPERATIONS }, (_, i) => {
    const property = { type: "string", description: `Of thing ${i}. ${text}` };
    const schema = {
      type: "object",
      properties: { id: property, name: property, state: property },
    };
    const content = { "application/json": { schema } };
    const get = {
      operationId: `getThing${i}`,
      tags: [`tag${i % 40}`],
      description: text.repeat(5),
      parameters: [{ name: "depth", in: "query", schema: { type: "integer" } }],
      responses: { "200": { description: text, content } },
    };
    return [`/things/${i}`, { get }];
  }));
  return { openapi: "3.1.1", info: { title: "Things", version: "1" }, paths };
}
