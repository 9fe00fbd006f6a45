/**
 * Tests JSON-RPC calls. Node runs every case; Deno and Bun skip some cases that cannot differ by
 * runtime.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sampleOf } from "./_runtime.ts";
import {
  forwarding,
  type Gateway,
  IDS,
  json,
  nodeOf,
  result,
  RPC,
  rpcError,
  textOf,
  TOKEN,
} from "./_gateway.ts";

const rpc = suite("JSON-RPC calls");

const node = nodeOf(rpc);
let gateway: Gateway;
rpc.before(() => {
  gateway = forwarding(node.url, RPC);
});
rpc.before.each(() => {
  node.answer = result("1");
});

const sent = () => node.received.map(textOf);
const call = (method: unknown, params?: unknown) => ({ jsonrpc: "2.0", id: 7, method, params });

for (
  const text of [
    ...["18446744073709551615", "1.00000000", "1e-8", "-0.0", "null", "true", '"\\u0061\\/"'],
    ...['{ "b" : 1.0, "a":[ 1 , 2.50 ] }', "[]", '"\\ud800"', '"é€😀\u2028"', "1e400"],
    `"${"x".repeat(1024 * 1024)}"`,
    `${"[".repeat(63)}${"]".repeat(63)}`,
  ]
) {
  rpc(`a result such as ${text.slice(0, 40)} reaches the client unchanged`, async () => {
    node.answer = json(` {"id":1, "result" :  ${text} ,"jsonrpc":"2.0","error":null}\n`);
    const bare = await gateway.ask("/v1/rpc/number");
    assert.is(bare.status, 200);
    assert.is(await bare.text(), text);
    const wrapped = await (await gateway.rpc('{"jsonrpc":"2.0","id":1.50,"method":"number"}'))
      .text();
    assert.is(wrapped, `{"jsonrpc":"2.0","result":${text},"id":1.50}`);
  });
}

rpc("parameters are sent to the node unchanged", async () => {
  const b = '{ "x":18446744073709551615,"y":[1.00000000,1e-8], "z":"\\u0061" }';
  await gateway.rpc(`{"id":1,"method":"named","params":{"a":10,"b":${b}}}`);
  await gateway.ask("/v1/rpc/named", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"b":${b}}`,
  });
  assert.equal(sent(), [
    `{"jsonrpc":"2.0","id":1,"method":"named","params":{"a":10,"b":${b}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"named","params":{"b":${b}}}`,
  ]);
});

rpc("a call of 1 MB reaches the node completely", async () => {
  const b = `{"x":"${"é".repeat(500_000)}"}`;
  const answer = await gateway.rpc(`{"id":1,"method":"named","params":[1,${b}]}`);
  assert.is(answer.status, 200);
  assert.equal(sent(), [`{"jsonrpc":"2.0","id":1,"method":"named","params":[1,${b}]}`]);
});

const BLOCK = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"block","params":${params}}`;

for (
  const [params, written] of [
    ['["ab"]', '["ab"]'],
    ['["ab",2]', '["ab",2]'],
    ['["ab",null]', '["ab",null]'],
    ['{"hash":"ab"}', '{"hash":"ab"}'],
    ["[]", "[]"],
    ["null", "[]"],
    ['[1,true,"a",{"a":null},1e400]', '[1,true,"a",{"a":null},1e400]'],
    ['{"h\\u0061sh":"\\u0061","x":1,"x":2}', '{"h\\u0061sh":"\\u0061","x":1,"x":2}'],
  ] as const
) {
  rpc(`the parameters ${params} are sent as they came`, async () => {
    assert.is((await gateway.rpc(`{"id":1,"method":"block","params":${params}}`)).status, 200);
    assert.equal(sent(), [BLOCK(written)]);
  });
}

for (
  const [params, written] of [
    ['{"hash":"ab"}', '["ab"]'],
    ['{"verbosity":2,"hash":"ab"}', '["ab",2]'],
    ['{"h\\u0061sh":"\\u0061"}', '["\\u0061"]'],
    ['{"verbosity":{"a":1,"a":2}}', '[null,{"a":1,"a":2}]'],
    ["[1,2,3]", "[1,2,3]"],
  ] as const
) {
  rpc(`in a POST to the method, the parameters ${params} are put in their places`, async () => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: params };
    assert.is((await gateway.ask("/v1/rpc/block", init)).status, 200);
    assert.equal(sent(), [BLOCK(written)]);
  });
}

rpc("a method that takes both gets a list, but an object if a parameter is left out", async () => {
  const headers = { "content-type": "application/json" };
  for (const body of ['{"a":1}', '{"b":{},"a":1}', '{"b":{}}', "[1]"]) {
    await gateway.ask("/v1/rpc/named", { method: "POST", headers, body });
  }
  const named = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"named","params":${params}}`;
  assert.equal(sent(), ["[1]", "[1,{}]", '{"b":{}}', "[1]"].map(named));
});

rpc("the parameters of a GET call are taken from its query", async () => {
  await gateway.ask("/v1/rpc/block?verbosity=2&hash=a%22b%5C%26+c");
  await gateway.ask("/v1/rpc/block?hash=12&verbosity=");
  assert.equal(sent(), [BLOCK('["a\\"b\\\\& c",2]'), BLOCK('["12"]')]);
});

const BLOCK_ID = { type: "string", pattern: "^(0x[0-9a-f]+|latest)$" };
const TEXTS: readonly (readonly [schema: object, text: string, sent: string])[] = [
  [BLOCK_ID, "419", '"0x1a3"'],
  [BLOCK_ID, "0x1A3", '"0x1A3"'],
  [BLOCK_ID, "%20latest+", '"latest"'],
  [
    { anyOf: [BLOCK_ID, { type: "object" }] },
    "%2018446744073709551616%09",
    '"0x10000000000000000"',
  ],
  [{ type: "string", pattern: "^0x(0|[1-9a-f][0-9a-f]*)$" }, "0", '"0x0"'],
  [{ type: "string", pattern: "^0x[0-9a-f]{64}$" }, "419", '"419"'],
  [{ type: "string", pattern: "^0x[a-fA-F0-9]+$" }, "419", '"0x1a3"'],
  [{ type: "string", pattern: "^0x[a-fA-F\\d]+$" }, "419", '"0x1a3"'],
  [{ type: "string", pattern: "^0x[a-fA-F0-9]{40}$" }, "419", '"419"'],
  [{ type: "string", pattern: "^0x([0-9a-f]{2})*$" }, "419", '"419"'],
  [{ oneOf: [{ type: "integer" }, { enum: ["latest"] }] }, "419", "419"],
  [{ oneOf: [{ type: "integer" }, { enum: ["latest"] }] }, "latest", '"latest"'],
  [{ type: ["string", "integer"] }, "%20-7", "-7"],
  [{ anyOf: [BLOCK_ID, { type: "object" }] }, '{"blockNumber":"0x1"}', '{"blockNumber":"0x1"}'],
  [{ type: ["array", "string"] }, '["a","b"]', '["a","b"]'],
  [{ type: ["array", "string"] }, "[a", '"[a"'],
  [{ type: "string" }, '["a"]', '"[\\"a\\"]"'],
  [{ type: "integer" }, "007", '"007"'],
  [{ type: "number" }, "1e400", "1e400"],
  [{ enum: [0, 1, "all"] }, "1", "1"],
  [{ oneOf: [{ type: "boolean" }, { type: "integer" }] }, "true", "true"],
  [{ oneOf: [{ type: "boolean" }, { type: "integer" }] }, "1", "1"],
  [{ type: "string" }, "true", '"true"'],
  [{ type: "string" }, "+two+words+", '" two words "'],
];

for (const [schema, text, value] of TEXTS) {
  rpc(`${text} for ${JSON.stringify(schema)} is sent as ${value}`, async () => {
    const [first] = RPC.methods;
    const one = { ...first!, params: [{ name: "a", schema }], paramStructure: "by-position" };
    const { ask } = forwarding(node.url, { ...RPC, methods: [one] } as typeof RPC);
    assert.is((await ask(`/v1/rpc/number?a=${text}`)).status, 200);
    assert.equal(sent(), [`{"jsonrpc":"2.0","id":1,"method":"number","params":[${value}]}`]);
  });
}

for (
  const query of [
    ...["?hash=a&hash=b", "?hash=a&Hash=b", "?hash=a&x=1", "?hash=%ff", "?hash=a&__proto__=1"],
    ...["?hash=a&0=1", "?token=a"],
  ]
) {
  rpc(`the query in GET block${query} has no place for a name`, async () => {
    const answer = await gateway.ask(`/v1/rpc/block${query}`);
    assert.is(answer.status, 400);
    assert.equal(node.received, []);
    assert.ok((await answer.json()).errors.length > 0);
  });
}

for (
  const params of [
    ...["[]", "{}", '["a",1,2]', "[1]", '["a",4]', '["a","1"]', '["a",1.5]', '{"hash":1}'],
    ...['{"Hash":"a"}', '{"hash":"a","x":1}', '{"hash":"a","__proto__":1}', '{"hash":null}'],
    ...["1", '"a"', "true", '{"hash":"a","constructor":{}}', '{"0":"a"}'],
    ...['{"hash":"a","hash":"b"}', '{"hash":"a","verbosity":{"a":1,"a":2}}'],
  ]
) {
  rpc(`the parameters ${params} of a checked method are invalid`, async () => {
    const call = `"id":"x","method":"checked","params":${params}`;
    const answer = await gateway.rpc(`{"jsonrpc":"2.0",${call}}`);
    assert.is(answer.status, 200);
    const { error, id } = await answer.json();
    assert.equal([error.code, id], [-32602, "x"]);
    const bare = await gateway.ask("/v1/rpc/checked", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: params,
    });
    assert.is(bare.status, 400);
    assert.equal(node.received, []);
  });
}

rpc("a number outside the range of doubles is sent unchanged", async () => {
  for (const digits of ["1e400", "-1e999", "9".repeat(400)]) {
    await gateway.rpc(`{"id":1,"method":"chosen","params":{"amount":${digits}}}`);
    await gateway.ask(`/v1/rpc/chosen?amount=${digits}`);
    const written = `{"jsonrpc":"2.0","id":1,"method":"chosen","params":{"amount":${digits}}}`;
    assert.equal(sent(), [written, written]);
    node.received = [];
  }
});

rpc("a POST call with a token in its query and a GET call with a body are refused", async () => {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: "{}" };
  assert.is((await gateway.ask("/v1/rpc/number?token=1", init)).status, 400);
  const withLength = { headers: { ...headers, "content-length": "2" } };
  assert.is((await gateway.ask("/v1/rpc/number", withLength)).status, 415);
  assert.equal(node.received, []);
});

const NAMES = [
  ...["send", "balance", "unmarked", "nope", "", " number", "number ", "Number", "NUMBER"],
  ...["number\n", "number\u0000", "\ufeffnumber", "num\u200bber", "__proto__", "constructor"],
  ...["toString", "hasOwnProperty", "valueOf", "number,send", "admin_peers", "numbеr", "ｎumber"],
  ...["number;send", "rpc.discover", "system.multicall", "x".repeat(10_000)],
];

for (const name of sampleOf(NAMES)) {
  rpc(`the method ${JSON.stringify(name).slice(0, 40)} is not called`, async () => {
    for (const content of [call(name), [call(name)], [call(name, []), call(name, {})]]) {
      const answered = await (await gateway.rpc(content)).json();
      for (const { error, id } of [answered].flat()) {
        assert.equal([error.code, id], [-32601, 7]);
        assert.match(error.message, /^the method [^]* does not exist\/is not available: /);
      }
    }
    const notification = { jsonrpc: "2.0", method: name, params: ["a"] };
    const silent = await gateway.rpc(notification);
    assert.equal([silent.status, await silent.text()], [204, ""]);
    if (name !== "") {
      for (const method of ["GET", "POST"]) {
        const answer = await gateway.ask(`/v1/rpc/${encodeURIComponent(name)}`, { method });
        assert.ok([403, 404, 405, 414].includes(answer.status), String(answer.status));
      }
    }
    assert.equal(node.received, []);
  });
}

for (const method of [1, null, true, ["number"], { number: 1 }, undefined]) {
  rpc(`a method that is ${JSON.stringify(method)} is invalid`, async () => {
    const { error, id } = await (await gateway.rpc(call(method))).json();
    assert.equal([error.code, id], [-32600, 7]);
    assert.equal(node.received, []);
  });
}

rpc("a method name may contain escapes, and unknown members are not sent", async () => {
  await gateway.rpc(
    '{"version":"1.1","id":1,"\\u006dethod":"n\\u0075mber","Method":"send","extra":{"method":"send"}}',
  );
  assert.equal(sent(), ['{"jsonrpc":"2.0","id":1,"method":"number"}']);
});

rpc("a method whose name has a slash is called by its encoded name", async () => {
  assert.is((await gateway.ask("/v1/rpc/a%2Fb")).status, 200);
  assert.is((await gateway.ask("/v1/rpc/a%252Fb")).status, 404);
  assert.is((await gateway.ask("/v1/rpc/a/b")).status, 404);
  assert.is((await gateway.ask("/v1/rpc/%ff")).status, 404);
  assert.is((await gateway.ask("/v1/rpc/number/")).status, 404);
  assert.equal(sent(), ['{"jsonrpc":"2.0","id":1,"method":"a/b"}']);
});

for (
  const id of [
    ...["1", "0", "-1", "1.5", "1.50", "1e400", "18446744073709551616", "null", '"a"', '""'],
    ...['"\\u0000\\ud800"', `"${"i".repeat(100_000)}"`, "9".repeat(10_000), '"__proto__"'],
  ]
) {
  rpc(
    `the id ${id.slice(0, 30)} is returned to the caller, and the node gets our own id`,
    async () => {
      const answer = await (await gateway.rpc(`{"jsonrpc":"2.0","id": ${id} ,"method":"number"}`))
        .text();
      assert.is(answer, `{"jsonrpc":"2.0","result":1,"id":${id}}`);
      assert.is(JSON.parse(sent()[0]!).id, 1);
      const refused = await (await gateway.rpc(`[{"jsonrpc":"2.0","id":${id},"method":"send"}]`))
        .text();
      assert.ok(refused.endsWith(`"id":${id}}]`));
    },
  );
}

for (const id of ["true", "false", "[]", "{}", "[1]", '{"a":1}']) {
  rpc(`an id of ${id} is invalid`, async () => {
    const answered = await (await gateway.rpc(`{"id":${id},"method":"number"}`)).json();
    assert.equal([answered.error.code, answered.id], [-32600, null]);
    assert.equal(node.received, []);
  });
}

const NO_JSON = [
  ...["", " ", "{", "[", "nonsense", "{'id':1}", '{"id":1,}', "[1,]", '{"a":01}', "\ufeff{}"],
  ...['{"id":1,"id":2,"method":"number"}', '{"id":1,"method":"number","method":"send"}'],
  ...[
    '{"id":1,"method":"send","method":"number"}',
    '{"id":1,"method":"number","\\u006dethod":"send"}',
  ],
  ...['[{"id":1,"method":"number"},{"id":1,"method":"number","method":"send"}]'],
  `{"id":1,"method":"named","params":{"b":{"x":${"[".repeat(62)}${"]".repeat(62)}}}}`,
  "[".repeat(100_000),
  `${"[".repeat(65)}${"]".repeat(65)}`,
  '{"a":'.repeat(50_000),
];

for (const content of NO_JSON) {
  rpc(`the body ${JSON.stringify(content).slice(0, 60)} is refused`, async () => {
    const answer = await gateway.rpc(content);
    const answered = await answer.json();
    assert.equal([answer.status, answered.error.code], [400, -32700]);
    assert.is(answered.id, null);
    assert.equal(node.received, []);
  });
}

rpc("a body with 64 levels of nesting is accepted", async () => {
  const deep = `${"[".repeat(61)}${"]".repeat(61)}`;
  const content = `{"id":1,"method":"named","params":{"b":{"x":${deep}}}}`;
  assert.is((await gateway.rpc(content)).status, 200);
  assert.is(node.received.length, 1);
});

rpc("a body that is not UTF-8 is refused", async () => {
  const headers = { "content-type": "application/json" };
  for (const bytes of [[0x22, 0xff, 0x22], [0xed, 0xa0, 0x80], [0xff, 0xfe, 0x5b, 0, 0x5d, 0]]) {
    const init = { method: "POST", headers, body: new Uint8Array(bytes) };
    const answer = await gateway.ask("/v1/rpc", init);
    assert.equal([answer.status, (await answer.json()).error.code], [400, -32700]);
    assert.is((await gateway.ask("/v1/rpc/number", init)).status, 400);
  }
  assert.equal(node.received, []);
});

for (const content of ["1", "null", '"a"', "true"]) {
  rpc(`the body ${content} is not a call`, async () => {
    const answer = await gateway.rpc(content);
    assert.equal([answer.status, (await answer.json()).error.code], [200, -32600]);
  });
}

rpc(
  "the responses to a batch are in the order of its calls, and notifications get none",
  async () => {
    node.answer = (request, response) => {
      const read = ({ id, method }: Record<string, unknown>) => ({ id, result: method });
      const content = JSON.parse(textOf(request));
      json(Array.isArray(content) ? content.map(read).reverse() : read(content))(request, response);
    };
    const answer = await gateway.rpc([
      call("number"),
      { ...call("send", ["a"]), id: "b" },
      { jsonrpc: "2.0", method: "number" },
      1,
      [],
      { id: null, method: "block", params: ["a"] },
      { id: "c", method: "checked" },
      { jsonrpc: "2.0", method: "send", params: ["a"] },
      { id: "d", method: "nope" },
      { id: "e", method: "block", params: ["a"] },
    ]);
    assert.is(answer.status, 200);
    const members = await answer.json();
    assert.equal(
      members.map((
        { id, result, error }: Record<string, unknown>,
      ) => [id, result ?? (error as { code: number }).code]),
      [
        [7, "number"],
        ["b", -32601],
        [null, -32600],
        [null, -32600],
        [null, "block"],
        ["c", -32602],
        ["d", -32601],
        ["e", "block"],
      ],
    );
    assert.is(node.received.length, 1);
  },
);

rpc("a call of JSON-RPC 1 without an id gets its response, as at the node", async () => {
  const answer = await gateway.rpc({ method: "number", params: [] });
  assert.is(answer.status, 200);
  assert.equal(await answer.json(), { result: 1, error: null, id: null });
});

rpc(
  "a node that responds in the form of JSON-RPC 1 to each call does so to clients, too",
  async () => {
    node.answer = (request, response) => {
      const calls = [JSON.parse(textOf(request))].flat();
      const replies = calls.map(({ id }) => `{"result":1,"error":null,"id":${id}}`);
      json(calls.length > 1 ? `[${replies}]` : replies[0]!)(request, response);
    };
    const one = await gateway.rpc('{"jsonrpc": "2.0", "id": 7, "method": "number"}');
    assert.is(await one.text(), '{"result":1,"error":null,"id":7}');
    const call = '{"jsonrpc": "2.0", "id": 7, "method": "number"}';
    const batch = await gateway.rpc(`[${call}, ${call}]`);
    const reply = '{"result":1,"error":null,"id":7}';
    assert.is(await batch.text(), `[${reply},${reply}]`);
  },
);

rpc("an error in the form of JSON-RPC 1 keeps the status of the node", async () => {
  const error = '{"code":-32601,"message":"Method not found."}';
  for (const status of [200, 500, 404]) {
    node.answer = json(`{"result":null,"error":${error},"id":1}`, status);
    for (const version of ["", '"jsonrpc":"2.0",']) {
      const response = await gateway.rpc(`{${version}"id":7,"method":"number"}`);
      assert.is(response.status, status);
      assert.is(await response.text(), `{"result":null,"error":${error},"id":7}`);
    }
  }
});

rpc("the traces of calls may be deep", async () => {
  const deep = `${"[".repeat(2000)}${"]".repeat(2000)}`;
  node.answer = (request, response) => result(deep)(request, response);
  assert.match(await (await gateway.rpc(call("number"))).text(), deep);
});

rpc("a batch of notifications is sent to the node, but gets no response", async () => {
  const notification = { jsonrpc: "2.0", method: "number" };
  const answer = await gateway.rpc([notification, notification]);
  assert.equal([answer.status, await answer.text()], [204, ""]);
  assert.is(JSON.parse(sent()[0]!).length, 2);
});

rpc("a batch may have 1 to 1000 calls, and each call of a longer batch is refused", async () => {
  const many = async (count: number) => {
    const answer = await gateway.rpc(Array(count).fill({ ...call("number"), params: undefined }));
    return [answer.status, await answer.json()];
  };
  const [, empty] = await many(0);
  assert.equal(empty.error.code, -32600);
  for (const count of [1001, 2000]) {
    const [status, refused] = await many(count);
    assert.equal([status, refused.length], [200, count]);
    for (const { id, error } of refused) assert.equal([id, error.code], [7, -32600]);
  }
  const [status, { error }] = await many(2001);
  assert.equal([status, error.code], [413, -32600]);
  assert.equal(node.received, []);
  const [, responses] = await many(1000);
  assert.is(responses.length, 1000);
  assert.is(node.received.length, 1);
});

const PLAIN = '{"jsonrpc":"2.0","id":1,"method":"number"}';

rpc(
  "a batch of allowed reads goes to the node as it came, and its response comes back so",
  async () => {
    const own = forwarding(node.url, RPC);
    const second = '{"params":{"x":[1.5,"é"]},"id":"b-2","method":"named","jsonrpc":"2.0"}';
    const batch = `[${PLAIN},${second}]`;
    const response = '[ {"id":"b-2","more":1, "result":2.50},{"error":{"code":1},"id":1}]\n';
    node.answer = json(response);
    const answer = await own.rpc(batch);
    assert.equal([answer.status, await answer.text()], [200, response]);
    assert.is(answer.headers.get("content-type"), "application/json");
    assert.equal(sent(), [batch]);
    assert.equal(
      own.calls.map(({ operation, status, bytes }) => [operation, status, bytes]),
      [["number", 200, 34], ["named", 200, 34]],
    );
  },
);

rpc("each call of a batch that is written anew counts the bytes of its own part", async () => {
  const own = forwarding(node.url, RPC);
  const long = JSON.stringify("é𝄞".repeat(40_000));
  const error = '{"code":1,"message":"naïve"}';
  const results = ['"aé"', long].map((text, id) => `{"id":${id},"result":${text}}`);
  node.answer = json(`[${results},{"id":2,"error":${error}}]`);
  await own.rpc([...Array(4).fill(call("number")), { id: 9, method: "nope" }]);
  assert.equal(own.calls.map(({ bytes }) => bytes), [5, 240_002, 29, 0]);
});

for (
  const member of [
    '{"jsonrpc":"2.0","id":2,"method":"number","Method":"send"}',
    '{"jsonrpc":"2.0","id":2,"method":"n\\u0075mber"}',
    '{"jsonrpc":"2.0","id":2,"method":"number","result":1}',
    '{"jsonrpc":"1.0","id":2,"method":"number"}',
    '{"id":2,"method":"number"}',
    '{"id":2,"method":"number","jsonrpc":"2.0" }',
    '{"jsonrpc":"2.0","id":2,"method":"named","params":[1.0]}',
    '{"jsonrpc":"2.0","id":2,"method":"named","params":[{"a":1,"a":2}]}',
    '{"jsonrpc":"2.0","method":"number"}',
    '{"jsonrpc":"2.0","id":2.0,"method":"number"}',
    '{"jsonrpc":"2.0","id":null,"method":"number"}',
    '{"jsonrpc":"2.0","id":1234567890123456,"method":"number"}',
    '{"jsonrpc":"2.0","id":"a b","method":"number"}',
    '{"jsonrpc":"2.0","id":2,"method":"number","params":null}',
    '{"jsonrpc":"2.0","id":2,"method":"checked","params":{"hash":"a"}}',
    '{"jsonrpc":"2.0","id":2,"method":"send","params":["a"]}',
    '{"jsonrpc":"2.0","id":2,"method":"nope"}',
    '{"jsonrpc":"2.0","id":2,"method":"heavy"}',
    "1",
  ]
) {
  rpc(`a batch with ${member} is written anew`, async () => {
    const answer = await gateway.rpc(`[${PLAIN},${member}]`);
    const [{ id, result }] = await answer.json();
    assert.equal([id, result], [1, 1]);
    for (const text of sent()) {
      assert.match(
        text,
        /^\[\{"jsonrpc":"2.0","id":0,|^\{"jsonrpc":"2.0","id":1,"method":"\w+"/,
      );
      assert.not.match(text, /send|nope|\\|Method|null/);
    }
  });
}

rpc("a batch may be as deep as a call", async () => {
  for (const [levels, isTaken] of [[62, true], [63, false]] as const) {
    node.received = [];
    const params = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const answer = await gateway.rpc(
      `[{"jsonrpc":"2.0","id":1,"method":"named","params":${params}}]`,
    );
    assert.is(answer.status, isTaken ? 200 : 400);
    assert.is(node.received.length, isTaken ? 1 : 0);
  }
});

rpc("each call of a batch gets a response, even if the node omits some", async () => {
  const member = ({ id }: { id: unknown }) => ({ jsonrpc: "2.0", id, result: "a" });
  node.answer = (request, response) => {
    const [, ...rest] = JSON.parse(textOf(request));
    json(rest.map(member))(request, response);
  };
  const answer = await gateway.rpc([call("number"), call("number")]);
  const ids = (await answer.json()).map((
    { id, result, error }: Record<string, unknown>,
  ) => [id, result ?? (error as { code: number }).code]);
  assert.equal(ids, [[7, -32052], [7, "a"]]);
});

rpc("how a client writes a batch does not decide whether the node gets batches", async () => {
  const own = forwarding(node.url, RPC);
  node.answer = (request, response) =>
    textOf(request).includes('"id":111')
      ? json({ error: { code: -32600, message: "no" } })(request, response)
      : result("1")(request, response);
  for (const id of [111, 2, 3]) {
    const answer = await own.rpc([{ ...call("number"), id }, call("number")]);
    assert.equal((await answer.json()).length, 2);
  }
  assert.is(node.received.length, 4);
});

for (const isPlain of [true, false]) {
  const form = isPlain ? "as it came" : "written anew";
  rpc(`a batch ${form} is sent once to a node that has taken one, or that is busy`, async () => {
    const own = forwarding(node.url, RPC);
    const batch = JSON.stringify([call("number"), call("block", ["a"])], null, isPlain ? 0 : 1);
    const error = { code: -32005, message: "no" };
    const respond = async () => {
      node.received = [];
      const response = await own.rpc(batch);
      assert.is(node.received.length, 1);
      const codes = (await response.json()).map((one: { error: { code: number } }) =>
        one.error.code
      );
      return [response.status, ...codes, response.headers.get("retry-after")];
    };
    node.answer = json({ id: null, error }, 429, { "retry-after": "7" });
    assert.equal(await respond(), [429, -32054, -32054, "7"]);
    node.answer = result("1");
    assert.is((await own.rpc(batch)).status, 200);
    node.answer = json({ id: null, error }, 500);
    assert.equal(await respond(), [200, -32005, -32005, null]);
    node.answer = json("Try again", 500);
    assert.equal(await respond(), [500, -32052, -32052, null]);
  });
}

rpc("a batch goes to a node that takes no batches as single calls", async () => {
  node.answer = (request, response) => {
    const { id, method } = JSON.parse(textOf(request));
    json(method ? { id, result: method } : { error: { code: -32600, message: "no" } })(
      request,
      response,
    );
  };
  const own = forwarding(node.url, RPC);
  // At first, the batch as it came, a batch of our own, and then the calls.
  for (const count of [5, 3]) {
    node.received = [];
    const answer = await own.rpc([call("number"), call("block", ["a"]), call("number")]);
    const results = (await answer.json()).map(({ result }: { result: string }) => result);
    assert.equal(results, ["number", "block", "number"]);
    assert.is(node.received.length, count);
  }
});

/**
 * `error` is the node's error, and `status` is the resulting status of `/v1/rpc/{method}`, whose
 * problem details have the code, message and data of `read`, or of `error`. `/v1/rpc` returns
 * `error`.
 */
