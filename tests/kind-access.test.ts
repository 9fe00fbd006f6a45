import { suite } from "uvu";
import * as assert from "uvu/assert";
import { KINDS } from "../src/generated/kinds.js";
import { violationOf } from "../src/gateway/check.ts";
import { listOf, objectOf } from "../src/json/values.ts";
import type { Access, OperationMarks } from "../src/kinds/interface.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { withHomes } from "../src/openapi/home.ts";
import { documentOfKind } from "../src/openapi/kind-document.ts";
import { operationsOf } from "../src/openapi/operations.ts";
import { loadInterface } from "../src/description/known-interface.ts";

const access = suite("the access marks of operations in kind files");

async function marksOf(kind: string): Promise<Map<string, OperationMarks>> {
  const { openrpc, openapi } = await loadInterface(kind);
  const operations = Object.values(openapi?.paths ?? {}).flatMap((item) => operationsOf(item));
  return new Map([
    ...openrpc?.methods.map((method) => [method.name, method] as const) ?? [],
    ...operations.map(({ operation }) =>
      [
        String(operation.operationId),
        operation as unknown as OperationMarks,
      ] as const
    ),
  ]);
}

const WRITES: Readonly<Record<string, string>> = {
  // Output descriptors may contain private keys.
  bitcoin: "deriveaddresses getdescriptorinfo utxoupdatepsbt",
  solana: "requestAirdrop sendTransaction",
  near: "send_tx broadcast_tx_async broadcast_tx_commit",
  cosmos: "broadcast_tx_sync broadcast_tx_async broadcast_tx_commit broadcast_evidence check_tx " +
    "dial_seeds dial_peers unsafe_flush_mempool",
  substrate: "author_submitExtrinsic author_insertKey author_rotateKeys author_removeExtrinsic " +
    "engine_createBlock engine_finalizeBlock system_addReservedPeer system_addLogFilter " +
    "offchain_localStorageSet state_getPairs state_traceBlock transaction_v1_broadcast",
  kubo: "add block_put block_rm bootstrap_add config config_replace dag_import dag_put files_cp " +
    "files_rm files_write key_gen key_sign log_level name_publish pin_add pin_rm ping pubsub_pub " +
    "multibase_decode multibase_encode multibase_transcode repo_gc repo_verify filestore_verify routing_put shutdown swarm_connect mount",
  nostr: "manage",
  handshake: "getdnssecproof verifyblock",
  bcoin: "verifyblock",
  algorand: "TealCompile",
  etcd: "getHashOfKeys",
  monero: "get_block_headers_range getblockheadersrange",
};

const SECRETS: Readonly<Record<string, string>> = {
  // Without `--restricted-rpc`, these operations of monerod reveal transactions that monerod has
  // not relayed yet.
  monero: "readPool readPoolHashes readPoolStats get_info",
  solana: "getClusterNodes getIdentity",
  ethereum: "eth_getFilterLogs",
  near: "network_info client_config EXPERIMENTAL_client_config readNetworkInfo",
  cosmos: "net_info dump_consensus_state",
  substrate:
    "author_hasKey author_pendingExtrinsics system_localListenAddresses system_localPeerId " +
    "system_peers system_reservedPeers system_unstable_networkState offchain_localStorageGet",
  kubo:
    "id config_show diag_cmds diag_profile diag_sys files_ls files_read key_ls key_verify log_tail " +
    "p2p_ls " +
    "pin_ls pin_remote_service_ls refs_local repo_ls repo_stat swarm_addrs swarm_peers " +
    "swarm_resources bootstrap",
};

const TABLES: readonly (readonly [Access, Readonly<Record<string, string>>])[] = [
  ["write", WRITES],
  ["secret", SECRETS],
];

for (const [mark, table] of TABLES) {
  for (const [kind, names] of Object.entries(table)) {
    access(`${kind}: every operation that needs x-access: ${mark} has it`, async () => {
      const marks = await marksOf(kind);
      for (const name of names.split(" ")) {
        assert.is(marks.get(name)?.["x-access"], mark, name);
      }
    });
  }
}

