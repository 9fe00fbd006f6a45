/** The service beside a real node, started by its command, with calls forwarded. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatJson } from "../../src/json/lossless.ts";
import { type Json, objectOf } from "../../src/json/values.ts";
import { COMMANDS, type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import type { AskedNode } from "../nodes/_interface.ts";

/** A service that forwards. */
export interface Beside {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** The paths of its description. */
  readonly paths: Readonly<Record<string, Json>>;
  readonly service: Running;
}

/**
 * Starts the service beside a node, and waits until it describes what the node can do.
 *
 * @param forward what `--forward` is, or `forward` of the configuration
 */
export async function startBeside(
  { url, auth }: Pick<AskedNode, "url" | "auth">,
  kind: string,
  forward: string | Json = "reads",
): Promise<Beside> {
  const file = join(await mkdtemp(join(tmpdir(), "nodeface-")), "nodeface.yaml");
  const node = { url, kind, ...auth && { auth } };
  const isFlag = typeof forward === "string";
  await writeFile(file, formatJson({ node, ...!isFlag && { forward } }));
  const flags = isFlag ? ["--forward", forward] : [];
  const service = await start([...COMMANDS.Node, "--config", file, ...flags]);
  try {
    let paths: Record<string, Json> = {};
    await until(async () => {
      const description = await (await fetch(new URL("spec.json", service.url))).json();
      paths = objectOf(description.paths) as Record<string, Json>;
      return Object.keys(paths).length > 5;
    }, 60_000);
    return { url: service.url.replace(/\/$/, ""), paths, service };
  } catch (error) {
    await service.stop();
    throw error;
  }
}
