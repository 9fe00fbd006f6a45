/**
 * Creates temporary folders outside the checkout. All users can read the folders, since some tests
 * run programs as other users.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  chmodSync(folder, 0o755);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
