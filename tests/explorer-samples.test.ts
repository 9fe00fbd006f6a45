/** Runs the code samples of the page, and compares their requests with those of the form. */
import { execFile } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { languagesFor, writeSample } from "../src/explorer/code-samples.ts";
import { type OperationForm, requestOf } from "../src/explorer/form-request.ts";
import { testOnNode } from "./_runtime.ts";

const samples = suite("the code samples of the page");

const run = promisify(execFile);
const PROGRAMS: Readonly<Record<string, (code: string) => [string, string[]]>> = {
  curl: (code) => ["sh", ["-c", code]],
  JavaScript: (code) => [process.execPath, ["--input-type=module", "-e", code]],
  Python: (code) => ["python3", ["-c", code]],
};

const FORMS: readonly (readonly [OperationForm, string[]])[] = [
  [{ method: "GET", address: "/v1/rpc/eth_chainId", fields: [] }, []],
  [
    {
      method: "GET",
      address: "/a/{id}",
      fields: [{ name: "id", in: "path" }, { name: "q", in: "query" }],
    },
    ["a b/é'\"$HOME`id`", "1 & 2"],
  ],
  [
    {
      method: "POST",
      address: "/send",
      token: "NodefaceToken",
      isWrite: true,
      fields: [{ name: "body", in: "body", mediaType: "application/json" }],
    },
    ['{"to":"it\'s $HOME \\\\ \\"é\\"","n":18446744073709551615}'],
  ],
  [
    { method: "DELETE", address: "/keys", fields: [{ name: "X-Trace", in: "header" }] },
    ["a 'b' $c"],
  ],
  [
    {
      method: "GET",
      address: "/lists/{id}",
      fields: [
        { name: "id", in: "path", list: "," },
        { name: "p", in: "query", list: "%7C" },
      ],
    },
    ["1,a b", "x,$y"],
  ],
  [
    {
      method: "GET",
      address: "/v1/rpc/eth_subscribe",
      isEndless: true,
      fields: [{ name: "subscription", in: "query" }],
    },
    ["newHeads"],
  ],
];

for (const [language, commandOf] of Object.entries(PROGRAMS)) {
  testOnNode(samples, `a copied ${language} sample sends what the form sends`, async () => {
    const seen: { request: IncomingMessage; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (part) => body += part).on("end", () => {
        seen.push({ request, body });
        response.end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ...process.env, NODEFACE_TOKEN: "secret" };
    try {
      for (const [form, texts] of FORMS) {
        const code = writeSample(languagesFor("", true)[language]!, form, texts, base);
        await run(...commandOf(code), { env });
        const { request, body } = seen.at(-1)!;
        const expected = requestOf(form, texts, base);
        assert.is(base + request.url, expected.url);
        assert.is(request.method, expected.method);
        assert.is(body, expected.body ?? "");
        for (const [name, value] of expected.headers) {
          assert.is(request.headers[name.toLowerCase()], value);
        }
        assert.is(request.headers.authorization, form.token ? "Bearer secret" : undefined);
      }
      assert.is(seen.length, FORMS.length);
    } finally {
      server.close();
    }
  });
}

samples("kinds have their own clients, where a call can be written so", () => {
  const form: OperationForm = {
    method: "GET",
    address: "/v1/rpc/getblockhash",
    fields: [{ name: "height", in: "query", types: ["integer"] }, { name: "b", in: "query" }],
  };
  const write = (api: string, name: string, texts: string[], base = "http://127.0.0.1:8080") =>
    writeSample(languagesFor(api, true)[name]!, form, texts, base);
  assert.is(
    write("Bitcoin Core, Litecoin (JSON-RPC)", "bitcoin-cli", ["7", ""]),
    "bitcoin-cli -rpcconnect=127.0.0.1 -rpcport=8080 -rpcuser=any -rpcpassword=none getblockhash 7",
  );
  assert.is(write("Bitcoin Core", "bitcoin-cli", ["7", "x"], "https://a.example"), "");
  assert.is(write("Bitcoin Core", "bitcoin-cli", ["", "x"]), "");
  assert.match(
    write("Ethereum execution client", "viem", ["7", "419"]),
    'const params = [7, "0x1a3"];',
  );
  assert.match(
    write("Ethereum execution client", "viem", ["7", '{ "value": 12345678901234567890 }']),
    'const params = [7, {"value":12345678901234567890}];',
  );
  const subscription: OperationForm = {
    method: "GET",
    address: "/v1/rpc/eth_subscribe",
    fields: [
      { name: "event", in: "query" },
      { name: "filter", in: "query" },
      { name: "depth", in: "query", types: ["integer"] },
      { name: "full", in: "query", mediaType: "application/json" },
    ],
    isEndless: true,
  };
  const subscribe = (api: string, name: string) =>
    writeSample(
      languagesFor(api, true)[name]!,
      subscription,
      ["newPendingTransactions", "true", "7", "true"],
      "http://127.0.0.1:8080",
    );
  assert.match(
    subscribe("Ethereum execution client", "viem"),
    'const params = ["newPendingTransactions", true, 7, true];',
  );
  assert.match(
    subscribe("Substrate", "WebSocket"),
    String.raw`\"params\":[\"newPendingTransactions\",true,7,true]`,
  );
  assert.equal(Object.keys(languagesFor("Another API", true)), ["curl", "JavaScript", "Python"]);
  const namesAt = (isAtRoot: boolean) => Object.keys(languagesFor("Bitcoin Core", isAtRoot));
  assert.equal([true, false].map((isAtRoot) => namesAt(isAtRoot).includes("bitcoin-cli")), [
    true,
    false,
  ]);
});

samples.run();
