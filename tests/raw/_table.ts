/** Sends the raw requests of the table to several servers, and compares the responses. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gunzipSync } from "node:zlib";
import type { Server } from "../runtimes/_suite.ts";
import { CASES } from "./_cases.ts";
import { DIFFERENCES } from "./_differences.ts";
import { type Exchange, exchange } from "./_exchange.ts";

/**
 * Header fields that depend on the connection, on the encoder or on the start time are not
 * compared.
 */
const OWN = ["connection", "date", "transfer-encoding"];
const OF_THE_ENCODER = "content-length";
const OF_THE_START = "etag";

export function rawSuite(title: string, starts: ReadonlyMap<string, () => Promise<Server>>): void {
  const rawCases = suite(title);

  const servers = new Map<string, Server>();
  rawCases.before(async () => {
    for (const [name, start] of starts) servers.set(name, await start());
  });
  rawCases.after(async () => {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  });

  for (const { name, bytes, status, answers = 1, bodiless = false } of CASES) {
    rawCases(`${name.slice(0, 80)}: ${status}`, async () => {
      const exchanges = await Promise.all(
        [...servers].map(async ([runtime, { url }]) =>
          [runtime, await exchange(url, bytes, { answers, bodiless })] as const
        ),
      );
      let first: ReturnType<typeof comparable> | undefined;
      for (const [runtime, answer] of exchanges) {
        const difference = DIFFERENCES.find((row) =>
          runtime.startsWith(row.runtime) && name in row.cases
        );
        assert.is(answer.status, difference?.cases[name] ?? status, runtime);
        if (difference) continue;
        assert.is(answer.headers["x-content-type-options"], "nosniff", runtime);
        const isPage = answer.headers["content-type"]?.startsWith("text/html");
        const policy = isPage ? "same-origin" : "no-referrer";
        assert.is(answer.headers["referrer-policy"], policy, runtime);
        assert.is(answer.answers, answers, `${runtime} gives ${answer.answers} answers`);
        const compared = comparable(answer);
        first ??= compared;
        assert.equal(compared, first, `${runtime} differs`);
      }
    });
  }

  rawCases.run();
}

function comparable({ status, headers, body }: Exchange) {
  const compared = Object.entries(headers).filter(([name]) => !OWN.includes(name));
  const text = decode(body, headers["content-encoding"]).replace(/"started_at": "[^"]*"/, "");
  const isOwn = headers["cache-control"] === "public, no-cache" || "content-encoding" in headers;
  const fields = compared.filter(([name]) =>
    !(name === OF_THE_ENCODER && headers["content-encoding"]) && !(name === OF_THE_START && isOwn)
  );
  return { status, headers: Object.fromEntries(fields), text };
}

function decode(body: string, coding: string | undefined): string {
  if (coding === "gzip") return gunzipSync(Buffer.from(body, "latin1")).toString("latin1");
  return body;
}
