/**
 * Nodes whose software cannot be installed here: Aptos, algod and Kubo. They answer in the form of
 * these nodes, and record what they were asked.
 */
import {
  json,
  type PlayedAnswer,
  type PlayedNode,
  playNode,
  type ReceivedRequest,
} from "../_gateway.ts";

type Answers = Readonly<Record<string, PlayedAnswer>>;

const LEDGER = {
  chain_id: 4,
  epoch: "2",
  ledger_version: "152087593",
  oldest_ledger_version: "0",
  ledger_timestamp: "1685696086534090",
  node_role: "full_node",
  oldest_block_height: "0",
  block_height: "58851650",
  git_hash: "6568c5ee6a58b4f96c0780d4f66d7e573e61c418",
};

const APTOS_FIELDS = {
  "x-aptos-chain-id": "4",
  "x-aptos-ledger-version": "152087593",
  "x-aptos-ledger-timestampusec": "1685696086534090",
  "x-aptos-epoch": "2",
  "x-aptos-block-height": "58851650",
  "x-aptos-gas-used": "2",
};

const aptosAnswer = (content: unknown, status = 200, more = {}) =>
  json(content, status, { ...APTOS_FIELDS, ...more });

const TRANSACTION = {
  type: "user_transaction",
  version: "7",
  hash: `0x${"ab".repeat(32)}`,
  success: true,
  vm_status: "Executed successfully",
  gas_used: "9",
  max_gas_amount: "200",
  gas_unit_price: "100",
};
const BLOCK = {
  block_height: "7",
  block_hash: `0x${"cd".repeat(32)}`,
  first_version: "7",
  last_version: "9",
  transactions: null,
};
const MODULE = {
  bytecode: "0xa11c",
  abi: {
    address: "0x1",
    name: "coin",
    friends: [],
    exposed_functions: [
      {
        name: "transfer",
        visibility: "public",
        is_entry: true,
        is_view: false,
        generic_type_params: [],
        params: ["&signer", "address", "u64"],
        return: [],
      },
      {
        name: "get",
        visibility: "public",
        is_entry: false,
        is_view: true,
        generic_type_params: [],
        params: [],
        return: ["u8"],
      },
    ],
    structs: [],
  },
};
const NOT_THERE = {
  message: "Account not found by Address(0x404) and Ledger version(152087593)",
  error_code: "account_not_found",
  vm_error_code: null,
};

const APTOS: Answers = {
  "GET /v1": aptosAnswer(LEDGER),
  "GET /v1/estimate_gas_price": aptosAnswer({ gas_estimate: 100 }),
  "GET /v1/accounts/*404": aptosAnswer(NOT_THERE, 404),
  "GET /v1/accounts/*/balance/*": aptosAnswer("18446744073709551615"),
  "GET /v1/accounts/*/resources": aptosAnswer(
    [{ type: "0x1::account::Account", data: { sequence_number: "5" } }],
  ),
  "GET /v1/accounts/*/resource/*": aptosAnswer({
    type: "0x1::account::Account",
    data: { sequence_number: "5", large: "340282366920938463463374607431768211455" },
  }),
  "GET /v1/accounts/*/modules": aptosAnswer([MODULE]),
  "GET /v1/accounts/*/module/*": aptosAnswer(MODULE),
  "GET /v1/accounts/*/transactions": aptosAnswer([TRANSACTION]),
  "GET /v1/accounts/*": aptosAnswer({ sequence_number: "5", authentication_key: "0x01" }),
  "GET /v1/blocks/*": aptosAnswer(BLOCK),
  "GET /v1/transactions/*": aptosAnswer(TRANSACTION),
  "GET /v1/transactions": aptosAnswer([TRANSACTION]),
  "POST /v1/transactions/simulate": aptosAnswer([TRANSACTION]),
  "POST /v1/view": aptosAnswer([4]),
  "POST /v1/tables/*": aptosAnswer("42"),
};

/** `{ "top-transactions": [], "total-transactions": 0 }` as MessagePack. */
const NONE_PENDING = Buffer.concat([
  ...[Buffer.from([0x82, 0xb0]), Buffer.from("top-transactions"), Buffer.from([0x90, 0xb2])],
  ...[Buffer.from("total-transactions"), Buffer.from([0])],
]);

const NODE_STATUS = {
  "catchpoint-acquired-blocks": 0,
  "catchup-time": 0,
  "last-round": 7,
  "last-version": "future",
  "next-version": "future",
  "next-version-round": 8,
  "next-version-supported": true,
  "stopped-at-unsupported-round": false,
  "time-since-last-round": 1,
};

