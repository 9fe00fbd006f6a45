/** Calls that change real nodes, and queries that reveal these changes. */
import type { AskedNode, SentRequest } from "../nodes/_interface.ts";

export interface Writes {
  state(node: AskedNode): Promise<unknown>;
  /** The name of the call in the settings. */
  readonly name: string;
  write(node: AskedNode): SentRequest & { path: string };
}

const json = { "content-type": "application/json" };

const post = (path: string, body: unknown): ReturnType<Writes["write"]> => ({
  path,
  method: "POST",
  headers: json,
  body: JSON.stringify(body),
});

const results = (...calls: readonly (readonly [string, unknown?])[]) => async (node: AskedNode) => {
  const found = [];
  for (const [method, params] of calls) found.push(await node.call!(method, params));
  return found;
};

const answers = (...asked: readonly (readonly [string, unknown?])[]) => async (node: AskedNode) => {
  const found = [];
  for (const [path, body] of asked) {
    const init = body === undefined ? { method: "GET" } : post(path, body);
    found.push(await (await node.send(path, init)).text());
  }
  return found;
};

/** There is no entry for nats-server, because no call to its monitoring port changes anything. */
export const WRITES: Readonly<Record<string, Writes>> = {
  ethereum: {
    state: (node) =>
      results(
        ...[["eth_blockNumber"], ["eth_accounts"], ["txpool_status"]] as const,
        ["eth_getBalance", [node.known.address, "latest"]],
        ["eth_getTransactionCount", [node.known.address, "pending"]],
        ["anvil_nodeInfo"],
      )(node),
    name: "eth_sendTransaction",
    write: ({ known: { transaction } }) => post("/v1/rpc/eth_sendTransaction", { transaction }),
  },
  bitcoin: {
    state: results(
      ...[["getbestblockhash"], ["getrawmempool", [true]], ["getwalletinfo"], [
        "listwallets",
      ]] as const,
      ...[["listbanned"], ["getaddednodeinfo"], ["logging"], ["listlabels"]] as const,
      ["listlockunspent"],
    ),
    name: "generatetoaddress",
    write: ({ known: { address } }) => post("/v1/rpc/generatetoaddress", { nblocks: 1, address }),
  },
  handshake: {
    state: results(
      ...[["getbestblockhash"], ["getrawmempool", [true]], ["getmininginfo"]] as const,
      ...[["listbanned"], ["getaddednodeinfo"]] as const,
    ),
    name: "generatetoaddress",
    write: ({ known: { address } }) => post("/v1/rpc/generatetoaddress", { numblocks: 1, address }),
  },
  monero: {
    state: async (node) => [
      await results(["get_block_count"], ["get_bans"], ["get_txpool_backlog"])(node),
      await answers(["/get_limit", {}], ["/mining_status", {}])(node),
    ],
    name: "generateblocks",
    write: () =>
      post("/v1/rpc/generateblocks", {
        amount_of_blocks: 1,
        wallet_address:
          "47ehG1xBa6837pfpgww47F5ztmMGsi4eWPY9NHCDxPk3CTHEQRSMuH6g3HqiQ2qrutgz4F4bHZBtBAW2y7gyfpTACsUvfW9",
      }),
  },
  etcd: {
    // The `/v3/kv/range` response contains the revision of the store, which grows with every change
    // of a key.
    state: answers(
      ["/v3/kv/range", { key: "AA==", range_end: "AA==" }],
      ...[["/v3/auth/user/list", {}], ["/v3/auth/role/list", {}]] as const,
      ...[["/v3/lease/leases", {}], ["/v3/cluster/member/list", {}]] as const,
    ),
    name: "POST /v3/kv/put",
    write: () => post("/v1/node/v3/kv/put", { key: btoa("new"), value: btoa("value") }),
  },
  syncthing: {
    state: answers(
      ...[["/rest/config"], ["/rest/system/error"], ["/rest/system/debug"]] as const,
      ...[["/rest/db/ignores?folder=texts"], ["/rest/system/loglevels"]] as const,
    ),
    name: "PATCH /rest/config/options",
    write: () => ({
      ...post("/v1/node/rest/config/options", { maxSendKbps: 7 }),
      method: "PATCH",
    }),
  },
};
