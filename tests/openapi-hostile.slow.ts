/**
 * Prepares descriptions that are difficult to process. A description of twice the size must take
 * only about twice the time.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prepareDescription } from "../src/description/prepare.ts";
import { sourceAt } from "../src/description/source.ts";
import { openNode } from "../src/info/open-node.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { KINDS } from "../src/generated/kinds.js";
import type { Kind } from "../src/kinds/kind.ts";
import { parse } from "../src/openapi/parse.ts";
import { findAll } from "../src/regular-expression.ts";
import { processorTime } from "./_runtime.ts";

const hostile = suite("hostile descriptions");

/** The approximate size of the smaller description, in bytes. */
const SIZE = 300_000;

/**
 * The larger description may take `TIMES` times as long as the smaller one, plus `BESIDES`
 * milliseconds.
 */
const TIMES = 3.5, BESIDES = 1000;

const R = { responses: { 200: { description: "" } } };
const A = { $ref: "#/components/schemas/A" };
const info = { title: "x", version: "1" };
const range = (count: number) => Array.from({ length: Math.floor(count) }, (_, i) => i);
const list = (length: number, make: (i: number) => string) => range(length).map(make).join("");
const map = <T>(count: number, of: (i: number) => T, key = "a") =>
  Object.fromEntries(range(count).map((i) => [`${key}${i}`, of(i)]));
const openapi = (parts: object) => ({ openapi: "3.1.1", info, paths: {}, ...parts });
const one = (operation: object) => openapi({ paths: { "/a": { post: { ...R, ...operation } } } });
const body = (schema: object) => ({ requestBody: { content: { "application/json": { schema } } } });
const openrpc = (parts: object) => ({ openrpc: "1.3.2", info, ...parts });
const method = (name: string, params: unknown[]) => ({
  ...{ name, params, result: { name: "r", schema: {} }, "x-access": "read" },
});
const text = (part: string) => (n: number) =>
  openapi({ info: { ...info, description: part.repeat(n / part.length) } });

const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const chainTo = (name: string) => map(15, (i) => to(i < 14 ? `c${i + 1}` : name), "c");
/** A hundred responses that are the same. */
const RESPONSES = Object.fromEntries(
  range(100).map((i) => [200 + i, { $ref: "#/components/responses/r" }]),
);

