import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  BASE,
  canBeSent,
  cleanText,
  type FieldData,
  fillIn,
  mistakeIn,
  type OperationForm,
  requestOf,
  writeCurl,
  writeShell,
  writeValue,
} from "../src/explorer/form-request.ts";
import { paramsOfQuery } from "../src/gateway/params.ts";
import type { NodeOperation, NodeParameter } from "../src/openapi/node-operation.ts";
import type { Reference } from "../src/kinds/parts.ts";
import { showUnseen } from "../src/untrusted-text.ts";

const requests = suite("the requests of forms");

/** Returns the arguments that `curl` would receive if `sh` ran the command line. */
async function runShell(line: string, env: Record<string, string> = {}): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }\n${line}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { env });
  return stdout.split("\0").slice(0, -1);
}

const HOSTILE = [
  "'; touch /tmp/x #",
  "$(id)",
  "`id`",
  "$HOME",
  "a\\'b\\",
  "-o/etc/passwd",
  "~root",
  "=ls",
  "!!",
  "*",
  "[1-9999]",
  "{a,b}",
  "a b c",
  '"',
  "#x",
  "é 中 😀",
  "%s%n",
  "&& id",
  "@/etc/passwd",
  "",
];

requests("quoting a word for the shell preserves any text", async () => {
  const words = HOSTILE.map((text) => writeShell(text) ?? assert.unreachable(text));
  assert.equal(await runShell(`curl ${words.join(" ")}`), HOSTILE);
});

requests(
  "text with invisible characters is refused, since they could act as key presses when pasted",
  () => {
    const unseen = [
      "\x1b[2J",
      "a\rb",
      "a\nb",
      "\u202e",
      "\u200b",
      "\u{e0041}",
      "\x9b",
      "\u2028",
      "\ud800",
    ];
    for (const text of unseen) assert.is(writeShell(text), undefined, JSON.stringify(text));
    assert.is(showUnseen("a\u202eb\u{e0041}"), "a\\u202eb\\udb40\\udc41");
  },
);

const QUERY: OperationForm = {
  method: "GET",
  address: "/v1/node/a[1-9]/{id}",
  fields: [
    { name: "id", in: "path", types: ["string"], isRequired: true },
    { name: "q", in: "query", types: ["string"] },
    { name: "X-Trace", in: "header", types: ["string"] },
  ],
  token: "Token",
};

const withFields = (...fields: FieldData[]): OperationForm => ({
  method: "GET",
  address: "/a",
  fields,
});

requests("a command line contains the form's values, and the shell does not run them", async () => {
  for (const text of HOSTILE.filter(Boolean)) {
    const filled = [text, text, text];
    const { url } = requestOf(QUERY, filled, "http://127.0.0.1:1/a");
    assert.match(url, /^http:\/\/127\.0\.0\.1:1\/a\/v1\/node\/a%5B1-9%5D\/[\w.~%-]+\?q=[\w.~%-]+$/);
    const [id, q] = [new URL(url).pathname.split("/").at(-1)!, new URL(url).searchParams.get("q")];
    assert.equal([decodeURIComponent(id), q], [text, text]);
    const line = writeCurl(requestOf(QUERY, filled, BASE), { token: "" })!;
    const args = await runShell(line, { BASE_URL: "http://h", NODEFACE_TOKEN: "t o" });
    assert.equal(args, [
      url.replace("http://127.0.0.1:1/a", "http://h"),
      ...["-H", `X-Trace: ${text}`, "-H", "Authorization: Bearer t o"],
    ]);
  }
});

requests("the shell leaves a path of a description as it is", async () => {
  for (const path of ["/$HOME/$(id)", "/a!b*c'd/(e)", "/a&b"]) {
    const form: OperationForm = { method: "GET", address: path, fields: [] };
    for (const base of [BASE, "http://h"]) {
      const line = writeCurl(requestOf(form, [], base), {})!;
      assert.equal(await runShell(line, { BASE_URL: "http://h", HOME: "x" }), [`http://h${path}`]);
    }
  }
});