const ERRORS: readonly (readonly [error: unknown, status: number, read?: object])[] = [
  [{ code: -32602, message: "Invalid params" }, 400],
  [{ code: -32601, message: "Method not found" }, 404],
  [{ code: -28, message: "Loading block index" }, 503],
  [{ code: -32603, message: "Internal" }, 422],
  [{ code: -8, message: "Block height out of range" }, 422],
  [{ code: 3, message: "execution reverted", data: "0x08c379a0" }, 422],
  [{ code: 1, message: "m", stack: "at /home/me/node.js:1", name: "E" }, 422, {
    code: 1,
    message: "m",
  }],
  [{ code: "odd", message: 7 }, 422, { message: "7" }],
  ["a text", 422, { message: "a text" }],
  [{}, 422, { message: "The node responded with an error" }],
];

for (const [error, status, read = error] of sampleOf(ERRORS)) {
  for (const sentAs of [200, 404, 500]) {
    rpc(`the error ${JSON.stringify(error)} with status ${sentAs} becomes ${status}`, async () => {
      node.answer = rpcError(error, sentAs);
      const answer = await gateway.ask("/v1/rpc/number");
      assert.is(answer.status, status);
      assert.is(answer.headers.get("content-type"), "application/json");
      assert.is(answer.headers.has("retry-after"), status === 503);
      const { code, message, data, stack } = await answer.json();
      const { code: given } = error as Record<string, unknown>;
      const { message: said, data: more } = read as Record<string, unknown>;
      assert.is(code, typeof given === "number" ? given : undefined);
      assert.equal([message, data, stack], [said, more, undefined]);
      const wrapped = await gateway.rpc(call("number"));
      assert.is(wrapped.status, sentAs);
      assert.equal(await wrapped.json(), { jsonrpc: "2.0", error, id: 7 });
      const old = await gateway.rpc({ id: "a", method: "number" });
      assert.is(old.status, sentAs !== 200 ? sentAs : status === 404 ? 404 : 500);
      assert.equal(await old.json(), { result: null, error, id: "a" });
    });
  }
}