/** `n` is the approximate size of the description in bytes. */
const FORMS: Readonly<Record<string, (n: number) => object>> = {
  "one operation per path": (n) => openapi({ paths: map(n / 80, () => ({ get: R }), "/a") }),
  "one tag per operation": (n) =>
    openapi({ paths: map(n / 100, (i) => ({ get: { ...R, tags: [`t${i}`] } }), "/a") }),
  "operations with the same operationId": (n) =>
    openapi({ paths: map(n / 100, () => ({ get: { ...R, operationId: "a" } }), "/a") }),
  "paths that differ only in a parameter name": (n) =>
    openapi({ paths: map(n / 80, () => ({ get: R }), "/{a}{") }),
  "names that become equal when converted": (n) =>
    openapi({ components: { schemas: map(n / 30, () => ({}), "é ") } }),
  "a chain of references": (n) =>
    openapi({
      components: { schemas: map(n / 60, (i) => ({ $ref: `#/components/schemas/a${i + 1}` })) },
    }),
  "servers": (n) =>
    openapi({ servers: range(n / 40).map((i) => ({ url: `https://a.example/${i}` })) }),
  "server variables": (n) =>
    openapi({
      servers: range(n / 8000).map((k) => ({
        url: `https://a.example/${range(150).map((i) => `{v${i}}`).join("")}${k}`,
        variables: map(150, () => ({ default: "1", enum: ["1"] }), "v"),
      })),
    }),
  "parameters": (n) =>
    one({ parameters: range(n / 30).map((i) => ({ name: `a${i}`, in: "query" })) }),
  "identical parameters": (n) =>
    one({ parameters: range(n / 30).map(() => ({ name: "a", in: "query" })) }),
  "names in one path": (n) =>
    openapi({ paths: { [`/${range(n / 8).map((i) => `{a${i}}`).join("/")}`]: { get: R } } }),
  "a schema whose properties refer to the schema": (n) => ({
    ...one(body(A)),
    components: { schemas: { A: { properties: map(n / 40, () => A) } } },
  }),
  "responses whose fields refer to their schema": (n) => ({
    ...openapi({ info: { ...info, description: "a".repeat(n) } }),
    paths: {
      "/a": {
        get: {
          responses: RESPONSES,
        },
      },
    },
    components: {
      responses: { r: { description: "", content: { "application/json": { schema: A } } } },
      schemas: { A: { description: "&".repeat(500), properties: map(60, () => A) } },
    },
  }),
  "parameters whose fields refer to their schema": (n) =>
    openrpc({
      info: { ...info, description: "a".repeat(n) },
      methods: [method("a", range(60).map((i) => ({ name: `p${i}`, schema: A })))],
      components: {
        schemas: { A: { description: "&".repeat(500), properties: map(60, () => A) } },
      },
    }),
  "required parameters with long values": (n) => ({
    ...openapi({ info: { ...info, description: "a".repeat(n) } }),
    paths: {
      "/a": {
        servers: [{ url: "https://e.example" }],
        parameters: range(1000).map((i) => ({
          ...{ name: `p${i}`, in: "query", required: true },
          schema: { $ref: "#/components/schemas/E" },
        })),
        get: R,
      },
    },
    components: {
      schemas: { E: { type: "string", enum: range(60).map((i) => "&".repeat(290) + i) } },
    },
  }),
  "alternatives behind chains of references": (n) => {
    const chain = chainTo("O");
    const O = { oneOf: range(4).map(() => to("c0")) };
    const S = { properties: map(60, () => to("c0")) };
    const response = { description: "", content: { "application/json": { schema: to("S") } } };
    return {
      ...openapi({ info: { ...info, description: "a".repeat(n) } }),
      paths: {
        "/a": {
          get: {
            responses: RESPONSES,
          },
        },
      },
      components: { responses: { r: response }, schemas: { ...chain, O, S } },
    };
  },
  "alternatives of parameters behind chains of references": (n) => {
    const chain = chainTo("A0");
    const all = map(50, () => ({ anyOf: range(49).map(() => to("c0")) }), "A");
    return {
      ...one({
        parameters: range(300).map((i) => ({
          ...{ name: `p${i}`, in: "query" },
          schema: { anyOf: range(4).map(() => ({ anyOf: [to("A0")] })) },
        })),
      }),
      info: { ...info, description: "a".repeat(n) },
      components: { schemas: { ...chain, ...all } },
    };
  },
  "servers with many combinations": (n) => ({
    ...openapi({ info: { ...info, description: "a".repeat(n) } }),
    paths: Object.fromEntries(
      range(20).map((i) => [`/${i}`, {
        get: {
          ...R,
          servers: range(100).map(() => ({
            url: `ws://{a}{b}{c}{d}{e}{f}${"{z}".repeat(330)}`,
            variables: {
              ...Object.fromEntries([..."abcdef"].map((v) => [v, { default: "x", enum: ["y"] }])),
              z: { default: "" },
            },
          })),
        },
      }]),
    ),
  }),
  "a schema whose allOf refers to the schema": (n) => ({
    ...one(body(A)),
    components: { schemas: { A: { allOf: range(n / 40).map(() => A) } } },
  }),
  "a schema with a long allOf": (n) =>
    one(body({ allOf: range(n / 40).map((i) => ({ properties: map(1, () => ({}), `p${i}`) })) })),
  "a body that all operations share": (n) => ({
    ...openapi({
      paths: map(n / 200, () => ({
        post: { ...R, requestBody: { $ref: "#/components/requestBodies/b" } },
      }), "/a"),
    }),
    components: {
      requestBodies: { b: { content: { "application/json": { schema: A } } } },
      schemas: {
        A: {
          type: "object",
          required: range(n / 50).map((i) => `a${i}`),
          properties: map(n / 80, () => A),
        },
      },
    },
  }),
  "a response that all operations share": (n) => ({
    ...openapi({
      paths: map(
        n / 200,
        () => ({ get: { responses: { 200: { $ref: "#/components/responses/a" } } } }),
        "/a",
      ),
    }),
    components: { responses: { a: { description: "", content: map(n / 60, () => ({}), "a/b") } } },
  }),
  "security requirements of the whole document": (n) => ({
    ...openapi({ paths: map(n / 200, () => ({ get: R }), "/a") }),
    security: range(n / 30).map((i) => ({ [`s${i}`]: [] })),
  }),
  "methods": (n) => openrpc({ methods: range(n / 80).map((i) => method(`m${i}`, [])) }),
  "a method parameter whose schema refers to itself": (n) =>
    openrpc({
      methods: [method("a", [{ name: "p", schema: A }])],
      components: { schemas: { A: { oneOf: range(n / 40).map(() => A) } } },
    }),
  "media types of Swagger": (n) => ({
    ...{ swagger: "2.0", info, produces: range(n / 30).map((i) => `a/b${i}`) },
    paths: map(
      n / 200,
      () => ({ get: { responses: { 200: { description: "", schema: {} } } } }),
      "/a",
    ),
  }),
  "a chain of Swagger parameters": (n) => ({
    ...{
      swagger: "2.0",
      info,
      parameters: map(n / 60, (i) => ({ $ref: `#/parameters/p${i + 1}` }), "p"),
    },
    paths: {
      "/a": {
        get: { ...R, parameters: range(n / 60).map((i) => ({ $ref: `#/parameters/p${i}` })) },
      },
    },
  }),
  "errors": (n) => openapi({ components: { schemas: map(n / 30, (i) => ({ type: `bad${i}` })) } }),
  ...Object.fromEntries(
    [
      "*",
      "**a ",
      "[",
      "[](",
      "`a",
      "> ",
      "<",
      "# a\n",
      "- a\n",
      "_a *b ",
      "|a|b\n|-|-\n",
      "\n",
      "1. ",
      "&",
    ]
      .map((part) => [`Markdown of ${JSON.stringify(part)}`, text(part)]),
  ),
};