const withBody = (type: string): OperationForm => ({
  method: "PUT",
  address: "https://a.example/x y",
  fields: [{ name: "body", in: "body", mediaType: type, isRequired: true }],
});

requests("a JSON body is sent as typed; in the command, it is compact and shows all", async () => {
  const typed = `{\n  "a": "it's \u202e \u{e0041}", "n": 18446744073709551615\n}`;
  const request = requestOf(withBody("application/json"), [typed], "");
  assert.is(request.body, typed);
  assert.equal(await runShell(writeCurl(request, {})!), [
    ...["https://a.example/x%20y", "-X", "PUT", "-H", "Content-Type: application/json"],
    ...["--data-raw", `{"a":"it's \\u202e \\udb40\\udc41","n":18446744073709551615}`],
  ]);
});

requests("a text body with invisible characters gets no command line", () => {
  const lineOf = (text: string) => writeCurl(requestOf(withBody("text/plain"), [text], ""), {});
  assert.ok(lineOf("a"));
  assert.is(lineOf("a\x1b"), undefined);
});

requests("a method or header that is not an HTTP token gets no command line", () => {
  const filled = ["x"];
  const named = (name: string) => withFields({ name, in: "header" });
  assert.ok(writeCurl(requestOf(named("X-A"), filled, BASE), {}));
  assert.is(writeCurl(requestOf(named("@/etc/passwd"), filled, BASE), {}), undefined);
  assert.is(
    writeCurl(requestOf({ ...withFields(), method: "G T" }, filled, BASE), {}),
    undefined,
  );
});

requests("a field is filled in with the value at its place in the node's responses", () => {
  const field: FieldData = {
    name: "hash",
    in: "query",
    isRequired: true,
    sources: ["head#/hash"],
    example: "{head#/hash}",
  };
  assert.is(fillIn(withFields(field), { "head#/hash": "0x12af" })[0], "0x12af");
  assert.is(fillIn(withFields(field), { "head#/number": "0x1" })[0], "");
  assert.is(fillIn(withFields({ ...field, sources: ["constructor" as Reference] }), {})[0], "");
  assert.is(fillIn(withFields(field))[0], "");
});

requests("fields are validated by type, enum and JSON syntax", () => {
  const said = (type: string, text: string, values?: string[]) =>
    mistakeIn({ name: "n", in: "query", types: type.split(" or "), values }, text);
  assert.is(said("integer", "1.5"), "n must be a whole number");
  assert.is(said("integer or null", "-7"), "");
  assert.is(said("null or integer", "1.5"), "n must be a whole number");
  assert.is(said("integer or string", "1.5"), "");
  assert.is(said("number", "x"), "n must be a number");
  assert.is(said("number", "1e-8"), "");
  assert.is(said("string", "c", ["a", "b"]), "n must be one of a, b");
  assert.is(said("integer", ""), "");
  const id: FieldData = { name: "n", in: "path", types: ["string"], isRequired: true };
  assert.is(mistakeIn(id, ""), "n is required");
  assert.is(mistakeIn(id, ".."), "n cannot have the segment . or ..");
  assert.match(mistakeIn({ name: "n", in: "header", types: ["string"] }, "a\nb"), "ISO 8859-1");
  const body = (type: string, text: string, isRequired = false) =>
    mistakeIn({ name: "body", in: "body", mediaType: type, isRequired }, text);
  assert.match(body("application/json", "{", true), /^body must be JSON: /);
  assert.is(body("application/json", "", true), "body is required");
  assert.is(body("application/json", ""), "");
  assert.is(body("text/plain", "{"), "");
  const form = withFields({ ...id, in: "query", types: ["integer"], isFilled: true, example: "7" });
  assert.is(canBeSent(form, fillIn(form)), true);
});

