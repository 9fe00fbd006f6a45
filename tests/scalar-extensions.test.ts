/** Tests what `/spec.json` tells Scalar beyond OpenAPI. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withScalarExtensions } from "../src/explorer/scalar-extensions.ts";
import { type Json, objectOf } from "../src/json/values.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { documentOfKind } from "../src/openapi/kind.ts";

const extensions = suite("the extensions for Scalar");

const HASH = `0x${"a1".repeat(32)}`;

async function describe(examples: Record<string, string> = {}): Promise<Json> {
  const document = await documentOfKind(await loadInterface("ethereum"), {
    title: "Ethereum",
    version: "1",
  });
  return await withScalarExtensions(document, examples);
}

const operationAt = (document: Json, method: string, verb: string): Json =>
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

extensions("examples of the node replace those of the kind", async () => {
  const exampleOf = async (examples: Record<string, string>) => {
    const { parameters } = operationAt(
      await describe(examples),
      "eth_getBlockByHash",
      "get",
    );
    return objectOf((parameters as Json[])[0]).example;
  };
  assert.is(await exampleOf({ "head#/hash": HASH }), HASH);
  assert.is.not(await exampleOf({}), HASH);
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
