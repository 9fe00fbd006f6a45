/** Calls the read-only operations of a real node from the forms of the simple page. */
import type { Page } from "playwright-core";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { type JsonObject, listOf, objectOf } from "../../src/json/values.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { markedAs } from "../gateway/_ask-through.ts";
import { startBeside } from "../gateway/_beside.ts";
import { type AskedNode, formOf, isHarmless, paramsOf } from "../nodes/_interface.ts";
import { testWhere, without } from "../_needs.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { closePages, launch } from "./_browser.ts";
import { fillForm, openForm, operationAt, sendForm } from "./_try.ts";

interface Reads {
  readonly sent: number;
  readonly wrong: readonly string[];
}

/** @param least the number of operations that must have been called */
export function testResults(suite: Test, kind: string, least: number): void {
  const { path, start } = PROGRAMS[kind]!;
  const sentence = "each operation shows the result that the node itself gives";
  testWhere(suite, without(path), sentence, async () => {
    const node = await start();
    try {
      const { sent, wrong } = await sendReads(node, kind);
      assert.equal(wrong, []);
      assert.ok(sent >= least, `${sent} were sent`);
    } finally {
      await node.stop();
    }
  });
}

async function sendReads(node: AskedNode, kind: string): Promise<Reads> {
  const { openrpc } = markedAs("read", await loadInterface(kind));
  const beside = await startBeside(node, kind, "reads");
  const browser = await launch();
  const wrong: string[] = [];
  let sent = 0;
  try {
    const page = await openPage(await browser.newPage(), beside.url);
    for (const method of openrpc!.methods) {
      const params = isHarmless(method, node) ? paramsOf(method, node.known) : undefined;
      const described = beside.paths[`/v1/rpc/${method.name}`];
      if (!params || !described) continue;
      const operation = operationAt(page, method.name);
      await fillForm(await openForm(operation), valuesFor(described, params));
      const { status, text } = await sendForm(operation);
      sent++;
      const direct = await node.call!(method.name, formOf(method, params));
      const code = "error" in direct ? direct.error.code : undefined;
      // In JSON-RPC, -32602 means invalid parameters, and -32601 means that the method does not
      // exist.
      const expected = code === undefined
        ? /^200 /
        : code === -32602
        ? /^400 /
        : code === -32601
        ? /^404 /
        : /^(422|503) /;
      const isSame = "error" in direct || isPartOf(text, direct.result);
      if (!expected.test(status) || text === "" || !isSame) {
        wrong.push(`${method.name}: ${status}, and of the node ${code}; ${text.slice(0, 300)}`);
      }
      await operation.locator("summary").first().click();
    }
  } finally {
    await closePages(browser);
    await beside.service.stop();
  }
  return { sent, wrong };
}

/** Tells whether the lines that are shown are of the value. The page folds what is nested. */
function isPartOf(shown: string, value: unknown): boolean {
  const plain = (_: string, one: unknown) => typeof one === "bigint" ? Number(one) : one;
  const lines = new Set(shapesOf(JSON.stringify(value, plain, 2)));
  return shapesOf(shown).every((line) => lines.has(line));
}

/** Numbers and long texts, such as times and nonces, may differ between two calls. */
const shapesOf = (json: string): string[] =>
  json.split("\n").map((line) =>
    line.trim().replace(/,$/, "").replace(/"[^"]{16,}"$|-?\d[\d.]*(?:e[+-]?\d+)?$/i, "0")
  ).filter((line) => line !== "");

/** @returns the page's message about the invalid field */
export async function sendWrong(
  node: AskedNode,
  kind: string,
  method: string,
  values: Record<string, string>,
  field: string,
): Promise<string> {
  const beside = await startBeside(node, kind, "reads");
  const browser = await launch();
  try {
    const page = await openPage(await browser.newPage(), beside.url);
    const operation = operationAt(page, method);
    const form = await openForm(operation);
    await fillForm(form, values);
    assert.match((await sendForm(operation)).status, /^400 /);
    const marked = form.locator(`[name="${field}"][aria-invalid="true"]`);
    await marked.waitFor();
    return await marked.evaluate((input) =>
      document.getElementById(input.getAttribute("aria-describedby")!)!.textContent ?? ""
    );
  } finally {
    await closePages(browser);
    await beside.service.stop();
  }
}

async function openPage(page: Page, url: string): Promise<Page> {
  page.setDefaultTimeout(30_000);
  await page.goto(`${url}/v1/spec/simple`, { waitUntil: "commit" });
  await page.locator("#plain article").first().waitFor();
  return page;
}

function valuesFor(
  item: JsonObject,
  params: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const { get } = objectOf(item);
  if (get === undefined) return { body: JSON.stringify(params) };
  const names = listOf(objectOf(get).parameters).map((parameter) => objectOf(parameter).name);
  const given = Object.entries(params)
    .filter(([name, value]) => names.includes(name) && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