requests("spaces around a text are removed, and those that group the digits of a number", () => {
  for (
    const [typed, sent] of [
      [" 0xabc\n", "0xabc"],
      ["2\u202f941\u202f337", "2941337"],
      ["1,234", "1,234"],
      ["12 34", "12 34"],
      ["a b", "a b"],
    ] as const
  ) {
    for (const types of [["string"], ["integer"], undefined]) {
      assert.is(cleanText(typed, { types }), sent);
    }
  }
  for (const types of [["integer"], ["null", "number"]]) {
    assert.is(cleanText("2 941 337", { types }), "2941337");
  }
  assert.is(cleanText("100 200", { types: ["string"] }), "100 200", "a text stays as it is");
});

requests("a call whose URL would be too long is sent by POST, with JSON values", () => {
  const form: OperationForm = {
    method: "GET",
    address: "/v1/rpc/decode",
    isPostedToo: true,
    fields: [
      { name: "hex", in: "query", types: ["string"] },
      { name: "depth", in: "query", types: ["integer"] },
      { name: "all", in: "query", types: ["boolean"] },
      { name: "more", in: "query", mediaType: "application/json" },
      { name: "unused", in: "query", types: ["string"] },
    ],
  };
  const send = (hex: string) => requestOf(form, [hex, "7", "true", '{ "a": [1] }', ""], BASE);
  assert.is(send("a0".repeat(3500)).method, "GET");
  const { method, url, headers, body } = send("a0".repeat(4500));
  assert.equal([method, url], ["POST", `${BASE}/v1/rpc/decode`]);
  assert.equal(headers, [["Content-Type", "application/json"]]);
  assert.equal(JSON.parse(body!), {
    hex: "a0".repeat(4500),
    depth: 7,
    all: true,
    more: { a: [1] },
  });
});

requests("a value is written as JSON as the service reads it in a query", () => {
  const texts = ["7", "-1.5e3", "007", "0xab", "02a1", "true", "[1]", '{"a":1}', "{a", "a b"];
  const given = [["string"], ["integer"], ["number", "null"], ["boolean"], ["array"], ["object"]];
  const mixed = [["string", "integer"], ["integer", "string"], ["object", "string"], [
    "array",
    "integer",
  ]];
  for (const types of [...given, ...mixed]) {
    const field: FieldData = { name: "a", in: "query", types };
    for (const text of texts) {
      const parameters = [{ name: "a", types }] as unknown as readonly NodeParameter[];
      const query = `a=${encodeURIComponent(text)}`;
      const read = paramsOfQuery({ parameters } as NodeOperation, query);
      assert.is(`{"a":${writeValue(field, text)}}`, read, `${types} ${text}`);
    }
  }
});

requests("a long value of digits stays in the URL, since only the service knows its type", () => {
  const fields: FieldData[] = [{ name: "hex", in: "query", types: ["string"] }];
  const form = { method: "GET", address: "/v1/rpc/decode", isPostedToo: true, fields };
  assert.is(requestOf(form, ["0".repeat(9000)], BASE).method, "GET");
  assert.is(requestOf(form, ["a".repeat(9000)], BASE).method, "POST");
  const height: FieldData = { name: "at", in: "query", types: ["integer", "string"] };
  const both = { ...form, fields: [...fields, height] };
  assert.is(requestOf(both, ["a".repeat(9000), "7"], BASE).method, "POST");
});

requests("a path value may have several segments, but none of them is . or ..", () => {
  const field: FieldData = { name: "a", in: "path", spans: true, isRequired: true };
  const form: OperationForm = { method: "GET", address: "/v1/node/connect/{a}", fields: [field] };
  const urlOf = (text: string) => requestOf(form, [text], "").url;
  assert.is(urlOf("/ip4/10.0.0.1/tcp/1634"), "/v1/node/connect/ip4/10.0.0.1/tcp/1634");
  assert.is(urlOf("ip4/10.0.0.1"), "/v1/node/connect/ip4/10.0.0.1");
  assert.is(urlOf("/"), "/v1/node/connect//");
  for (const text of ["..", "a/../b", "./a", "/../a", "a/.."]) {
    assert.is(mistakeIn(field, text), "a cannot have the segment . or ..", text);
  }
  assert.is(mistakeIn(field, "/a/..b/"), "");
});

requests.run();
