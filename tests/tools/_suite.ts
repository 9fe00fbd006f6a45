/** Registers a suite for each document, with one test for each tool. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere } from "../_needs.ts";
import type { Document } from "./_documents.ts";
import { complaintOf, type Pair, runPairs } from "./_pairs.ts";
import { tableOf } from "./_table.ts";
import type { Tool } from "./_tools.ts";

export function testPairs(all: readonly Document[], tools: readonly Tool[]): void {
  const only = new RegExp(process.env.DOCUMENTS ?? "");
  const documents = all.filter(({ name }) => only.test(name));
  const usable = tools.filter(({ missing }) => missing === undefined);
  const done: Pair[] = [];
  for (const document of documents) {
    const pairs = suite(document.name);
    // uvu would not print an error that is thrown in a hook.
    let failure: Error | undefined;
    pairs.before(async () => {
      try {
        done.push(...await runPairs(document, usable));
      } catch (error) {
        failure = error as Error;
      }
    });
    pairs("the description is served", () => {
      if (failure) throw failure;
    });
    for (const tool of tools) {
      testWhere(pairs, tool.missing, `${tool.name}: ${document.name}`, () => {
        const pair = done.find((pair) =>
          pair.document === document.name && pair.tool === tool.name
        );
        assert.ok(pair, "the tool was not run");
        const complaint = complaintOf(pair!);
        if (complaint === undefined) return Promise.resolve();
        // An empty stack keeps uvu from printing a stack trace after the message.
        return Promise.reject(Object.assign(new Error(complaint), { stack: "" }));
      });
    }
    if (document === documents.at(-1)) {
      const [rows, columns] = [documents, tools].map((list) => list.map(({ name }) => name));
      pairs.after(() => console.log(`\n${tableOf(rows!, columns!, done)}`));
    }
    pairs.run();
  }
}
