/** A suite for each host that is started, with a test for each check. */
import { suite } from "uvu";
import { testWhere } from "../_needs.ts";
import type { Check, Served } from "./_checks.ts";
import type { Row } from "./_table.ts";

/** A host that can be started. */
export interface Host {
  readonly name: string;
  /** Why it cannot be started here. */
  readonly missing?: string | undefined;
  start(): Promise<Started>;
  readonly checks: readonly Check[];
}

/** A host that runs. */
export interface Started extends Served {
  stop(): Promise<unknown>;
}

/** Tests a host. @returns its row of the table, which is filled while the tests run */
export function testHost({ name, missing, start, checks }: Host): Row {
  const host = suite(name);
  const row: Row = { name, cells: new Map() };
  let started: Started | undefined;
  // The error of a hook would not be printed.
  let failure: unknown;
  host.before(async () => {
    if (missing !== undefined) return;
    try {
      started = await start();
    } catch (error) {
      failure = error;
    }
  });
  host.after(async () => void await started?.stop());
  for (const { name: what, check, fault } of checks) {
    testWhere(host, missing, `${name}: ${what}`, async () => {
      row.cells.set(what, "FAIL");
      if (!started) throw failure;
      const known = fault?.(started);
      if (known === undefined) await check(started);
      else await assertFails(check(started), known);
      row.cells.set(what, known === undefined ? "ok" : "known");
    });
  }
  host.run();
  return row;
}

/** Holds that what is known to be wrong still is, so that it is taken off the list when it is mended. */
async function assertFails(checked: Promise<void>, known: string): Promise<void> {
  const holds = await checked.then(() => true, () => false);
  if (holds) throw new Error(`it holds now: take the fault off its list (${known})`);
}
