import * as assert from "uvu/assert";
import { formatKindFile } from "../src/cli/kinds.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { KINDS } from "../src/generated/kinds.js";
import { parseKind } from "./_kinds.ts";

/** Asserts that the file which the command prints for a built-in kind has all that the kind has. */
export async function assertPrinted(name: string): Promise<void> {
  const { openrpc, openapi, ...kind } = parseKind(await formatKindFile(name), "mine.yaml");
  // The built-in kinds also have `examples` and `rpc_path`, which the build takes from the kind's
  // operations; the whole of `openrpc`, with its path, is compared below.
  const { examples: _, rpc_path: __, ...known } = KINDS[name]!;
  assert.equal(kind, known, name);
  const parts = { ...openrpc && { openrpc }, ...openapi && { openapi } };
  assert.equal(parts, await loadInterface(name), name);
}
