/**
 * Tests that `read` operations whose effect depends on a parameter only read, in every notation
 * that nodes accept. Deno and Bun try every tenth spelling.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mistakeInExpression } from "../src/regular-expression.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { checkParams, violationOf } from "../src/gateway/check.ts";
import { readParams } from "../src/gateway/params.ts";
import { createNodeface } from "../src/index.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../src/json/values.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { withHomes } from "../src/openapi/home.ts";
import type { NodeOperation } from "../src/openapi/node-operation.ts";
import { SchemaReader } from "../src/openapi/parameter-schema.ts";
import {
  documentOfKind,
  withMarks,
  withMarksOfMethods,
  withMissingPart,
} from "../src/openapi/kind-document.ts";
import { KINDS_WITH_INTERFACE } from "./_kinds.ts";
import { json, nodeOf, type ReceivedRequest, textOf } from "./_gateway.ts";
import { sampleOf } from "./_runtime.ts";

const reads = suite("read operations whose effect depends on a parameter");

const node = nodeOf(reads);

interface Call {
  readonly path: string;
  /** A call with a body is a POST. */
  readonly body?: string;
  readonly method?: string;
}

const served = new Map<string, ReturnType<typeof createNodeface>>();
reads.after(async () => {
  for (const app of served.values()) await app.close();
});

function serve(kind: string) {
  const app = served.get(kind) ?? createNodeface({
    node: { url: node.url, kind },
    forward: "reads",
    log: () => {},
  });
  served.set(kind, app);
  return app;
}

/** A Substrate node lists its methods. */
const METHODS = [
  ...["rpc_methods", "state_call", "state_callAt", "archive_v1_call"],
  ...["system_accountNextIndex", "bitswap_v1_get", "bitswap_v1_getMany"],
];

reads.before.each(() => {
  node.answer = (request, response) => {
    const isRpc = request.method === "POST" && request.url === "/";
    const { method } = isRpc ? JSON.parse(textOf(request)) : {} as { method?: unknown };
    const result = method === "rpc_methods" ? { methods: METHODS } : "0x";
    return json(isRpc ? { jsonrpc: "2.0", id: 1, result } : {})(request, response);
  };
});