rpc("numbers in a node's error reach the client unchanged", async () => {
  const error = '{"data":{"a":18446744073709551615,"b":1.00},"x":1,"code":-3.2e4,"message":"m"}';
  node.answer = json(`{"id":1,"error":${error}}`);
  const text = await (await gateway.rpc(call("number"))).text();
  assert.is(text, `{"jsonrpc":"2.0","error":${error},"id":7}`);
  const bare = await (await gateway.ask("/v1/rpc/number")).text();
  assert.match(bare, '"code": -3.2e4');
});

rpc("a node's error may be long", async () => {
  const error = { code: 1, message: "m".repeat(5000), data: "d".repeat(100_000) };
  node.answer = rpcError(error);
  assert.equal((await (await gateway.rpc(call("number"))).json()).error, error);
  const { message, data } = await (await gateway.ask("/v1/rpc/number")).json();
  assert.equal([message, data], [error.message, error.data]);
});

rpc("a node's error may have any characters at any place", async () => {
  for (let before = 990; before < 1002; before++) {
    const message = "m".repeat(before) + '\\"\n\u0007é😀'.repeat(9);
    // JSON may write each character as an escape, too.
    const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const escaped = `"${message.split("").map(escape).join("")}"`;
    for (const text of [JSON.stringify(message), escaped]) {
      node.answer = json(`{"id":1,"error":{"code":3,"message":${text}}}`);
      const response = await gateway.ask("/v1/rpc/number");
      assert.equal([response.status, (await response.json()).message], [422, JSON.parse(text)]);
    }
  }
});

