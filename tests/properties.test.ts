import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { app, ask, askWith } from "./_app.ts";
import { draws } from "./_runtime.ts";

const properties = suite("random requests");

const RUNS = draws(2000);

const coding = fc.constantFrom("br", "gzip", "identity", "*", "deflate", "GZIP", "Br");
const weight = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });
const members = fc.uniqueArray(fc.tuple(coding, weight), {
  selector: ([name]) => name.toLowerCase(),
});

properties(
  "the chosen coding has the highest weight of all available codings (RFC 9110, 12.5.3)",
  async () => {
    await fc.assert(
      fc.asyncProperty(members, async (members) => {
        const accept = members.map(([name, weight]) =>
          weight === undefined ? name : `${name};q=${(weight / 1000).toFixed(3)}`
        ).join(", ");
        const weights = new Map(
          members.map(([name, weight = 1000]) => [name.toLowerCase(), weight]),
        );
        // `identity` is acceptable by default, but the service prefers the codings that the header
        // lists.
        const weightOf = (name: string) =>
          weights.get(name) ?? weights.get("*") ?? (name === "identity" ? 0.5 : 0);
        const best = Math.max(...["gzip", "identity"].map(weightOf));
        const { status, headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
        assert.is(status, 200, accept);
        // RFC 9110, section 12.5.3, allows a response without a coding where none is acceptable.
        if (best === 0) return assert.not(headers.has("content-encoding"));
        assert.is(weightOf(headers.get("content-encoding") ?? "identity"), best, accept);
      }),
      RUNS,
    );
  },
);

const etag = (await ask("/spec.json")).headers.get("etag")!;

const statusWith = async (list: string) =>
  (await askWith({ "if-none-match": list }, "/spec.json")).status;

const tag = fc.oneof(
  fc.constant(etag),
  fc.string({ unit: fc.constantFrom(..."abc,;*/W".split("")), maxLength: 6 })
    .map((text) => `"${text}"`),
);

properties(
  "a list of entity tags matches exactly its members (RFC 9110, 13.1.2)",
  async () => {
    const member = fc.record({ isWeak: fc.boolean(), tag });
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 5 }), async (members) => {
        const list = members.map(({ isWeak, tag }) => `${isWeak ? "W/" : ""}${tag}`).join(" , ");
        const named = members.filter(({ tag }) => tag === etag);
        assert.is(await statusWith(list), named.length > 0 ? 304 : 200, list);
      }),
      RUNS,
    );
  },
);

properties(
  "no list of entity tags, however malformed, matches a tag that is not in it",
  async () => {
    const nonsense = fc.string({ unit: fc.constantFrom(...'"W/,* tag\\'.split("")) });
    await fc.assert(
      fc.asyncProperty(nonsense, async (list) => {
        const isAny = list.trim() === "*";
        assert.is(await statusWith(list), isAny ? 304 : 200, list);
      }),
      RUNS,
    );
  },
);

const segment = fc.oneof(
  fc.constantFrom(
    "v1",
    "info",
    "spec",
    "spec.json",
    "assets",
    "..",
    ".",
    "",
    "%2e%2e",
    "%2f",
    "%5c",
  ),
  fc.constantFrom("__proto__", "constructor", "chunks", "%zz", "%00", "*", ":file", "\\", "?", "#"),
  fc.string({ maxLength: 12 }),
);
const target = fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join("/")}`);
const host = fc.oneof(
  fc.constantFrom("localhost", "127.0.0.1", "[::1]", "evil.example", "a b", "[::1", "h/x?y", ""),
  fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
);
const header = fc.tuple(
  fc.constantFrom("accept-encoding", "if-none-match", "origin", "range", "x"),
  fc.string({ unit: "grapheme-ascii", maxLength: 60 }),
);

properties(
  "no request, however malformed, gets 500 or an undocumented response",
  async () => {
    const method = fc.constantFrom("GET", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "TRACE", "X");
    const url = fc.oneof(
      target.map((path) => `http://localhost${path}`),
      target,
      fc.tuple(host, target).map(([name, path]) => `http://${name}${path}`),
      fc.webUrl(),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        method,
        url,
        fc.option(host),
        fc.array(header),
        async (method, url, name, fields) => {
          const headers = new Headers(name === null ? {} : { host: name });
          for (const [field, value] of fields) headers.set(field, value);
          const response = await app.fetch({ method, url, headers } as Request);
          const { status } = response;
          const known = [200, 204, 304, 307, 400, 404, 405, 414, 421];
          assert.ok(known.includes(status), `${method} ${url} gets ${status}`);
          if (status < 400 || method === "HEAD") return;
          const problem = await response.json();
          assert.is(problem.status, status);
          assert.is(response.headers.get("content-type"), "application/problem+json");
        },
      ),
      draws(4000),
    );
  },
);

properties.run();