async function ask(kind: string, { path, body, method }: Call): Promise<[number, string]> {
  const request = new Request(`http://localhost${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    ...body !== undefined && { body, headers: { "content-type": "application/json" } },
  });
  const response = await serve(kind).fetch(request);
  return [response.status, await response.text()];
}

/** The requests that hold `text`: those of clients, but not the service's own queries. */
const cameWith = (text: string): ReceivedRequest[] =>
  node.received.filter((request) => `${request.url} ${textOf(request)}`.includes(text));

async function assertRefused(kind: string, target: string, call: Call): Promise<void> {
  const [status, text] = await ask(kind, call);
  const about = `${status} ${text.slice(0, 200)}: ${call.path} ${call.body ?? ""}`.slice(0, 500);
  assert.is(cameWith(target).length, 0, about);
  assert.ok(status >= 400 || /"error":\{/.test(text), about);
  assert.not.match(text, /"result":(?!null)/, about);
}

const STATE = "/v1/node/eth/v1/beacon/states/head";
const quoted = (text: string) => JSON.stringify(text);
const hex = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
const percent = (text: string) => hex(text).replaceAll(/../g, "%$&");
const escaped = (text: string) =>
  `"${Array.from(text, (one) => `\\u${hex16(one.charCodeAt(0))}`).join("")}"`;
const hex16 = (code: number) => code.toString(16).padStart(4, "0");

/** Other spellings of a text, each of which some program may take for the text itself. */
const spellings = (text: string): string[] => [
  ...[text, text.toUpperCase(), text.toLowerCase(), `0x${hex(text)}`, `0X${hex(text)}`],
  ...[`${text}.`, `${text}/`, `/${text}`, ` ${text}`, `${text} `, `${text}\0`, `${text}\n`],
  ...[`\n${text}`, `${text}?`, `${text}#`, percent(text), `./${text}`, `//${text}`, `"${text}"`],
  ...[text.replaceAll("/", "\uff0f"), text.replaceAll("_", "\uff3f"), `\ufeff${text}`],
  ...[`${text},${text}`, `[${quoted(text)}]`, text.replace("/", ""), text.replaceAll("/", "//")],
];

/** A JSON-RPC method that has one parameter to check, with values for the parameters around it. */
interface Method {
  readonly method: string;
  readonly name: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly others: Readonly<Record<string, string>>;
}

const envelopeOf = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":${quoted(method)},"params":${params}}`;

/**
 * The calls of a method with the JSON text `value`: by position and by name, alone and in a batch.
 */
function callsOf({ method, name, before, after, others }: Method, value: string): Call[] {
  const named = (key: string) =>
    `{${[
      ...Object.entries(others).map(([key, text]) => `${quoted(key)}:${quoted(text)}`),
      `${key}:${value}`,
    ]}}`;
  const list = `[${[...before.map(quoted), value, ...after.map(quoted)]}]`;
  return [list, named(quoted(name)), named(escaped(name))].flatMap((params) => [
    { path: "/v1/rpc", body: envelopeOf(method, params) },
    { path: "/v1/rpc", body: `[${envelopeOf(method, params)},{"id":2,"method":"none"}]` },
    { path: `/v1/rpc/${method}`, body: params },
  ]);
}

/** The calls that give the parameter twice. */
function callsWithBoth({ method, name }: Method, good: string, bad: string): Call[] {
  return [[good, bad], [bad, good]].flatMap(([first, second]) => {
    const params = `{${quoted(name)}:${quoted(first!)},${escaped(name)}:${quoted(second!)}}`;
    return [
      { path: "/v1/rpc", body: envelopeOf(method, params) },
      { path: `/v1/rpc/${method}`, body: params },
      {
        path: `/v1/rpc/${method}?${new URLSearchParams([[name, first!], [name, second!]])}`,
      },
    ];
  });
}

const ABCI: Method = { method: "abci_query", name: "path", before: [], after: [], others: {} };
const SEND = "/cosmos.tx.v1beta1.Service/BroadcastTx";

/** Paths that send, lead to any other path, or reveal what is private. */
const WRONG_PATHS = [
  ...["/cosmos.base.tendermint.v1beta1.Service/ABCIQuery", "/p2p/filter/addr/192.0.2.1"],
  ...["/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo", "/app/simulate", "/store/bank/x"],
  ...["/store/bank/subspace", "/ethermint.evm.v1.Query/EthCall", "/cosmos.evm.vm.v1.Query/EthCall"],
  ...["/cosmos.auth.v1beta1.Query/Accounts", "/cosmos.bank.v1beta1.Query/DenomOwners"],
  ...["/seiprotocol.seichain.evm.Query/StaticCall", "/cosmos.gov.v1.Query/Votes"],
  ...["/cosmos.bank.v1beta1.Msg/Send", `${SEND}.Query/X`, `/x.Query/Y${SEND}`, "/x.Query/"],
  ...[`/x.Query/..${SEND}`, `/store/..${SEND}/key`, `/custom/x${SEND}?`, "/Query/X", "/a/b"],
];

reads("cosmos: no spelling of a path that sends reaches the node", async () => {
  const assertNone = (call: Call) => assertRefused("cosmos", "abci_query", call);
  for (const path of sampleOf([...WRONG_PATHS, ...spellings(SEND)])) {
    for (const text of [path, quoted(path), escaped(path), `"${path}`]) {
      await assertNone({ path: `/v1/node/abci_query?path=${encodeURIComponent(text)}` });
    }
    await assertNone({ path: `/v1/rpc/abci_query?path=${encodeURIComponent(path)}` });
    for (const call of callsOf(ABCI, quoted(path))) await assertNone(call);
  }
  const wrong = encodeURI(quoted(SEND));
  const right = 'path="/store/bank/key"';
  for (
    const query of [
      ...[`path=${percent(quoted(SEND))}`, `path=${percent(percent(quoted(SEND)))}`],
      ...[`path=${SEND}`, `%70ath=${wrong}`, `Path=${wrong}`, `path[]=${wrong}`],
      ...[`${right}&path=${wrong}`, `path=${wrong}&${right}`, `${right};path=${wrong}`],
    ]
  ) {
    await assertNone({ path: `/v1/node/abci_query?${query}` });
  }
  const texts = [escaped(SEND), `[${quoted(SEND)}]`, `{"path":${quoted(SEND)}}`, "1"];
  for (const call of texts.flatMap((text) => callsOf(ABCI, text))) await assertNone(call);
  for (const call of callsOf({ ...ABCI, name: "PATH" }, quoted(SEND)).slice(3)) {
    await assertNone(call);
  }
  for (const call of callsWithBoth(ABCI, "/store/bank/key", SEND)) await assertNone(call);
});

const QUERIES = [
  ...["/cosmos.bank.v1beta1.Query/Balance", "/cosmwasm.wasm.v1.Query/SmartContractState"],
  ...["/ibc.core.client.v1.Query/ClientState", "/osmosis.poolmanager.v1beta1.Query/SpotPrice"],
  ...["/dydxprotocol.clob.Query/ClobPair", "/celestia.blob.v1.Query/Params", "store/ibc/key"],
  ...["/store/bank/key", "/app/version", "/custom/gov/proposals", ""],
  ...["/custom/vstorage/data/published.agoricNames", "/cosmos.tx.v1beta1.Service/Simulate"],
  ...["/cosmos.tx.v1beta1.Service/GetTx", "/cosmos.auth.v1beta1.Query/AccountInfo"],
  ...["/evmos.erc20.v1.Query/TokenPairs", "/seiprotocol.seichain.evm.Query/SeiAddressByEVMAddress"],
  ...["/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock"],
];

reads("cosmos: queries of an application pass unchanged", async () => {
  for (const path of sampleOf(QUERIES)) {
    node.received = [];
    const query = `path=${encodeURIComponent(quoted(path))}&data=0x0aff&height=7&prove=true`;
    assert.is((await ask("cosmos", { path: `/v1/node/abci_query?${query}` }))[0], 200, path);
    assert.equal(cameWith("abci_query").map(({ url }) => url), [`/abci_query?${query}`]);
    node.received = [];
    const params = `{"path":${quoted(path)},"data":"0aff","height":"7","prove":true}`;
    const body = envelopeOf("abci_query", params);
    assert.match((await ask("cosmos", { path: "/v1/rpc", body }))[1], '"result":"0x"');
    assert.equal(cameWith("abci_query").map(textOf), [body]);
  }
});

reads("cosmos: a search for one transaction or block passes as CosmJS sends it", async () => {
  for (
    const [method, query] of [
      ["tx_search", `tx.hash='${"0A".repeat(32)}'`],
      ["tx_search", "tx.height=5 AND message.sender='a'"],
      ["block_search", "block.height=5"],
    ] as const
  ) {
    node.received = [];
    const params = { query, page: "1", per_page: "100", order_by: "asc" };
    const body = envelopeOf(method, JSON.stringify(params));
    assert.match((await ask("cosmos", { path: "/v1/rpc", body }))[1], '"result":"0x"');
    assert.equal(cameWith(method).map(textOf), [body]);
    // CometBFT takes no bare numbers.
    node.received = [];
    await ask("cosmos", get(`/v1/rpc/${method}?page=2&query=${encodeURIComponent(query)}`));
    assert.match(textOf(node.received[0]!), '"page":"2"');
  }
});

reads("cosmos: the refusal of a path says what the path has to be", async () => {
  const rule = "must be the path of a query, such as /store/bank/key or " +
    "/cosmos.bank.v1beta1.Query/Balance";
  const body = envelopeOf("abci_query", `[${quoted(SEND)}]`);
  const [status, text] = await ask("cosmos", { path: "/v1/rpc", body });
  const { error } = JSON.parse(text);
  assert.equal([status, error.code, error.message], [200, -32602, `The parameter "path" ${rule}`]);
  const path = `/v1/node/abci_query?path=${encodeURIComponent(quoted(SEND))}`;
  const [code, problem] = await ask("cosmos", { path });
  assert.is(code, 400);
  assert.is(
    JSON.parse(problem).detail,
    'The parameter "path" must be the path of a query in double quotes, such as ' +
      '"/store/bank/key" or "/cosmos.bank.v1beta1.Query/Balance"',
  );
});

const GENERATE = "SessionKeys_generate_session_keys";

const WRONG_FUNCTIONS = [
  ...["OffchainWorkerApi_offchain_worker", "BlockBuilder_apply_extrinsic", "Core_execute_block"],
  ...["BlockBuilder_finalize_block", "Core_initialize_block", "TryRuntime_on_runtime_upgrade"],
  ...["Benchmark_dispatch_benchmark", "GenesisBuilder_build_state", "GenesisBuilder_get_preset"],
  ...["BabeApi_submit_report_equivocation_unsigned_extrinsic", "DebugRuntimeApi_trace_block"],
  ...["GrandpaApi_submit_report_equivocation_unsigned_extrinsic", "Unknown_get_x", "XApi_set_x"],
  ...["BeefyApi_submit_report_future_block_voting_unsigned_extrinsic", "get_x", "Core_version_"],
  ...["ParachainHost_submit_pvf_check_statement", "ParachainHost_submit_report_dispute_lost"],
  ...["ContractsApi_call", "ContractsApi_instantiate", "DryRunApi_dry_run_call"],
  ...["EthereumRuntimeRPCApi_call", "EthereumRuntimeRPCApi_create", "ReviveApi_eth_transact"],
  ...["EthereumRuntimeRPCApi_pending_block", "ReviveApi_call", "ReviveApi_instantiate"],
  ...["ReviveApi_trace_block", `Core_version\0${GENERATE}`, `Core_version,${GENERATE}`],
];

const HASH = `0x${"ab".repeat(32)}`;

const RUNTIME_CALLS: readonly Method[] = [
  { method: "state_call", name: "method", before: [], after: ["0x"], others: { data: "0x" } },
  {
    method: "archive_v1_call",
    name: "function",
    before: [HASH],
    after: ["0x"],
    others: { hash: HASH, parameters: "0x" },
  },
];

for (const runtimeCall of RUNTIME_CALLS) {
  const { method, name, others, before } = runtimeCall;
  reads(`substrate: ${method} calls no function that may write or work for long`, async () => {
    const assertNone = (call: Call) => assertRefused("substrate", `"${method}"`, call);
    for (const wrong of sampleOf([...WRONG_FUNCTIONS, ...spellings(GENERATE)])) {
      for (const call of callsOf(runtimeCall, quoted(wrong))) await assertNone(call);
      const query = new URLSearchParams({ ...others, [name]: wrong });
      await assertNone({ path: `/v1/rpc/${method}?${query}` });
    }
    const texts = [escaped(GENERATE), `[${quoted(GENERATE)}]`, "null", "1"];
    for (const call of texts.flatMap((text) => callsOf(runtimeCall, text))) await assertNone(call);
    for (const call of callsWithBoth(runtimeCall, "Core_version", GENERATE)) await assertNone(call);
  });

  reads(`substrate: ${method} passes functions that read, unchanged`, async () => {
    for (
      const one of sampleOf([
        ...["Core_version", "Metadata_metadata_at_version", "AccountNonceApi_account_nonce"],
        "RuntimeViewFunction_execute_view_function",
        ...["TransactionPaymentApi_query_info", "NominationPoolsApi_pending_rewards"],
        ...["GrandpaApi_grandpa_authorities", "BabeApi_configuration", "AuraApi_slot_duration"],
        ...["ParachainHost_validators", "ParachainHost_session_info", "ReviveApi_balance"],
        ...["EthereumRuntimeRPCApi_chain_id", "NeuronInfoRuntimeApi_get_neurons_lite"],
        ...["ContractsApi_get_storage", "XcmPaymentApi_query_xcm_weight"],
      ])
    ) {
      node.received = [];
      const params = JSON.stringify([...before, one, `0x${"00".repeat(9000)}`]);
      const body = envelopeOf(method, params);
      const [, text] = await ask("substrate", { path: "/v1/rpc", body });
      assert.is(text, '{"jsonrpc":"2.0","result":"0x","id":1}', one);
      assert.equal(cameWith(`"${method}"`).map(textOf), [body]);
    }
  });
}

reads("substrate: an alias of state_call is not a read", async () => {
  const body = envelopeOf("state_callAt", '["Core_version","0x"]');
  await assertRefused("substrate", "state_callAt", { path: "/v1/rpc", body });
});

const SUBSCRIPTIONS = [
  ...["subs=1", "subs=true", "subs", "%73ubs=1", "SUBS=1", "subs=0&subs=1", "offset=0&subs=1"],
  ...["acc=$SYS", "test=a", "callback=x", "limit=1", "a=1;subs=1", "&&subs=1"],
];

/** Queries of kubo's `cat`. */
const CAT = "/v1/node/api/v0/cat";
const NOT_OFFLINE = [
  ...[
    "arg=bafy&offline=false",
    "offline=false&arg=bafy",
    "arg=bafy&offline=true&offline=false",
    "offline=true",
  ],
  ...["arg=bafy&Offline=true", "arg=bafy&offline=1", "arg=bafy&offline=", "arg=bafy&offline"],
  ...["arg=/ipns/a.example&offline=true", "arg=%2Fipns%2Fa.example&offline=true"],
  ...["arg=/IPNS/a.example&offline=true", "%61rg=/ipns/a.example&offline=true"],
  ...["arg=bafy&arg=/ipns/a.example&offline=true", "arg=/ipfs/../ipns/a.example&offline=true"],
  ...["arg=/ipfs/bafy/a&offline=true", "arg=bafy%2Fa&offline=true", "arg=a;b=c&offline=true"],
];

const STATUSES = [
  ...["429", "503", "199", "300", "4.29e2", "429.0", "0x1ad", "+429", "206&syncing_status=503"],
];
const BINARY = [
  ...["", ',"binary":true', ',"binary":1', ',"binary":"false"', ',"binary":null'],
  ...[',"binary":false,"binary":true', ',"Binary":false', ',"binary":false,"BINARY":true'],
];

const get = (path: string): Call => ({ path });
const post = (path: string, body?: string): Call => ({ path, method: "POST", ...body && { body } });
const rpc = (method: string, params: string): Call => ({
  path: "/v1/rpc",
  body: envelopeOf(method, params),
});

/** Nodes convert base58 in a time that grows with the square of the length. */
const LONG = "z".repeat(2000);

/** The refused calls by kind and by a text that would reach the node. */
const TX_IDS = Array.from({ length: 9 }, (_, i) => String(i).repeat(64));
const TX_SEARCHES = [
  ...["tx.height>0", "tx.height>=5", "message.action='send'", "tx.hash='00'", "tx.height EXISTS"],
  ...["tx.height=5 OR tx.height>0", "tx.height>0 AND message.action='send'", "", "tx.height=5'"],
  ...["tx.hash CONTAINS '0'", "a.tx.height=5", "tx.height=5 AND tx.height>0", "tx.height=00"],
  ...["tx.height=0 AND tx.height=5", "message.sender='a' AND tx.height=5", "tx.height='0'"],
  ...["tx.height=5 AND a.b='c\\u0027 AND tx.height>0 AND a.b=\\u0027d'", "tx.acc_seq='cosmos1a'"],
  "tx.acc_seq='cosmos1a/5' AND message.action='send'",
];

const REFUSED: Readonly<Record<string, Readonly<Record<string, readonly Call[]>>>> = {
  nats: {
    "/subscriptionsz": [
      ...SUBSCRIPTIONS.map((query) => get(`/v1/node/subscriptionsz?${query}`)),
      ...SUBSCRIPTIONS.map((query) => get(`/v1/node/subscriptionsz/?${query}`)),
      post("/v1/node/subscriptionsz", "subs=1"),
    ],
    "/subsz": [get("/v1/node/subsz?subs=1"), get("/v1/node/subsz")],
    "/healthz?": [
      ...["callback=x", "acc=x", "account=A", "account=A&stream=S", "details=true"],
      ...["account=A&stream=S&consumer=C", "Account=A", "%61ccount=A", "js-meta-only=1;account=A"],
    ].map((query) => get(`/v1/node/healthz?${query}`)),
  },
  ethereum: Object.fromEntries(
    ["eth_getFilterLogs", "eth_getFilterChanges", "eth_uninstallFilter"].map((method) => [method, [
      rpc(method, '["0x1"]'),
      post(`/v1/rpc/${method}`, '["0x1"]'),
      get(`/v1/rpc/${method}?filterId=0x1`),
    ]]),
  ),
  handshake: {
    getdnssecproof: [
      rpc("getdnssecproof", '["example.com"]'),
      get("/v1/rpc/getdnssecproof?domain=example.com"),
    ],
  },
  kubo: {
    "/stats/bw": [
      ...[
        "poll=true",
        "interval=1s&poll=true",
        "peer=12D3",
        "arg=x",
        "POLL=1",
        "%70oll=1",
        "proto=a",
        "proto=a&poll=1",
      ]
        .map((query) => post(`/v1/node/api/v0/stats/bw?${query}`)),
      post("/v1/node/api/v0/stats/bw", "poll=true"),
    ],
    ...Object.fromEntries(
      ["format", "base32", "inspect"].map((name) => [`/cid/${name}`, [
        post(`/v1/node/api/v0/cid/${name}?arg=bafy`, LONG),
        post(`/v1/node/api/v0/cid/${name}`, LONG),
      ]]),
    ),
    "/multibase/": ["encode", "decode", "transcode"]
      .map((name) => post(`/v1/node/api/v0/multibase/${name}?b=base58btc`, LONG)),
    "/cat": [
      ...NOT_OFFLINE.map((query) => post(`${CAT}?${query}`)),
      post(`${CAT}?arg=bafy&offline=true`, "arg=/ipns/a.example"),
    ],
  },
  beacon: {
    "/validators": [
      get(`${STATE}/validators`),
      get(`${STATE}/validators?status=active`),
      ...["id=,", "id=%20", "id=%2C&id=,,", "id=%C2%85"]
        .map((query) => get(`${STATE}/validators?${query}`)),
      ...["{}", '{"ids":[]}', '{"ids":null}', "[]"]
        .map((body) => ({ path: `${STATE}/validators`, body })),
    ],
    "/validator_balances": [
      get(`${STATE}/validator_balances`),
      { path: `${STATE}/validator_balances`, body: "[]" },
    ],
    "/validator_identities": [{ path: `${STATE}/validator_identities`, body: "[]" }],
    "/rewards/attestations/": [
      { path: "/v1/node/eth/v1/beacon/rewards/attestations/1", body: "[]" },
    ],
    "/health?": STATUSES.map((status) =>
      get(`/v1/node/eth/v1/node/health?syncing_status=${status}`)
    ),
  },
  algorand: { "/teal/compile": [post("/v1/node/v2/teal/compile", "#define a b b")] },
  bitcoin: {
    gettxoutproof: [JSON.stringify([TX_IDS]), JSON.stringify({ txids: TX_IDS })]
      .map((params) => rpc("gettxoutproof", params)),
    ...Object.fromEntries(
      ["validateaddress", "verifymessage"].map((method) => [method, [
        rpc(method, JSON.stringify([LONG, "", ""].slice(0, method === "verifymessage" ? 3 : 1))),
        rpc(method, `{"address":"${LONG}"}`),
        rpc(method, `{"args":["${LONG}"]}`),
      ]]),
    ),
  },
  bcoin: { verifyblock: [rpc("verifyblock", '["00"]')] },
  cosmos: {
    block_search: [
      "block.height>5",
      "a.b='c'",
      "block.height=5 OR block.height>0",
      "block.height=0",
    ]
      .concat("block.height=5 AND block.height>0", "block.height EXISTS", "")
      .flatMap((query) => [
        rpc("block_search", JSON.stringify({ query })),
        get(`/v1/node/block_search?query=${encodeURIComponent(quoted(query))}`),
      ]),
    tx_search: TX_SEARCHES.flatMap((query) => [
      rpc("tx_search", JSON.stringify({ query })),
      get(`/v1/node/tx_search?query=${encodeURIComponent(quoted(query))}`),
      get(`/v1/node/tx_search?query=${encodeURIComponent(query)}`),
    ]),
  },
  substrate: {
    system_accountNextIndex: [`["${LONG}"]`, `["${LONG}",1]`, '["5G 5"]', "[[5]]"]
      .map((params) => rpc("system_accountNextIndex", params)),
    bitswap_v1_get: [rpc("bitswap_v1_get", `["${LONG}"]`)],
    bitswap_v1_getMany: [rpc("bitswap_v1_getMany", `[["bafy","${LONG}"]]`)],
  },
  ergo: {
    ...Object.fromEntries(
      [
        ...["/utils/address", "/blockchain/balance", "/blockchain/transaction/byAddress"],
        ...["/blockchain/box/byAddress", "/blockchain/box/unspent/byAddress"],
      ].map((path) => [path, [
        { path: `/v1/node${path}`, body: JSON.stringify("9".repeat(6001)) },
        { path: `/v1/node${path}`, body: "9".repeat(6001) },
      ]]),
    ),
    "/ergoTreeToAddress": [
      { path: "/v1/node/utils/ergoTreeToAddress", body: `"08${"ff".repeat(4096)}"` },
    ],
    "/nipopow/": ["1/1000e-1", "1/1001", "101/1", "1/2147483647", "1/1e9", "%31/9999", "1/0", "x/1"]
      .flatMap((path) => [`${path}`, `${path}/${"00".repeat(32)}`])
      .map((path) => get(`/v1/node/nipopow/proof/${path}`)),
    "/blocks/lastHeaders/": ["1001", "2000000", "1e9", "1000000e-3", "0", "x"]
      .map((count) => get(`/v1/node/blocks/lastHeaders/${count}`)),
    "/poolHistogram": [
      "bins=1001",
      "bins=2147483647",
      "bins=10&bins=2000",
      "bins=1e9",
      "bins=90000e-3",
    ]
      .map((query) => get(`/v1/node/transactions/poolHistogram?${query}`)),
  },
  monero: {
    "/get_outs": [
      {
        path: "/v1/node/get_outs",
        body: `{"outputs":[${Array(5001).fill('{"amount":0,"index":1}').join(",")}]}`,
      },
      { path: "/v1/node/get_outs", body: '{"outputs":[{}]}' },
    ],
    "/is_key_image_spent": [{
      path: "/v1/node/is_key_image_spent",
      body: `{"key_images":[${Array(5001).fill(`"${"00".repeat(32)}"`).join(",")}]}`,
    }],
    get_output_histogram: ['{"amounts":[0],"recent_cutoff":1}', '{"amounts":[]}', "{}"]
      .map((params) => rpc("get_output_histogram", params)),
    get_block_headers_range: [
      rpc("get_block_headers_range", '{"start_height":0,"end_height":3000000}'),
    ],
    transactions: [[100, "get_"], [0, "get_"], [100, "get"]].map(([more, prefix]) => {
      const hashes = Array(1 + Number(more)).fill("00".repeat(32));
      const twice = `"txs_hashes":${JSON.stringify(hashes)}${more ? "" : ',"Txs_hashes":[]'}`;
      return { path: `/v1/node/${prefix}transactions`, body: `{${twice}}` };
    }),
    '"amounts":[0,0]': [rpc("get_output_distribution", '{"amounts":[0,0],"binary":false}')],
    get_output_distribution: BINARY.map((more) =>
      rpc("get_output_distribution", `{"amounts":[0]${more}}`)
    ),
  },
};

for (const [kind, rows] of Object.entries(REFUSED)) {
  reads(`${kind}: parameters that make a read more than a read are refused`, async () => {
    for (const [target, calls] of Object.entries(rows)) {
      for (const call of calls) await assertRefused(kind, target, call);
    }
  });
}

const PASSED: readonly (readonly [kind: string, call: Call, sent: string])[] = [
  ["nats", get("/v1/node/subscriptionsz"), "/subscriptionsz"],
  ["nats", get("/v1/node/healthz"), "/healthz?js-server-only=true"],
  [
    "nats",
    get("/v1/node/healthz?js-enabled-only=true"),
    "/healthz?js-enabled-only=true&js-server-only=true",
  ],
  ["kubo", post(`${CAT}?arg=bafy&offline=true`), "/api/v0/cat?arg=bafy&offline=true"],
  ["kubo", post(`${CAT}?arg=bafy`), "/api/v0/cat?arg=bafy&offline=true"],
  ["kubo", post("/v1/node/api/v0/stats/bw?interval=1s"), "/api/v0/stats/bw?interval=1s"],
  [
    "beacon",
    get(`${STATE}/validators?id=1&status=active,pending`),
    "?id=1&status=active,pending",
  ],
  ["beacon", get(`${STATE}/validators?id=1,2%2C3&id=4`), "?id=1,2,3&id=4"],
  [
    "beacon",
    { path: `${STATE}/validators`, body: '{"ids":["1"],"statuses":null}' },
    "/states/head/validators",
  ],
  ["beacon", { path: `${STATE}/validator_identities`, body: '["1"]' }, "/validator_identities"],
  [
    "cosmos",
    get(`/v1/node/block_search?query=${encodeURIComponent('"block.height = 5"')}`),
    `/block_search?query=${encodeURIComponent('"block.height = 5"')}`,
  ],
  ["beacon", get("/v1/node/eth/v1/node/health?syncing_status=299"), "/health?syncing_status=299"],
  ["beacon", get("/v1/node/eth/v1/node/health"), "/eth/v1/node/health"],
  ["kubo", post("/v1/node/api/v0/cid/format?arg=bafy&arg=bafz&v=1"), "?arg=bafy&arg=bafz&v=1"],
  ["ergo", get("/v1/node/transactions/poolHistogram?bins=1000"), "/poolHistogram?bins=1000"],
  [
    "kubo",
    post(`${CAT}?arg=bafy&encoding=json&stream-channels=true&timeout=60s`),
    "/api/v0/cat?arg=bafy&encoding=json&stream-channels=true&timeout=60s&offline=true",
  ],
  ["ergo", get("/v1/node/blocks/lastHeaders/1000"), "/blocks/lastHeaders/1000"],
  ...[`tx.hash='${"0A".repeat(32)}'`, "tx.height=5", "tx.height = '5' AND message.action = '/a.B'"]
    .concat("tx.acc_seq='cosmos1abc/5'", `tx.signature='${"aB+/".repeat(21)}aB=='`)
    .flatMap((query): (readonly [string, Call, string])[] => {
      const sent = `/tx_search?query=${encodeURIComponent(quoted(query))}&per_page=100`;
      return [["cosmos", get(`/v1/node${sent}`), sent]];
    }),
  ["ergo", get("/v1/node/nipopow/proof/10/100"), "/nipopow/proof/10/100"],
  [
    "monero",
    {
      path: "/v1/node/is_key_image_spent",
      body: `{"client":"a","key_images":["${"00".repeat(32)}"]}`,
    },
    "/is_key_image_spent",
  ],
  [
    "monero",
    { path: "/v1/node/get_outs", body: '{"client":"a","outputs":[{"amount":0,"index":1}]}' },
    "/get_outs",
  ],
  [
    "monero",
    { path: "/v1/node/get_transactions", body: `{"txs_hashes":["${"00".repeat(32)}"]}` },
    "/get_transactions",
  ],
  [
    "ergo",
    { path: "/v1/node/utils/ergoTreeToAddress", body: `"${"ff".repeat(4096)}"` },
    "/utils/ergoTreeToAddress",
  ],
  ["ergo", { path: "/v1/node/blockchain/balance", body: `"${"9".repeat(6000)}"` }, "/balance"],
];

for (const [kind, call, sent] of PASSED) {
  reads(`${kind}: ${sent} passes`, async () => {
    assert.is((await ask(kind, call))[0], 200);
    assert.ok(node.received.some(({ url }) => url.endsWith(sent)));
  });
}

/** Every operation that is checked, by kind. Streams are never called. */
async function checkedOperations(): Promise<Map<string, readonly NodeOperation[]>> {
  const found = new Map<string, readonly NodeOperation[]>();
  for (const kind of KINDS_WITH_INTERFACE) {
    const document = await documentOfKind(await loadInterface(kind), { title: kind });
    const checked = (await listNodeOperations(await withHomes(document), "kind")).filter((one) =>
      one.isChecked
    );
    if (checked.length > 0) found.set(kind, checked);
  }
  return found;
}

for (
  const [schema, value, rule] of [
    [false, 1, "is not allowed"],
    [{ properties: { a: false } }, { a: 1 }, "is not allowed"],
    [{ items: false }, [1], "is not allowed"],
    [{ allOf: [false] }, 1, "is not allowed"],
    [{ anyOf: [false] }, 1, "must match one of the alternatives in the description"],
    [{ const: 1, enum: [2] }, 1, "must be one of "],
    [{ anyOf: [{}], oneOf: [{}] }, 1, 'its schema has "oneOf beside anyOf"'],
    [{ items: [{}] }, [1], 'its schema has "a list of items"'],
    [{ minimum: 1, exclusiveMinimum: true }, 1, 'its schema has "exclusiveMinimum"'],
    [{ dependencies: {} }, 1, 'its schema has "dependencies"'],
  ] as const
) {
  reads(`no value matches ${JSON.stringify(schema)} that it might not match`, () => {
    assert.match(violationOf(schema, value)?.rule ?? "it passes", rule);
  });
}

reads("x-excludes beside a reference counts", () => {
  const document = { components: { schemas: { Path: { type: "string" } } } };
  const schema = new SchemaReader(document)
    .read({ $ref: "#/components/schemas/Path", "x-excludes": ["ipns/*.*"] });
  assert.ok(violationOf(schema, "ipns/a.example"));
  assert.is(violationOf(schema, "bafy"), undefined);
});

reads("kubo: every operation that is checked stays offline and out of DNS", async () => {
  const operations = (await checkedOperations()).get("kubo")!
    .filter(({ isStreaming, path }) => !isStreaming && !/\/stats\/bw$|\/cid\//.test(path));
  assert.is(operations.length, 10);
  for (const { path } of operations) {
    const at = `/v1/node${path}`;
    for (const query of NOT_OFFLINE) await assertRefused("kubo", path, post(`${at}?${query}`));
    await assertRefused("kubo", path, post(`${at}?arg=bafy`, "arg=/ipns/a.example"));
    node.received = [];
    assert.is((await ask("kubo", post(`${at}?arg=bafy`)))[0], 200, path);
    assert.equal(cameWith(path).map(({ url }) => url), [`${path}?arg=bafy&offline=true`]);
  }
});

reads("near: looking for a transaction's status sends nothing but this", async () => {
  for (const method of ["tx", "EXPERIMENTAL_tx_status"]) {
    node.received = [];
    const call = rpc(method, '{"signed_tx_base64":"AA==","wait_until":"FINAL"}');
    await ask("near", call);
    assert.equal(cameWith("signed_tx_base64").map(textOf), [call.body]);
  }
});

reads("bitcoin: no spelling of a verbosity makes getblock lighter", async () => {
  const document = await documentOfKind(await loadInterface("bitcoin"), { title: "" });
  const operations = await listNodeOperations(await withHomes(document), "kind");
  const getblock = operations.find(({ name }) => name === "getblock")!;
  const isHeavy = async (params: string) => (await readParams(getblock, params)).isHeavy;
  const hash = `"${"00".repeat(32)}"`;
  for (
    const text of [
      "2",
      '"2"',
      "2.0",
      "20e-1",
      "3",
      '"3"',
      "3.0",
      "30e-1",
      "1e1",
      '"three"',
      "[3]",
      '{"a":3}',
      "4",
    ]
  ) {
    assert.ok(await isHeavy(`[${hash},${text}]`), text);
    assert.ok(await isHeavy(`{"blockhash":${hash},"verbosity":${text}}`), text);
  }
  const named = [
    '"verbose":2',
    `"args":[${hash},3]`,
    '"Verbosity":3',
    '"verbosity":1,"verbosity":3',
  ];
  for (const more of named) assert.ok(await isHeavy(`{"blockhash":${hash},${more}}`), more);
  for (const text of ["0", "1", "null", "true", "false"]) {
    assert.not.ok(await isHeavy(`[${hash},${text}]`), text);
  }
  assert.not.ok(await isHeavy(`[${hash}]`) || await isHeavy(`{"blockhash":${hash}}`));
});

reads("monero: a block or header with its proof of work is heavy", async () => {
  const document = await documentOfKind(await loadInterface("monero"), { title: "" });
  const operations = await listNodeOperations(await withHomes(document), "kind");
  const names = ["get_last_block_header", "get_block_header_by_height", "get_block"];
  for (const method of names.flatMap((name) => [name, name.replaceAll("_", "")])) {
    const operation = operations.find(({ name }) => name === method)!;
    const isHeavy = async (params: string) => (await readParams(operation, params)).isHeavy;
    for (const value of ["true", "1", '"true"', "[]"]) {
      assert.ok(await isHeavy(`{"fill_pow_hash":${value}}`), `${method} ${value}`);
    }
    assert.ok(await isHeavy('{"Fill_pow_hash":true}'), method);
    for (const more of ["", '"fill_pow_hash":false', '"fill_pow_hash":null']) {
      assert.not.ok(await isHeavy(`{${more}}`), `${method} ${more}`);
    }
  }
});

interface Evaluated {
  readonly kind: string;
  readonly name: string;
  readonly pattern: string;
}

const patternsIn = ({ pattern, items, anyOf, properties }: JsonObject): string[] => [
  ...typeof pattern === "string" ? [pattern] : [],
  ...[items, ...listOf(anyOf), ...Object.values(objectOf(properties))].filter(isObject)
    .flatMap(patternsIn),
];

async function evaluatedPatterns(): Promise<Evaluated[]> {
  const found: Evaluated[] = [];
  for (const kind of KINDS_WITH_INTERFACE) {
    const document = await documentOfKind(await loadInterface(kind), { title: kind });
    for (
      const { name, parameters = [], body } of await listNodeOperations(
        await withHomes(document),
        "kind",
      )
    ) {
      const schemas = [
        ...parameters.map(({ schema = {} }) => schema),
        ...Object.values(body?.schemas ?? {}),
      ];
      for (const pattern of schemas.map(objectOf).flatMap(patternsIn)) {
        found.push({ kind, name, pattern });
      }
    }
  }
  return found;
}

reads("every pattern that is evaluated is anchored and valid", async () => {
  const patterns = await evaluatedPatterns();
  assert.ok(patterns.length > 0);
  for (const { kind, name, pattern } of patterns) {
    assert.match(pattern, /^\^[^|]*(?:\([^]*\)[^|]*)*\$$/, `${kind} ${name}`);
    assert.is(mistakeInExpression(pattern), undefined, `${kind} ${name}`);
  }
});

reads("other requests are served while a long list is checked", async () => {
  const items = { type: "string", pattern: "^[a-z]{1,200}$" };
  const parameter = { in: "body", isRequired: true, schema: { type: "array", items } } as const;
  let turns = 0;
  const timer = setInterval(() => turns++);
  await checkParams([{ ...parameter, name: "list" }], [JSON.stringify(Array(50_000).fill("a"))]);
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
});

reads("only patterns of operations marked x-checked are evaluated", async () => {
  const names = new Set((await evaluatedPatterns()).map(({ kind, name }) => `${kind} ${name}`));
  assert.equal([...names].sort(), [
    "beacon GET /eth/v1/beacon/states/{state_id}/validators",
    "beacon POST /eth/v1/beacon/rewards/attestations/{epoch}",
    ...["bitcoin gettxoutproof", "bitcoin gettxspendingprevout"],
    ...["cosmos GET /abci_query", "cosmos GET /block_search", "cosmos GET /tx_search"],
    ...["cosmos abci_query", "cosmos block_search", "cosmos tx_search"],
    "ergo GET /blockchain/box/byTokenId/{tokenId}",
    "ergo GET /nipopow/proof/{minChainLength}/{suffixLength}/{headerId}",
    "ergo POST /blockchain/block/byHeaderIds",
    ...["ethereum eth_feeHistory", "ethereum eth_getProof"],
    ...["block/get", "block/stat", "cat", "dag/export", "dag/get", "dag/resolve", "get", "ls"]
      .concat("refs", "resolve").map((name) => `kubo POST /api/v0/${name}`),
    ...["monero POST /get_transactions", "monero POST /gettransactions"],
    "monero POST /is_key_image_spent",
    ...["monero get_block_header_by_hash", "monero getblockheaderbyhash"],
    "substrate account_nextIndex",
    ...["archive_v1_call", "bitswap_v1_get", "bitswap_v1_getMany", "chainHead_v1_call"]
      .concat(
        "chain_getBlockHash",
        "chain_getHead",
        "childstate_getKeysPaged",
        "childstate_getStorageEntries",
      )
      .concat("state_call", "state_getChildReadProof", "state_getReadProof")
      .concat("state_queryStorageAt", "state_subscribeStorage", "system_accountNextIndex")
      .map((name) => `substrate ${name}`),
  ]);
});

const STATE_CALL = "/v1/rpc/state_call";

reads("a node's own description neither uses x-checked nor replaces the parameters", async () => {
  const about = { title: "" };
  const { openapi } = await loadInterface("cosmos");
  const item = { get: { "x-access": "read", "x-checked": true } };
  const own = { servers: [{ url: "./v1/node" }], paths: { "/abci_query": item, "/other": item } };
  assert.equal((await withMarks(own, await documentOfKind({ openapi: openapi! }, about))).paths, {
    "/abci_query": { get: { "x-cost": "heavy", "x-common": true } },
    "/other": { get: {} },
  });
  const { openrpc } = await loadInterface("substrate");
  const mine = { name: "state_call", params: [{ name: "f", schema: { pattern: "(a+)+" } }] };
  const other = { name: "other", "x-access": "read", "x-checked": true };
  const methods = [{ ...mine, "x-access": "read", "x-checked": true }, other];
  const kind = await documentOfKind({ openrpc: openrpc! }, about);
  const marked = withMarksOfMethods({ methods }, kind);
  assert.equal(marked, { openrpc: { methods: [{ name: "other" }] }, ofKind: [STATE_CALL] });
  const theirs = { paths: { "/v1/rpc/other": { post: {} } } };
  const { paths } = await withMissingPart(theirs, kind, marked.ofKind) as typeof theirs;
  assert.equal(Object.keys(paths), ["/v1/rpc/other", STATE_CALL]);
  const document = await withMissingPart(theirs, kind, [STATE_CALL]);
  const operations = await listNodeOperations(await withHomes(document), "network");
  const stateCall = operations.find(({ name }) => name === "state_call")!;
  assert.equal([stateCall.access, stateCall.isChecked], ["read", true]);
});

reads("if a node describes its methods only, the kind's paths keep their patterns", async () => {
  const { openapi } = await loadInterface("cosmos");
  const kind = await documentOfKind({ openapi: openapi! }, { title: "" });
  const own = { paths: {}, components: { schemas: { QueryPath: {} } } };
  const document = await withHomes(await withMissingPart(own, kind));
  const operations = await listNodeOperations(document, "network");
  const abciQuery = operations.find(({ operationId }) => operationId === "abci_query")!;
  const schema = abciQuery.parameters!.find(({ name }) => name === "path")!.schema!;
  assert.match(violationOf(schema, quoted(SEND))!.rule, "must be the path of a query");
  assert.is(violationOf(schema, '"/store/bank/key"'), undefined);
});

reads("a text of more than 1000 characters matches no pattern", () => {
  const rule = { pattern: "^a*$" };
  assert.is(violationOf(rule, "a".repeat(1000)), undefined);
  assert.is(violationOf(rule, "a".repeat(1001))!.rule, "must be a text that matches ^a*$");
  assert.ok(violationOf({ pattern: "^(" }, "("), "a pattern that is no regular expression");
});

reads.run();
