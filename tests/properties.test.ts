import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { chooseVariant } from "../src/http/negotiation.ts";
import { matchesEntityTag as names } from "../src/http/preconditions.ts";
import type { ContentCoding } from "../src/http/content-coding.ts";
import { represent } from "../src/http/representation.ts";
import { app } from "./_app.ts";

const properties = suite("whatever is sent");

const RUNS = { numRuns: 3000 };

const bytes = (length: number) => new Uint8Array(length);
const three = await represent("x", {
  type: "text/plain",
  cache: "no-cache",
  encoded: { br: bytes(1), gzip: bytes(1) },
});

const coding = fc.constantFrom("br", "gzip", "identity", "*", "deflate", "GZIP", "Br");
const weight = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });
const members = fc.uniqueArray(fc.tuple(coding, weight), {
  selector: ([name]) => name.toLowerCase(),
});

properties("the coding chosen has the highest weight of those offered (RFC 9110, 12.5.3)", () => {
  fc.assert(
    fc.property(members, (members) => {
      const header = members.map(([name, weight]) =>
        weight === undefined ? name : `${name};q=${(weight / 1000).toFixed(3)}`
      ).join(", ");
      const weights = new Map(members.map(([name, weight = 1000]) => [name.toLowerCase(), weight]));
      // Identity is acceptable unless excluded, and last where it is not named.
      const weightOf = (name: ContentCoding) =>
        weights.get(name) ?? weights.get("*") ?? (name === "identity" ? 0.5 : 0);
      const best = Math.max(...(["br", "gzip", "identity"] as const).map(weightOf));
      const variant = chooseVariant(three, header);
      if (best === 0) return assert.is(variant, undefined, header);
      const chosen = (variant?.full.headers["content-encoding"] ?? "identity") as ContentCoding;
      assert.is(weightOf(chosen), best, header);
    }),
    RUNS,
  );
});

const tagText = fc.string({ unit: fc.constantFrom(..."abc,;*/W ".split("")), maxLength: 6 })
  .map((text) => text.replaceAll(" ", ""));
const entityTag = fc.tuple(fc.boolean(), tagText);

properties("a list of entity tags names exactly its members (RFC 9110, 13.1.2)", () => {
  fc.assert(
    fc.property(fc.array(entityTag, { maxLength: 5 }), tagText, (members, tag) => {
      const list = members.map(([weak, text]) => `${weak ? "W/" : ""}"${text}"`).join(" , ");
      assert.is(names(list, `"${tag}"`, "weak"), members.some(([, text]) => text === tag), list);
      assert.is(
        names(list, `"${tag}"`, "strong"),
        members.some(([weak, text]) => !weak && text === tag),
        list,
      );
    }),
    RUNS,
  );
});

properties("no list of tags, however malformed, names a tag that does not stand in it", () => {
  const nonsense = fc.string({ unit: fc.constantFrom(...'"W/,* tag\\'.split("")) });
  fc.assert(
    fc.property(nonsense, (list) => {
      if (names(list, '"zz"', "weak")) assert.is(list.trim(), "*");
    }),
    RUNS,
  );
});

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
  fc.constantFrom("accept-encoding", "if-none-match", "if-match", "origin", "range", "x"),
  fc.string({ unit: "grapheme-ascii", maxLength: 60 }),
);

properties(
  "no request, however formed, is answered with 500, or with what is not there",
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
          const known = [200, 204, 304, 307, 400, 404, 405, 406, 412, 414, 421];
          assert.ok(known.includes(status), `${method} ${url} is answered with ${status}`);
          if (status < 400 || method === "HEAD") return;
          const problem = await response.json();
          assert.is(problem.status, status);
          assert.is(response.headers.get("content-type"), "application/problem+json");
        },
      ),
      { numRuns: 6000 },
    );
  },
);

properties.run();