const HEAVY: Readonly<Record<string, string>> = {
  beacon: "getStateFork getStateFinalityCheckpoints getStateRandao getEpochSyncCommittees " +
    "getStateValidator getProposerLookahead getStateRoot getLightClientBootstrap getLiveness",
  bcoin: "readBlock",
  handshake: "readBlock",
  bee: "getChainState",
  kubo: "name_inspect",
  bitcoin: "gettxoutsetinfo getblockstats getrawmempool createrawtransaction " +
    "combinerawtransaction finalizepsbt analyzepsbt",
  monero: "get_block_header_by_hash get_block_headers_range getblockheaderbyhash " +
    "getblockheadersrange",
  ergo: "checkTransaction checkTransactionAsBytes getHeaderIds getBoxWithPoolByIds getTokensByIds",
  solana: "getMultipleAccounts getProgramAccounts",
  substrate: "grandpa_proveFinality state_call",
};

for (const [kind, names] of Object.entries(HEAVY)) {
  access(`${kind}: operations that can take seconds have x-cost: heavy`, async () => {
    const marks = await marksOf(kind);
    for (const name of names.split(" ")) assert.is(marks.get(name)?.["x-cost"], "heavy", name);
  });
}

access("bitcoin: getblock is heavy only if the caller requests whole transactions", async () => {
  const { openrpc } = await loadInterface("bitcoin");
  const getblock = openrpc!.methods.find(({ name }) => name === "getblock")!;
  assert.is(getblock["x-cost"], undefined);
  assert.is(getblock.params[1]!.schema["x-heavy-from"], 2);
});

access("bcoin, hsd: getblock is heavy only if the caller requests whole transactions", async () => {
  for (const kind of ["bcoin", "handshake"]) {
    const { openrpc } = await loadInterface(kind);
    for (const method of ["getblock", "getblockbyheight"]) {
      const { params, ...marks } = openrpc!.methods.find(({ name }) => name === method)!;
      assert.is(marks["x-cost"], undefined);
      assert.is(params.find(({ name }) => name === "details")!.schema["x-heavy-from"], 1, method);
    }
  }
});

access("read-only operations are sent without a secret that belongs to a user account", () => {
  const bare = Object.entries(KINDS).filter(([, { auth }]) => auth?.reads === "none");
  assert.equal(bare.map(([name]) => name), ["activitypub"]);
});

access("kubo: operations that read content by its CID do not fetch it from peers", async () => {
  const { openapi } = await loadInterface("kubo");
  for (
    const name of [
      "cat",
      "get",
      "ls",
      "refs",
      "resolve",
      "block/get",
      "dag/get",
      "dag/export",
    ]
  ) {
    const [located] = operationsOf(openapi!.paths[`/${name}`]);
    const offline = { $ref: "#/components/parameters/offline" };
    assert.equal(listOf(located!.operation.parameters).at(-1), offline, name);
  }
  assert.equal(openapi!.components!["parameters"]!["offline"], {
    ...{
      name: "offline",
      in: "query",
      required: true,
      schema: { type: "boolean", const: true },
    },
  });
});

access("kubo: a read-only operation never looks up a client's name in DNS", async () => {
  const { openrpc: _, ...parts } = await loadInterface("kubo");
  const document = await documentOfKind(parts, { title: "kubo" });
  const operations = await listNodeOperations(await withHomes(document), "kind");
  const reads = operations.filter(({ access, isStreaming, path }) =>
    access === "read" && !isStreaming && !path.includes("/cid/")
  );
  const names: string[] = [];
  for (const { name, parameters } of reads) {
    const arg = parameters!.find(({ name }) => name === "arg");
    if (!arg) continue;
    names.push(name);
    const schema = objectOf(arg.schema!.items ?? arg.schema);
    const ruleFor = (path: string) => violationOf(schema, path)?.rule;
    for (
      const path of [
        ...[
          "/ipns/evil.example",
          "/ipns/evil.example/a",
          "ipns://evil.example",
          "/IPNS/evil.example",
        ],
        ...["//ipns//evil.example", "/ipns/./evil.example", "/ipfs/bafy/../../ipns/evil.example"],
        "/ipns/k51/../evil.example",
      ]
    ) {
      assert.match(ruleFor(path) ?? "", /^must be a CID without a path/, `${name} ${path}`);
    }
    // The node asks the network for the blocks of a path, even with `offline`.
    for (const path of ["/ipfs/bafy/a.txt", "bafy/a", "/ipns/k51", "/ipld/bafy/a", "bafy/"]) {
      assert.match(ruleFor(path) ?? "", /^must be a CID without a path/, `${name} ${path}`);
    }
    for (const path of ["bafy", "/ipfs/bafy"]) assert.is(ruleFor(path), undefined, name);
  }
  assert.is(names.length, 10);
});

access.run();
