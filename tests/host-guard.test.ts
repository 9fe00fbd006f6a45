import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { app, ask, askWith } from "./_app.ts";

const guard = suite("the host guard");

async function askAs(host: string, hosts: string[] | "*"): Promise<Response> {
  const headers = new Headers({ host });
  const request = { url: "http://127.0.0.1/v1/info", method: "GET", headers } as Request;
  return await createNodeface({ hosts }).fetch(request);
}

guard(
  "an unlisted host name is refused, and the response names the setting that would allow it",
  async () => {
    const response = await askAs("node.example", []);
    assert.is(response.status, 421);
    assert.match((await response.json()).detail, 'the setting "hosts"');
  },
);

guard("a listed host name is accepted in any letter case and on any port", async () => {
  for (
    const host of [
      "node.example",
      "NODE.example:8080",
      "localhost",
      "a.localhost.",
      "10.1.2.3",
      "[::1]:80",
    ]
  ) {
    assert.is((await askAs(host, ["Node.Example", "other.example"])).status, 200, host);
  }
  assert.is((await askAs("sub.node.example", ["node.example"])).status, 421);
});

guard("an invalid name in the setting is refused when the service is created", () => {
  for (const host of ["Example.org:80", "http://a", "a/", "", "*", "a b"]) {
    assert.throws(
      () => createNodeface({ hosts: ["a.example", host] }),
      (error: unknown) =>
        error instanceof TypeError &&
        error.message === 'hosts[1] must be a host name without a port, or "*" in place of the ' +
            `list, not ${JSON.stringify(host)}`,
    );
  }
  const hosts = "a.example" as "*";
  assert.throws(
    () => createNodeface({ hosts }),
    'hosts must be a list of host names, or "*" for any, not "a.e',
  );
});

guard("a listed host name may contain letters of any script", async () => {
  assert.is((await askAs("xn--bcher-kva.example", ["bücher.example"])).status, 200);
});

guard("if hosts is *, any valid host name is accepted", async () => {
  assert.is((await askAs("evil.example", "*")).status, 200);
  assert.is((await askAs("a b", "*")).status, 400);
});

guard("headers such as X-Forwarded-Host are neither trusted nor repeated", async () => {
  const response = await askWith({
    "x-forwarded-host": "relayed.example",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/relayed",
    forwarded: "host=relayed.example;proto=https",
  }, "/v1/spec");
  assert.is(response.status, 200);
  assert.not.match(JSON.stringify([...response.headers]) + await response.text(), "relayed");
});

guard("a request target of more than 8192 characters gets 414", async () => {
  const response = await ask(`/v1/info?${"a".repeat(8192)}`);
  assert.is(response.status, 414);
  assert.is((await response.json()).title, "URI Too Long");
  const longest = new URL(`http://localhost/v1/info?${"a".repeat(8192)}`).href.slice(0, 8192);
  assert.is((await app.fetch(new Request(longest))).status, 200);
});

guard.run();
