/** Serves descriptions and runs tools on them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../_paths.ts";
import { COMMANDS, start } from "../_server.ts";
import type { Document } from "./_documents.ts";
import { KNOWN_FAULTS, type KnownFault } from "./_known-faults.ts";
import { countOperations } from "./programs/count-operations.ts";
import type { Input, Tool, Verdict } from "./_tools.ts";

export interface Pair {
  document: string;
  tool: string;
  /** The tool's error message for the served description. */
  problem: string | undefined;
  /**
   * The tool's error message for the original document. This document is tested only if the tool
   * fails on the served description.
   */
  original: string | undefined;
  fault: KnownFault | undefined;
  seconds: number;
}

/** The time limit for running a tool on a description, in milliseconds. */
const TIMEOUT = 600_000;
/** The time limit for a tool that is known to hang, in milliseconds. */
const SHORT_TIMEOUT = 30_000;
const LANES = 2;
/** An address where no server listens. */
const NODE = "http://127.0.0.1:9053";

function pathsOf(file: string): string[] {
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  const { paths } = (text.startsWith("{") ? JSON.parse(text) : parse(text)) as { paths?: object };
  return Object.keys(paths ?? {});
}

const OWN_PATHS = pathsOf(`${ROOT}spec/openapi.yaml`);

export async function runPairs(document: Document, tools: readonly Tool[]): Promise<Pair[]> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-tools-"));
  const entry = document.entry?.(folder);
  const description = entry === undefined ? argumentsOf(document, folder) : ["--spec", entry, NODE];
  const server = await start([...COMMANDS.Node, ...description]);
  try {
    const [json, yaml] = ["spec.json", "spec.yaml"].map((path) => new URL(path, server.url).href);
    await untilShown(server.url, document);
    const jsonFile = await keep(json!, join(folder, "served.json"));
    const yamlFile = await keep(yaml!, join(folder, "served.yaml"));
    const input = { json: json!, yaml: yaml!, jsonFile, yamlFile, entry };
    const { paths } = JSON.parse(readFileSync(jsonFile, "utf8"));
    // If the user's description and the service share a path, the `operationId` shows which of the
    // two operations is served.
    const theirs = new Set(entry === undefined ? [] : pathsOf(entry));
    const isOurs = (path: string) =>
      !theirs.has(path) || /^nodeface/.test(paths?.[path]?.get?.operationId);
    const added = OWN_PATHS.filter(isOurs);
    const own = countOperations({
      paths: Object.fromEntries(added.map((path) => [path, paths?.[path] ?? {}])),
    });
    const operations = document.operations + own;
    const waiting = [...tools];
    const pairs: Pair[] = [];
    await Promise.all(Array.from({ length: LANES }, async () => {
      for (let tool = waiting.shift(); tool; tool = waiting.shift()) {
        const pair = await runPair(document, tool, input, operations, folder);
        pairs.push(pair);
        console.error(`${pair.seconds.toFixed(1).padStart(6)} s  ${describe(pair)}`);
      }
    }));
    return tools.map(({ name }) => pairs.find(({ tool }) => tool === name)!);
  } finally {
    await server.stop("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

export function complaintOf({ problem, original, fault }: Pair): string | undefined {
  if (problem === undefined) return fault && `succeeds now, despite the known fault: ${fault.why}`;
  if (fault && (original !== undefined || fault.evidence !== undefined)) return undefined;
  return original === undefined ? problem : `${problem}\nwith the original document: ${original}`;
}

function argumentsOf({ kind, software }: Document, folder: string): string[] {
  if (kind === undefined) return [];
  if (software === undefined) return ["--kind", kind, NODE];
  const file = join(folder, "nodeface.json");
  const settings = { node: { url: NODE, kind }, info: { static: { software } } };
  writeFileSync(file, JSON.stringify(settings));
  return ["--config", file];
}

async function untilShown(url: string, { kind }: Document): Promise<void> {
  const since = performance.now();
  while (performance.now() - since < TIMEOUT) {
    const path = kind === undefined ? "v1/spec" : "spec.json";
    const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(TIMEOUT) });
    if (kind === undefined) {
      if (!(await response.text()).includes("is being read")) return;
    } else {
      const { paths = {} } = await response.json() as { paths?: object };
      if (Object.keys(paths).some((path) => !OWN_PATHS.includes(path))) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function keep(url: string, path: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  if (!response.ok) throw new Error(`${url} responds with ${response.status}`);
  writeFileSync(path, new Uint8Array(await response.arrayBuffer()));
  return path;
}

async function runPair(
  { name, entry, operations }: Document,
  tool: Tool,
  input: Input,
  served: number,
  folder: string,
): Promise<Pair> {
  const started = performance.now();
  const fault = KNOWN_FAULTS.find(({ tool: of, documents }) =>
    of === tool.name && documents.includes(name)
  );
  const timeout = fault?.isEndless ? SHORT_TIMEOUT : TIMEOUT;
  const give = async (input: Input, expected: number, form: string) => {
    const own = join(folder, `${tool.name} ${form}`);
    mkdirSync(own);
    return problemOf(await tool.run(input, own, timeout), expected);
  };
  const problem = await give(input, served, "served");
  const seconds = (performance.now() - started) / 1000;
  let original: string | undefined;
  if (problem !== undefined && entry !== undefined && !tool.isOurs) {
    const place = input.entry!;
    const same = { json: place, yaml: place, jsonFile: place, yamlFile: place, entry: place };
    original = await give(same, operations, "original");
  }
  return { document: name, tool: tool.name, problem, original, fault, seconds };
}

function problemOf({ problem, operations }: Verdict, expected: number): string | undefined {
  if (problem !== undefined) return problem;
  if (operations === undefined || operations === expected) return undefined;
  return `has ${operations} of ${expected} operations`;
}

function describe(pair: Pair): string {
  const complaint = complaintOf(pair);
  const state = complaint !== undefined
    ? "FAILS"
    : pair.fault
    ? `fault of the ${pair.fault.of}`
    : "right";
  return `${pair.document} × ${pair.tool}: ${state}`;
}
