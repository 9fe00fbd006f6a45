/**
 * Sends the read-only calls of real nodes with Scalar's *Test Request* button, and leaves the
 * prefilled values unchanged. The sample beside the form, run in a shell, must send the same.
 */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Json, objectOf } from "../../src/json/values.ts";
import { testWhere, without } from "../_needs.ts";
import { startBeside } from "../gateway/_beside.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { closePages, launch, QUIET, watch } from "./_browser.ts";
import { visit } from "./_page.ts";

const reference = suite("read-only operations of real nodes, called from the reference");

const KINDS = ["bitcoin", "ethereum", "etcd", "handshake"];

/** Of each node, the samples of this number of operations are run. */
const SAMPLES = 8;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

for (const kind of KINDS) {
  const { path, start } = PROGRAMS[kind]!;
  testWhere(
    reference,
    without(path),
    `${kind}: nine of ten reads need no input`,
    async () => {
      const node = await start();
      const { url, paths, service } = await startBeside(node, kind);
      const browser = await launch();
      const failed: string[] = [];
      try {
        const page = await browser.newPage({
          viewport: { width: 1280, height: 900 },
        });
        const complaints = await watch(page, url);
        await visit(page, `${url}/`);
        const reads = readsIn(paths);
        for (const [at, name] of reads.entries()) {
          await open(page, name);
          const { status, sent } = await send(page);
          if (status !== 200) failed.push(`${name}: ${status}`);
          if (sent && at < SAMPLES) {
            assert.equal(
              await runSample(await sampleOf(page), url),
              sent,
              `the sample of ${name}`,
            );
          }
          await page.getByRole("button", { name: "Close Client" }).click();
        }
        console.log(
          `${kind}: ${reads.length - failed.length} of ${reads.length}`,
          failed.join(", "),
        );
        assert.ok(failed.length <= reads.length / 10, failed.join("\n"));
        // Chromium itself reports each response with a status of 400 or above.
        const others = complaints.console.filter((text) => !text.startsWith("Failed to load"));
        assert.equal({ ...complaints, console: others, failed: [] }, QUIET);
      } finally {
        await closePages(browser);
        await service.stop();
        await node.stop();
      }
    },
  );
}

function readsIn(paths: Readonly<Record<string, Json>>): string[] {
  return Object.values(paths).flatMap((item) =>
    Object.values(item).map(objectOf).filter((operation) =>
      operation["x-access"] === "read" && operation["x-call"] === "open" &&
      !operation["x-streaming"] && !operation["x-scalar-ignore"]
    ).map(({ operationId }) => String(operationId))
  );
}

async function open(page: Page, name: string): Promise<void> {
  await page.evaluate((name) => location.hash = `#op/${name}`, name);
  await page.waitForFunction(() => !location.hash.startsWith("#op/"));
  const id = decodeURIComponent(new URL(page.url()).hash.slice(1));
  await page.locator(`[id="spec/${id}"] .show-api-client-button`).first()
    .click();
}

/** `status` is 0 if Scalar asks for a value and sends nothing. */
async function send(page: Page): Promise<{ status: number; sent?: Sent }> {
  const isCall = (request: { headers(): Record<string, string> }) =>
    "x-nodeface" in request.headers();
  const response = page.waitForResponse(
    (response) => isCall(response.request()),
    {
      timeout: 5000,
    },
  ).catch(() => undefined);
  await page.getByRole("button", { name: /^Send (get|post) request/ }).click();
  const received = await response;
  if (!received) return { status: 0 };
  const request = received.request();
  const sent = sentOf(
    request.method(),
    request.url(),
    request.postData() ?? "",
  );
  return { status: received.status(), sent };
}

function sentOf(method: string, url: string, body: string): Sent {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  return {
    method,
    url: `${pathname}?${searchParams}`,
    body: body && JSON.stringify(JSON.parse(body)),
  };
}

async function sampleOf(page: Page): Promise<string> {
  const client = page.getByRole("dialog", { name: "API Client" });
  const snippet = client.locator("pre code").last();
  if (!await snippet.isVisible()) {
    await client.getByText("Code Snippet").click();
  }
  await snippet.waitFor();
  return await snippet.evaluate((code) =>
    [...code.childNodes].map(({ textContent }) => textContent).join("")
  );
}

/** Runs a sample with a server that records the request, instead of the service. */
async function runSample(sample: string, url: string): Promise<Sent> {
  let sent: Sent | undefined;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    sent = sentOf(request.method!, request.url!, body);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const line = sample.replace(url, `http://127.0.0.1:${port}`);
    await promisify(execFile)("sh", ["-c", line], { timeout: 10_000 });
  } finally {
    server.close();
  }
  return sent!;
}

reference.run();
