/** Registers a suite for each host, with one test for each check. */
import { suite } from "uvu";
import { testWhere } from "../_needs.ts";
import type { Check, Served } from "./_checks.ts";
import type { Row } from "./_table.ts";

export interface Host {
  readonly name: string;
  /** The reason why the host cannot be started on this machine. */
  readonly missing?: string | undefined;
  start(): Promise<Started>;
  readonly checks: readonly Check[];
}

export interface Started extends Served {
  stop(): Promise<unknown>;
}

export function testHost({ name, missing, start, checks }: Host): Row {
  const host = suite(name);
  const row: Row = { name, cells: new Map() };
  let started: Started | undefined;
  // The tests report the error, because uvu does not print an error that is thrown in a hook.
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
  for (const { name: what, check } of checks) {
    testWhere(host, missing, `${name}: ${what}`, async () => {
      row.cells.set(what, "FAIL");
      if (!started) throw failure;
      await check(started);
      row.cells.set(what, "ok");
    });
  }
  host.run();
  return row;
}
