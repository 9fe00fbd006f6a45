/**
 * Folders in which executables are put together.
 *
 * @module
 */
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Makes an empty folder in `dist/`, where a program finds what it puts into an executable. */
export async function makeStage(): Promise<string> {
  const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
  await mkdir(dist, { recursive: true });
  return await mkdtemp(join(dist, "stage-"));
}
