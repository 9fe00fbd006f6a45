/** Tests what `/spec.json` tells Scalar beyond OpenAPI. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withScalarExtensions } from "../src/explorer/scalar-extensions.ts";
import { type JsonObject, objectOf, valueAt } from "../src/json/values.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { findExamples, paramsOf } from "../src/explorer/examples.ts";
import type { OperationForm } from "../src/explorer/form-request.ts";
import { renderParts } from "../src/explorer/render-content.ts";
import { annotateCalls } from "../src/gateway/annotate-operations.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { EXAMPLE_FROM } from "../src/kinds/interface.ts";
import { withHomes } from "../src/openapi/home.ts";
import { documentOfKind } from "../src/openapi/kind-document.ts";

const extensions = suite("the extensions for Scalar");

const HASH = `0x${"a1".repeat(32)}`;

async function describe(examples: Record<string, string> = {}): Promise<JsonObject> {
  const document = await documentOfKind(await loadInterface("ethereum"), {
    title: "Ethereum",
  });
  return await withScalarExtensions(document, examples);
}

async function enabled(kind = "ethereum"): Promise<JsonObject> {
  const about = { title: kind, version: "1" };
  const document = await documentOfKind(await loadInterface(kind), about);
  return (await annotateCalls(await withHomes(document), resolveForward("reads"), "kind")).document;
}

const operationAt = (document: JsonObject, method: string, verb: string): JsonObject =>
  objectOf(objectOf(objectOf(document.paths)[`/v1/rpc/${method}`])[verb]);

extensions(
  "a method is shown once, by its name, with its summary in the text",
  async () => {
    const document = await describe();
    const { summary, description, "x-scalar-ignore": isHidden } = operationAt(
      document,
      "eth_getBalance",
      "get",
    );
    assert.is(summary, "eth_getBalance");
    assert.match(String(description), /balance.*\n\nAlso available as `POST`/s);
    assert.is(isHidden, undefined);
    assert.is(
      operationAt(document, "eth_getBalance", "post")["x-scalar-ignore"],
      true,
    );
    assert.is(
      operationAt(document, "eth_getLogs", "post")["x-scalar-ignore"],
      undefined,
    );
  },
);

extensions(
  "each operation has its marks as badges, and common operations come first",
  async () => {
    const document = await describe();
    const badges = operationAt(document, "eth_sendRawTransaction", "post")["x-badges"];
    assert.equal(badges, [{ name: "write" }]);
    const all = Object.values(objectOf(document.paths)).map((item) =>
      Object.values(objectOf(item)).some((operation) => objectOf(operation)["x-common"] === true)
    );
    assert.ok(
      all.lastIndexOf(true) < all.indexOf(false),
      "common operations come first",
    );
  },
);

extensions(
  "an operation that is not enabled says why first, and has the lines that enable it",
  async () => {
    const whole = await documentOfKind(await loadInterface("ethereum"), {
      title: "Ethereum",
    });
    const forwards = { off: undefined, reads: resolveForward("reads") };
    for (const [name, forward] of Object.entries(forwards)) {
      const { document } = await annotateCalls(await withHomes(whole), forward, "kind");
      const { notes } = await renderParts(document, "kind");
      const described = await withScalarExtensions(document, {}, notes);
      const { description, "x-badges": badges } = operationAt(
        described,
        "eth_sendTransaction",
        "post",
      );
      const [reason = "", lines = "", about = ""] = String(description).split("\n\n");
      assert.match(reason, name === "off" ? /^Calls are switched off/ : /^Not forwarded: .*write/);
      assert.match(lines, /^```yaml\n# nodeface\.yaml\nforward:\n.*eth_sendTransaction.*```$/s);
      assert.match(about, /\w/);
      assert.equal(badges, [{ name: "write" }, { name: "not enabled" }]);
      const read = operationAt(described, "eth_getBalance", "get");
      const isOpen = name === "reads";
      assert.is(/```yaml/.test(String(read.description)), !isOpen);
      assert.equal(read["x-badges"], [
        { name: "read" },
        { name: isOpen ? "public" : "not enabled" },
      ]);
    }
  },
);

extensions("examples of the node replace those of the kind", async () => {
  const exampleOf = async (examples: Record<string, string>) => {
    const document = await enabled();
    const { notes } = await renderParts(document, "kind");
    const described = await withScalarExtensions(document, examples, notes);
    const { parameters } = operationAt(described, "eth_getBlockByHash", "get");
    return objectOf((parameters as JsonObject[])[0]).example;
  };
  assert.is(await exampleOf({ "head#/hash": HASH }), HASH);
  assert.is.not(await exampleOf({}), HASH);
});

extensions("an example of the node has the type of its parameter", async () => {
  const exampleOf = async (schema: JsonObject, text: string) => {
    const place = { name: "p", in: "query", required: true, examples: { a: { value: 1 } } };
    const parameters = [{ ...place, schema: { ...schema, [EXAMPLE_FROM]: "info#/a" } }];
    const responses = { 200: { description: "" } };
    const get = { "x-access": "read", responses, parameters };
    const document = { openapi: "3.1.1", info: { title: "A" }, paths: { "/a": { get } } };
    const { notes } = await renderParts(document, "kind");
    const described = await withScalarExtensions(document, { "info#/a": text }, notes);
    const [parameter] = objectOf(valueAt(described, ["paths", "/a", "get"]))
      .parameters as JsonObject[];
    assert.is(parameter!.examples, undefined);
    return parameter!.example;
  };
  assert.is(await exampleOf({ type: "integer" }, "184320"), 184320);
  assert.is(await exampleOf({ type: "integer" }, "18446744073709551615"), 18446744073709551615n);
  assert.is(await exampleOf({ type: "integer" }, "0x1"), "0x1");
  assert.is(await exampleOf({ type: ["number", "null"] }, "0.5"), 0.5);
  assert.is(await exampleOf({ type: "boolean" }, "true"), true);
  assert.is(await exampleOf({ type: "string" }, "184320"), "184320");
  assert.is(await exampleOf({}, "true"), "true");
  const large = 18446744073709551615n;
  const properties = { a: { [EXAMPLE_FROM]: "info#/a" } };
  const media = { example: { a: "", n: large }, schema: { properties } };
  const requestBody = { content: { "application/json": media } };
  const post = { "x-access": "read", responses: { 200: { description: "" } }, requestBody };
  const document = { openapi: "3.1.1", info: { title: "A" }, paths: { "/a": { post } } };
  const { notes } = await renderParts(document, "kind");
  const described = await withScalarExtensions(document, { "info#/a": "x" }, notes);
  const keys = ["paths", "/a", "post", "requestBody", "content", "application/json", "example"];
  assert.equal(valueAt(described, keys), { a: "x", n: large });
});

extensions("a value in the response to another operation is an example, too", async () => {
  const document = await enabled("bitcoin");
  const { notes } = await renderParts(document, "kind");
  const operations = [...notes.values()];
  const [hash, txid] = ["a1".repeat(32), "b2".repeat(32)];
  const asked: unknown[] = [];
  const sources = {
    examples: { "chain#/bestblockhash": hash } as Record<string, string>,
    formAt: (wanted: string) => operations.find(({ anchor }) => anchor === wanted)?.form,
    call(form: OperationForm, texts: readonly string[]) {
      asked.push([form.address, ...paramsOf(form, texts)]);
      return Promise.resolve(form.address === "/v1/rpc/getblock" ? { tx: [txid] } : "0a0b");
    },
  };
  for (const name of ["getrawtransaction", "gettxoutproof", "verifytxoutproof"]) {
    await findExamples(sources.formAt(`op/${name}`)!, sources);
  }
  assert.equal(asked, [["/v1/rpc/getblock", hash], ["/v1/rpc/gettxoutproof", [txid]]]);
  const described = await withScalarExtensions(document, sources.examples, notes);
  const { parameters } = operationAt(described, "getrawtransaction", "get");
  assert.is(objectOf((parameters as JsonObject[])[0]).example, txid);
  const { requestBody } = operationAt(described, "gettxoutproof", "post");
  const media = objectOf(objectOf(objectOf(requestBody).content)["application/json"]);
  assert.equal([media.example, media.examples], [{ txids: [txid] }, undefined]);
});

extensions(
  "the servers of a path item become those of its operations",
  async () => {
    const paths = {
      "/a": {
        servers: [{ url: "./b" }],
        get: {},
        put: { servers: [{ url: "./c" }] },
      },
    };
    const item = objectOf(
      objectOf((await withScalarExtensions({ paths }, {})).paths)["/a"],
    );
    const selected = ["get", "put"].map((verb) => objectOf(item[verb])["x-scalar-selected-server"]);
    assert.equal(selected, ["./b", "./c"]);
  },
);

extensions.run();