const ALGORAND: Answers = {
  "GET /v2/status": json(NODE_STATUS),
  "GET /health": json("null"),
  "GET /versions": json({
    build: {
      branch: "rel",
      build_number: 1,
      channel: "stable",
      commit_hash: "ab",
      major: 4,
      minor: 0,
    },
    genesis_hash_b64: "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=",
    genesis_id: "testnet-v1.0",
    versions: ["v1", "v2"],
  }),
  "GET /genesis": json({ alloc: [], fees: "A", id: "v1.0", network: "testnet" }),
  "GET /v2/accounts/*": json({
    address: `${"A".repeat(52)}Y5HFKQ`,
    amount: 9007199254740991,
    "amount-without-pending-rewards": 1,
    "min-balance": 100000,
    "pending-rewards": 0,
    rewards: 0,
    round: 7,
    status: "Offline",
    "total-apps-opted-in": 0,
    "total-assets-opted-in": 0,
    "total-created-apps": 0,
    "total-created-assets": 0,
  }),
  "GET /v2/applications/404": json({ message: "application does not exist" }, 404),
  "GET /v2/applications/*/boxes": json({ boxes: [{ name: "AAH/" }], round: 7 }),
  "GET /v2/applications/*/box": json({ name: "AAH/", round: 7, value: "AQ==" }),
  "GET /v2/applications/*": json({
    id: 7,
    params: {
      "approval-program": "CoEB",
      "clear-state-program": "CoEB",
      creator: `${"A".repeat(52)}Y5HFKQ`,
    },
  }),
  "GET /v2/assets/*": json({
    index: 7,
    params: { creator: `${"A".repeat(52)}Y5HFKQ`, decimals: 0, total: 9007199254740991 },
  }),
  "GET /v2/blocks/*/hash": json({ blockHash: "ABC" }),
  "GET /v2/blocks/*/lightheader/proof": json({ index: 0, proof: "", treedepth: 0 }),
  "GET /v2/stateproofs/*": json({ message: "failed to find a proof" }, 404),
  "GET /v2/ledger/supply": json({ current_round: 7, "online-money": 1, "total-money": 2 }),
  "GET /v2/ledger/sync": json({ round: 7 }),
  "GET /v2/transactions/params": json({
    "consensus-version": "future",
    fee: 0,
    "genesis-hash": "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=",
    "genesis-id": "testnet-v1.0",
    "last-round": 7,
    "min-fee": 1000,
  }),
  "GET /v2/transactions/pending": (_, response) => {
    response.writeHead(200, { "content-type": "application/msgpack" }).end(NONE_PENDING);
  },
  "POST /v2/teal/compile": json({ hash: "YOHO", result: "CoEB", sourcemap: { version: 3 } }),
  "POST /v2/teal/disassemble": json({ result: "#pragma version 10\nint 1\n" }),
};

const RAW = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";

const bytes = (text: string, type: string): PlayedAnswer => (_, response) => {
  response.writeHead(200, { "content-type": type, "x-chunked-output": "1" });
  response.write(text.slice(0, 3));
  response.end(text.slice(3));
};

const LISTED = {
  Objects: [{ Hash: RAW, Links: [{ Name: "a b", Hash: RAW, Size: 3, Type: 2, Target: "" }] }],
};
const FAILED = { Message: "block was not found locally", Code: 0, Type: "error" };

const KUBO: Answers = {
  "POST /api/v0/version": json({
    Version: "0.30.0",
    Commit: "",
    Repo: "16",
    System: "amd64/linux",
    Golang: "go1.22",
  }),
  "POST /api/v0/commands": json({ Name: "ipfs", Subcommands: [], Options: [] }),
  "POST /api/v0/repo/version": json({ Version: "fs-repo@16" }),
  "POST /api/v0/cat": bytes("the bytes of a file", "text/plain"),
  "POST /api/v0/ls": json(LISTED),
  "POST /api/v0/resolve": json({ Path: `/ipfs/${RAW}` }),
  "POST /api/v0/block/get": bytes("a block\u0000\u0001", "text/plain"),
  "POST /api/v0/block/stat": (request, response) =>
    request.url.includes(RAW)
      ? json({ Key: RAW, Size: 9 })(request, response)
      : json(FAILED, 500)(request, response),
  "POST /api/v0/dag/resolve": json({ Cid: { "/": RAW }, RemPath: "" }),
};

const NODES: Readonly<Record<string, readonly [answers: Answers, fallback: PlayedAnswer]>> = {
  aptos: [APTOS, json({ message: "not found", error_code: "web_framework_error" }, 404)],
  algorand: [ALGORAND, json({ message: "Not Found" }, 404)],
  kubo: [KUBO, json({ Message: "argument is required", Code: 1, Type: "error" }, 400)],
};

/** A `*` in a key stands for any text, and the first key that matches decides. */
export async function playRest(kind: string): Promise<PlayedNode> {
  const [answers, fallback] = NODES[kind]!;
  const patterns = Object.entries(answers).map(([key, answer]) =>
    [new RegExp(`^${key.replaceAll("*", ".+")}$`), answer] as const
  );
  const node = await playNode();
  node.answer = (request, response) => answerTo(request, patterns, fallback)(request, response);
  return node;
}

function answerTo(
  { method, url }: ReceivedRequest,
  patterns: readonly (readonly [RegExp, PlayedAnswer])[],
  fallback: PlayedAnswer,
): PlayedAnswer {
  const asked = `${method} ${url.replace(/\?.*/, "").replace(/(?<=.)\/$/, "")}`;
  return patterns.find(([pattern]) => pattern.test(asked))?.[1] ?? fallback;
}