/** The result is the processor time in milliseconds. */
async function timeOf(description: object): Promise<number> {
  const place = { text: JSON.stringify(description), name: "a.json" };
  const source = await sourceAt(place, openNode({}, {}));
  const before = process.cpuUsage();
  const { description: served } = await prepareDescription(source, {}, {
    operations: [],
    node: "http://127.0.0.1:9000",
    forward: resolveForward({ open: ["reads"] }),
    own: { openapi: "3.1.1", info, paths: {} },
  });
  const { user, system } = process.cpuUsage(before);
  await served?.documents["/spec.yaml"].get();
  return (user + system) / 1000;
}

for (const [name, make] of Object.entries(FORMS)) {
  hostile(`a description with twice the size takes about twice the time: ${name}`, async () => {
    const [once, twice] = [await timeOf(make(SIZE)), await timeOf(make(2 * SIZE))];
    const figures = `${Math.round(once)} ms, and ${Math.round(twice)} ms`;
    assert.ok(twice < TIMES * once + BESIDES, figures);
    console.log(`${name}: ${figures}`);
  });
}

/** Some YAML parsers take quadratic time for these texts. */
const YAML_FORMS: Readonly<Record<string, (length: number) => string>> = {
  "keys in braces": (length) => `{${list(length, (i) => `k${i}: 1, `)}}`,
  "keys with question marks": (length) => `\n${list(length, (i) => `  ? k${i}\n  : 1\n`)}`,
  "aliases that each have their own anchor": (length) =>
    `[${list(length / 2, (i) => `&a${i} [1], `)}${list(length / 2, (i) => `*a${i}, `)}]`,
  "aliases of one anchor": (length) => `[&a [1], ${"*a, ".repeat(length)}]`,
  "duplicate keys": (length) => `{${"k: 1, ".repeat(length)}}`,
};

for (const [name, make] of Object.entries(YAML_FORMS)) {
  hostile(`YAML with eight times the size takes about eight times the time: ${name}`, async () => {
    const timeOf = (length: number) => {
      const bytes = new TextEncoder().encode(`x: ${make(length)}`);
      return processorTime(3, async () => {
        assert.ok((await parse("x.yaml", { bytes, isJson: false })).value);
      });
    };
    await timeOf(1000);
    const [some, many] = [await timeOf(1000), await timeOf(8000)];
    assert.ok(many / some < 32, `${some} ms, then ${many} ms`);
  });
}

hostile("the regular expressions of listings take time linear in the size of the response", () => {
  for (const [name, { listing }] of Object.entries<Kind>(KINDS)) {
    if (!listing || !("names" in listing)) continue;
    for (const part of ["a_", "a", '"a_', '"', "_", "\n", "a\n", "aun", "{", '":'] as const) {
      const before = process.cpuUsage();
      const found = findAll(`"${part.repeat(SIZE / part.length)}`, listing.names, true);
      for (const _ of found);
      assert.ok(process.cpuUsage(before).user < 2_000_000, `${name}, of ${JSON.stringify(part)}`);
    }
  }
});

hostile.run();