const NONSENSE: readonly (readonly [why: string, content: string | Uint8Array])[] = [
  ["empty", ""],
  ["HTML", "<html>words of the node</html>"],
  ["a list", '[{"result":1}]'],
  ["an object without a result", '{"jsonrpc":"2.0","id":1}'],
  ["a number", "1"],
  ["an object with two results", '{"result":1,"result":2}'],
  ["nested in 10,001 levels", `{"result":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ["nested in 100,000 levels", `{"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ["followed by another object", '{"result":1} {"result":2}'],
  ["incomplete", '{"result":"words of the node'],
  ["closed by the wrong bracket", '{"result":[{"words of the node":1]}}'],
  ["an error that is no JSON", '{"error":{"code":1,"message":words of the node}}'],
  [
    "not UTF-8",
    new Uint8Array([...'{"result":"'].map((c) => c.charCodeAt(0)).concat(0xff, 0x22, 0x7d)),
  ],
];

for (const [why, content] of NONSENSE) {
  rpc(`if the node's response is ${why}, the client gets 502 without its text`, async () => {
    node.answer = (_, response) => response.end(content);
    const answer = await gateway.ask("/v1/rpc/number");
    const text = await answer.text();
    assert.is(answer.status, 502, text);
    assert.not.match(text, "words of the node");
    assert.not.match(text, "cannot be queried");
    const wrapped = await (await gateway.rpc(call("number"))).json();
    assert.equal([wrapped.error.code, wrapped.id], [-32052, 7]);
  });
}

rpc("what a node repeats within its result reaches the client unchanged", async () => {
  const result = '{"a":{"b":1,"b":2},"a":3}';
  node.answer = (_, response) => response.end(`{"x":0,"x":1,"result":${result}}`);
  assert.is(await (await gateway.ask("/v1/rpc/number")).text(), result);
});

rpc("what is no JSON within a result reaches the client as the node said it", async () => {
  const result = '{"a":NaN,"b":[1,,2],"c":"\\"}]"}';
  node.answer = (_, response) => response.end(`{"result":${result}}`);
  assert.is(await (await gateway.ask("/v1/rpc/number")).text(), result);
  assert.match(await (await gateway.rpc(call("number"))).text(), result);
});

for (const status of [503, 429, 500]) {
  rpc(`a ${status} of a busy node without JSON-RPC becomes 503 with Retry-After`, async () => {
    node.answer = (_, response) =>
      response.writeHead(status, { "retry-after": "9" }).end("Work queue depth exceeded");
    const answer = await gateway.ask("/v1/rpc/number");
    assert.equal([answer.status, answer.headers.get("retry-after")], [503, "9"]);
    const text = await answer.text();
    assert.match(text, `The node responded with ${status}`);
    assert.not.match(text, "Work queue");
    const { error } = await (await gateway.rpc(call("number"))).json();
    assert.is(error.code, -32054);
    assert.match(error.message, `The node responded with ${status}`);
  });

  rpc(`a call gets Retry-After even if the node's ${status} has none`, async () => {
    node.answer = (_, response) => response.writeHead(status).end("Work queue depth exceeded");
    const responses = [await gateway.ask("/v1/rpc/number"), await gateway.rpc(call("number"))];
    for (const { headers } of responses) assert.is(headers.get("retry-after"), "5");
  });
}

rpc("a batch has the status 200, even if it has one call that fails", async () => {
  node.answer = rpcError({ code: -8, message: "Block height out of range" }, 500);
  assert.is((await gateway.rpc(call("number"))).status, 500);
  const response = await gateway.rpc([call("number")]);
  assert.equal([response.status, (await response.json())[0].error.code], [200, -8]);
});

for (const status of [407, 408, 421, 425, 426]) {
  rpc(`a client does not get the node's ${status}, which is about the connection`, async () => {
    for (const answer of [json("no", status), rpcError({ code: 1, message: "no" }, status)]) {
      node.answer = answer;
      const response = await gateway.rpc(call("number"));
      assert.is(response.status, 200);
      assert.ok((await response.json()).error);
    }
  });
}

const MIB = 1024 * 1024;

const MANY: readonly (readonly [what: string, params: string, says: string])[] = [
  [
    "too many values",
    `["a"${",0".repeat(500_000)}]`,
    "takes at most 2 parameters, got 500001",
  ],
  [
    "unknown names",
    `{${Array.from({ length: 80_000 }, (_, at) => `"a${at}":0`).join(",")}}`,
    '"a0" is unknown',
  ],
  ["a long name", `{"hash":"a","${"n".repeat(MIB - 100)}":0}`, "nnn"],
  ["lists", `["a"${",[]".repeat(300_000)}]`, "got 300001"],
];

for (const [what, params, says] of MANY) {
  rpc(`for ${what}, the first error is reported, and the response is short`, async () => {
    const answer = await gateway.rpc(`{"id":1,"method":"checked","params":${params}}`);
    const text = await answer.text();
    assert.ok(text.length < 3000, `${text.length} bytes`);
    assert.match(JSON.parse(text).error.message, says);
    const headers = { "content-type": "application/json" };
    const bare = await gateway.ask("/v1/rpc/checked", { method: "POST", headers, body: params });
    const problem = await bare.json();
    assert.equal([bare.status, problem.errors.length], [400, 1]);
  });
}

rpc("the response to an invalid batch is not longer than the batch", async () => {
  const names = Array.from({ length: 100 }, (_, at) => `"a${at}":0`).join(",");
  const one = `{"id":1,"method":"checked","params":{${names}}}`;
  const text = await (await gateway.rpc(`[${Array(100).fill(one).join(",")}]`)).text();
  assert.ok(text.length < 20_000, `${text.length} bytes`);
  assert.is(JSON.parse(text).length, 100);
});

rpc("other tasks can run between calls with large bodies", async () => {
  const large = `{"id":1,"method":"block","params":[${"0,".repeat(500_000)}0]}`;
  let read = 0;
  const turns = new Set<number>();
  const all = Promise.all(Array.from({ length: 4 }, async () => {
    await gateway.rpc(large);
    read++;
  }));
  while (read < 4) {
    turns.add(read);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await all;
  assert.ok(turns.size >= 2, [...turns].join());
});

for (const id of IDS) {
  rpc(`each refusal of a call repeats the id ${id ?? "(none)"}`, async () => {
    process.env.GATEWAY_TOKEN = TOKEN;
    const settings = {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
      concurrency: 1,
    };
    const off = forwarding(node.url, RPC, "off");
    const some = forwarding(node.url, RPC, settings);
    const stopped = forwarding(node.url, RPC, settings);
    await stopped.app.close();
    const unknown = forwarding(node.url, RPC, settings, {
      description: { name: "a.json", text: "{" },
      log() {},
    });
    const member = id === undefined ? "" : `"id":${id},`;
    const of = (method: string, params = "[]") =>
      `{"jsonrpc":"2.0",${member}"method":"${method}","params":${params}}`;
    const cases: [code: number, status: number, answer: Response, isBatch?: boolean][] = [
      [-32601, 200, await off.rpc(of("number"))],
      [-32601, 200, await some.rpc(of("balance"))],
      [-32601, 200, await some.rpc(of("nope"))],
      [-32050, 200, await some.rpc(of("send"))],
      [-32602, 200, await some.rpc(of("checked"))],
      [-32054, 503, await stopped.rpc(of("number"))],
      [-32052, 503, await unknown.rpc(of("number"))],
      [-32601, 200, await off.rpc(`[${of("number")},${of("send")}]`), true],
      [-32601, 200, await some.rpc(`[${of("balance")},${of("nope")}]`), true],
      [-32054, 503, await stopped.rpc(`[${of("number")}]`), true],
      [-32600, 200, await some.rpc(`[${Array(1001).fill(of("number")).join(",")}]`), true],
    ];
    for (const [at, [code, status, answer, isBatch = false]] of cases.entries()) {
      const text = await answer.text();
      if (id === undefined && !text.includes('"id":null')) {
        const { status, headers } = answer;
        assert.equal([status, headers.get("content-type"), text], [204, null, ""], `${at}`);
        continue;
      }
      assert.is(answer.status, status, `${at}: ${text.slice(0, 200)}`);
      assert.is(answer.headers.has("retry-after"), status === 503);
      assert.is(text.startsWith("["), isBatch, text.slice(0, 200));
      const all = [JSON.parse(text)].flat();
      assert.ok(all.every(({ error }) => error.code === code && error.message), text.slice(0, 200));
      const ids = [...text.matchAll(/"id":(.*?)\}/g)].map(([, id]) => id);
      assert.equal(ids, Array(all.length).fill(id ?? "null"));
    }
    assert.equal(node.received, []);
  });
}

rpc("if the whole body is refused, the status shows the reason, and the id is null", async () => {
  const headers = { "content-encoding": "gzip" };
  const cases: [number, Response][] = [
    [403, await gateway.rpc(call("number"), { headers: { origin: "https://evil.example" } })],
    [415, await gateway.rpc(call("number"), { headers })],
    [413, await gateway.rpc(`"${"x".repeat(1024 * 1024)}"`)],
  ];
  for (const [status, answer] of cases) {
    assert.is(answer.status, status);
    assert.is(answer.headers.get("content-type"), "application/json");
    const { jsonrpc, id, error } = await answer.json();
    assert.equal([jsonrpc, id, typeof error.code], ["2.0", null, "number"]);
  }
  assert.equal(node.received, []);
});

rpc("HEAD of a method calls the node, and returns the headers of GET", async () => {
  for (const text of ["1", `"${"x".repeat(1024 * 1024)}"`]) {
    node.forget();
    node.answer = result(text);
    const get = await gateway.ask("/v1/rpc/block?hash=a");
    const head = await gateway.ask("/v1/rpc/block?hash=a", { method: "HEAD" });
    assert.equal([head.status, [...head.headers]], [200, [...get.headers]]);
    assert.is(await head.text(), "");
    assert.is((await get.text()).length, text.length);
    assert.is(sent().length, 2);
    assert.is(sent()[0], sent()[1]);
  }
  const wrong = await gateway.ask("/v1/rpc/block?c=1", { method: "HEAD" });
  assert.is(wrong.status, 400);
  assert.is((await gateway.ask("/v1/rpc/send", { method: "HEAD" })).status, 405);
});

rpc("HTTP methods that /v1/rpc or a path below it does not support get 405", async () => {
  for (const method of ["GET", "PUT", "DELETE", "PATCH", "HEAD"]) {
    assert.is((await gateway.ask("/v1/rpc", { method })).status, 405);
  }
  for (const method of ["PUT", "DELETE", "PATCH"]) {
    assert.is((await gateway.ask("/v1/rpc/number", { method })).status, 405);
  }
  process.env.GATEWAY_TOKEN = TOKEN;
  const settings = {
    clients: [{ name: "app", allow: ["send", "balance"], token_env: "GATEWAY_TOKEN" }],
  };
  const open = forwarding(node.url, RPC, settings);
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.is((await open.ask("/v1/rpc/send?tx=a", { headers })).status, 405);
  assert.is((await open.ask("/v1/rpc/balance", { headers })).status, 405);
  assert.equal(node.received, []);
  assert.is((await open.ask("/v1/rpc/balance", { method: "POST", headers })).status, 200);
});

rpc("the log contains the name of the method, but no id and no parameter", async () => {
  const { rpc, calls } = forwarding(node.url, RPC);
  await rpc([{ id: "visitors", method: "block", params: ["visitors"] }, call("nope")]);
  assert.equal(calls.map(({ operation, status }) => [operation, status]), [["block", 200]]);
  assert.not.match(JSON.stringify(calls), "visitors");
});

rpc.run();
