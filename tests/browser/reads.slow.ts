/**
 * Sends the read-only calls of real nodes from the forms of both views, and leaves the prefilled
 * values unchanged. The sample beside a form, run in a shell, must send the same as the form.
 */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { promisify } from "node:util";
import type { Page, Request } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type JsonObject, objectOf } from "../../src/json/values.ts";
import { testWhere, without } from "../_needs.ts";
import { type Beside, startBeside, TOKEN, TOKEN_FILE } from "../gateway/_beside.ts";
import { callsTo } from "../nodes/_calls.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { closePages, launch, PATIENCE, QUIET, watch } from "./_browser.ts";
import { SIMPLE, visit } from "./_page.ts";
import { answer, openForm, operationAt } from "./_try.ts";

const reads = suite("calls of real nodes from the forms of both views");

/** A write of a node that its form can send as it stands, but for the token. */
const KINDS: Readonly<Record<string, string | undefined>> = {
  bitcoin: undefined,
  ethereum: "eth_sendTransaction",
  etcd: undefined,
  handshake: undefined,
};

/** Of each node, the samples of this number of reads are run, and those of the write. */
const SAMPLES = 8;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly authorization: string | undefined;
}

interface Call {
  /** The status of the response, or why nothing was sent. */
  readonly status: string;
  readonly sent: Sent | undefined;
  readonly sample: string;
}

interface View {
  /** The share of reads that need no input. */
  readonly share: number;
  open(page: Page, url: string): Promise<void>;
  /** Sends a form as it stands, and closes it. */
  call(page: Page, name: string, how: How): Promise<Call>;
}

interface How {
  readonly isSampled: boolean;
  readonly token: string;
}

const VIEWS: Readonly<Record<string, View>> = {
  "the simple page": { share: 0.95, open: openSimple, call: callSimple },
  "the reference": { share: 0.9, open: (page, url) => visit(page, `${url}/`), call: callScalar },
};

for (const [kind, write] of Object.entries(KINDS)) {
  const { path, start, lacks = [] } = PROGRAMS[kind]!;
  testWhere(
    reads,
    without(path),
    `${kind}: nearly every read needs no input, and its sample sends the same`,
    async () => {
      const node = await start();
      // Without a transaction, its reads have no examples.
      if (kind === "ethereum") await sendTransaction(node.url);
      const client = { name: "wallet", token_file: TOKEN_FILE, allow: [write] };
      const clients = write ? [client] : [];
      const beside = await startBeside(node, kind, { open: ["reads"], clients });
      try {
        for (const [view, how] of Object.entries(VIEWS)) {
          const asked = readsIn(beside.paths).filter((name) => !lacks.includes(name));
          const failed = await callAll(how, beside, asked, write);
          console.log(
            `${kind}, ${view}: ${asked.length - failed.length} of ${asked.length}`,
            failed.join("; "),
          );
          assert.ok(failed.length <= asked.length * (1 - how.share), failed.join("\n"));
        }
      } finally {
        await beside.service.stop();
        await node.stop();
      }
    },
  );
}

async function sendTransaction(url: string): Promise<void> {
  const call = callsTo(url);
  const { result } = await call("eth_accounts") as { result: string[] };
  const [from, to] = result;
  await call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
}

/** Returns the reads that did not succeed, with the reasons. */
async function callAll(
  { open, call }: View,
  { url }: Beside,
  asked: readonly string[],
  write: string | undefined,
): Promise<string[]> {
  const browser = await launch();
  const failed: string[] = [];
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const complaints = await watch(page, url);
    await open(page, url);
    for (const name of [...write ? [write] : [], ...asked]) {
      const isSampled = name === write || asked.indexOf(name) < SAMPLES;
      const token = name === write ? TOKEN : "";
      const { status, sent, sample } = await call(page, name, { isSampled, token });
      if (!status.startsWith("200")) failed.push(`${name}: ${status}`);
      if (sent && isSampled) assert.equal(await runSample(sample, url), sent, `${name}: ${sample}`);
    }
    // Chromium itself reports each response with a status of 400 or above.
    const others = complaints.console.filter((text) => !text.startsWith("Failed to load"));
    assert.equal({ ...complaints, console: others, failed: [] }, QUIET);
  } finally {
    await closePages(browser);
  }
  assert.not(failed.some((name) => name.startsWith(`${write}:`)), failed.join("\n"));
  return failed;
}

