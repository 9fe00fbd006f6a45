/** Records the responses of Nodeface, so that the bare servers can send the same responses. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Answer, ask, header, type Running, start } from "./processes.ts";
import type { Runtime } from "./servers.ts";

export const FOLDER: string = mkdtempSync(join(tmpdir(), "nodeface-bench-"));
process.on("exit", () => rmSync(FOLDER, { recursive: true, force: true }));

export const answersOf = ({ id }: Runtime): string => join(FOLDER, `${id}.json`);

export async function startNodeface(runtime: Runtime): Promise<Running> {
  const running = await start((port) => runtime.nodeface.command(port, ""));
  writeFileSync(answersOf(runtime), JSON.stringify(await record(running)));
  return running;
}

export async function startBare(runtime: Runtime, nodeface: Running): Promise<Running> {
  const { name, command } = runtime.bare;
  const running = await start((port) => command(port, answersOf(runtime)));
  const [own, bare] = [await record(nodeface), await record(running)].map((all) =>
    JSON.stringify(all, undefined, 1)
  );
  if (own !== bare) throw new Error(`"${name}" sends\n${bare}\nand Nodeface\n${own}`);
  return running;
}

async function record({ port }: Running): Promise<object[]> {
  const both = async (path: string, headers: Readonly<Record<string, string>>) => {
    const full = await ask(port, path, headers);
    const etag = header(full, "etag");
    const notModified = await ask(port, path, { ...headers, "If-None-Match": etag });
    return { etag, full: written(full), notModified: written(notModified) };
  };
  return await Promise.all(["/v1/info", "/spec.json"].map(async (path) => ({
    path,
    identity: await both(path, {}),
    gzip: await both(path, { "Accept-Encoding": "gzip" }),
  })));
}

const written = ({ body, ...answer }: Answer) => ({ ...answer, body: body.toString("base64") });