function readsIn(paths: Readonly<Record<string, JsonObject>>): string[] {
  return Object.values(paths).flatMap((item) =>
    Object.values(item).map(objectOf).filter((operation) =>
      operation["x-access"] === "read" && operation["x-call"] === "open" &&
      !operation["x-streaming"] && !operation["x-subscription"] &&
      !operation["x-connection"] && !operation["x-scalar-ignore"]
    ).map(({ operationId }) => String(operationId))
  );
}

async function openSimple(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/${SIMPLE}`);
  await page.locator("#plain article").first().waitFor();
}

async function callSimple(page: Page, name: string, { token }: How): Promise<Call> {
  const operation = operationAt(page, name);
  const form = await openForm(operation);
  if (token) await form.locator(".secret").fill(token);
  // The page looks for values of the node before it sends the form, so the last call is the form's.
  let last: Request | undefined;
  const note = (request: Request) => {
    if (isCall(request)) last = request;
  };
  page.on("request", note);
  const status = operation.locator(".status");
  await form.locator(".send").click();
  const confirmed = page.locator("#plain dialog").getByRole("button", { name: "Send" });
  const told = status.filter({ hasText: /^\d|^Fix|^No response/ });
  await told.or(confirmed).first().waitFor();
  if (await confirmed.isVisible()) await answer(confirmed, () => confirmed.click());
  await told.waitFor();
  page.off("request", note);
  const text = await status.innerText();
  const sample = await operation.locator(".command code").last().textContent() ?? "";
  await operation.locator(".try > summary").click();
  return { status: text, sent: text.startsWith("Fix") ? undefined : sentBy(last!), sample };
}

async function callScalar(page: Page, name: string, { isSampled, token }: How): Promise<Call> {
  const secret = page.locator("#node .secret");
  if (await secret.isVisible()) await secret.fill(token);
  await page.evaluate((name) => location.hash = `#op/${name}`, name);
  await page.waitForFunction(() => !location.hash.startsWith("#op/"));
  const id = decodeURIComponent(new URL(page.url()).hash.slice(1));
  await page.locator(`[id="spec/${id}"] .show-api-client-button`).first().click();
  const client = page.getByRole("dialog", { name: "API Client" });
  const confirmed = client.locator("#confirm").getByRole("button", { name: "Send" });
  const response = page.waitForResponse((response) => isCall(response.request()), {
    timeout: PATIENCE,
  });
  await client.getByRole("button", { name: /^Send \w+ request/ }).click();
  await Promise.race([response, confirmed.waitFor()]);
  let body = "";
  if (await confirmed.isVisible()) {
    // Chromium does not tell the content of a request that a page makes from a stream.
    body = await client.locator("#confirm dd").last().innerText();
    await answer(confirmed, () => confirmed.click());
  }
  const received = await response;
  // A client that is closed earlier complains that it cannot read the response.
  await client.getByText(new RegExp(`^${received.status()} `)).first().waitFor();
  const sample = isSampled ? await sampleOf(page) : "";
  await page.getByRole("button", { name: "Close Client" }).click();
  await client.waitFor({ state: "hidden" });
  const said = received.ok() ? "" : await received.text();
  return { status: `${received.status()} ${said}`, sent: sentBy(received.request(), body), sample };
}

const isCall = (request: Request): boolean => "x-nodeface" in request.headers();

const sentBy = (request: Request, body = ""): Sent =>
  sentOf(request.method(), request.url(), request.postData() ?? body, request.headers());

function sentOf(
  method: string,
  url: string,
  body: string,
  { authorization }: { readonly authorization?: string | undefined },
): Sent {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  return {
    method,
    url: `${pathname}?${searchParams}`,
    body: body && JSON.stringify(JSON.parse(body)),
    authorization,
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
    sent = sentOf(request.method!, request.url!, body, request.headers);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const line = sample.replace(url, `http://127.0.0.1:${port}`);
    const env = { ...process.env, NODEFACE_TOKEN: TOKEN };
    await promisify(execFile)("sh", ["-c", line], { timeout: PATIENCE, env });
  } finally {
    server.close();
  }
  return sent!;
}

reads.run();
