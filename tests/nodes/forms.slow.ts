/**
 * Sends each form of the simple page with its initial values to a real node. The nodes are anvil,
 * bcoin, hsd, and Debian packages (`apt-get install litecoind monero etcd-server nats-server
 * syncthing`). A node that is not installed is skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { resultOf } from "./_calls.ts";
import { sendForms } from "./_forms.ts";
import type { AskedNode } from "./_interface.ts";
import { PROGRAMS } from "./_start-chains.ts";

const forms = suite("the forms of the simple page with real nodes");

interface Known {
  /** The minimum number of operations that the test must send. */
  readonly sent: number;
  /** The operations that cannot be sent with the initial values of their forms. */
  readonly asking?: readonly string[];
  /** The operations that fail on this node, with their HTTP statuses. */
  readonly lacking?: Readonly<Record<string, number>>;
  /** The operations whose response is different each time, or depends on the browser. */
  readonly differing?: readonly string[];
  readonly prepare?: (node: AskedNode) => Promise<void>;
}

const KNOWN: Readonly<Record<string, Known>> = {
  ethereum: {
    sent: 42,
    lacking: {
      net_peerCount: 404,
      txpool_contentFrom: 404,
      eth_capabilities: 404,
      eth_baseFee: 404,
      eth_getBlockAccessList: 404,
    },
    prepare: mineFull,
  },
  bitcoin: {
    sent: 35,
    asking: [
      "gettxout",
      "getmempoolentry",
      "gettxoutproof",
      "verifytxoutproof",
      "getmempoolancestors",
      "getmempooldescendants",
      "getrawtransaction",
      "combinerawtransaction",
    ],
    differing: ["joinpsbts"],
  },
  bcoin: {
    sent: 27,
    asking: [
      "decoderawtransaction",
      "getblock",
      "getblockheader",
      "getmempoolancestors",
      "getmempooldescendants",
      "getmempoolentry",
      "getrawtransaction",
      "gettxout",
      "gettxoutproof",
      "validateaddress",
      "verifymessage",
      "verifytxoutproof",
      "GET /tx/{hash}",
      "GET /coin/{hash}/{index}",
    ],
  },
  handshake: {
    sent: 37,
    asking: [
      "getblock",
      "getblockheader",
      "gettxout",
      "gettxoutproof",
      "verifytxoutproof",
      "getmempoolentry",
      "getmempoolancestors",
      "getmempooldescendants",
      "getrawtransaction",
      "verifymessagewithname",
      "GET /mempool/invalid/{hash}",
      "GET /tx/{hash}",
      "GET /coin/{hash}/{index}",
    ],
  },
  // A transaction of this chain must be known to ask for it.
  monero: {
    sent: 28,
    asking: ["getblockheaderbyheight", "on_getblockhash"],
    lacking: { "POST /get_transactions": 400, "POST /gettransactions": 400 },
  },
  etcd: { sent: 6 },
  nats: { sent: 2 },
  syncthing: {
    sent: 7,
    asking: ["GET /rest/svc/deviceid"],
    differing: ["GET /rest/svc/lang"],
  },
};

async function mineFull({ call }: AskedNode): Promise<void> {
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call!, method, params);
  const [from, to] = await ask<[string, string]>("eth_accounts");
  await ask("evm_setAutomine", false);
  for (let sent = 0; sent < 300; sent++) {
    await ask("eth_sendTransaction", { from, to, value: "0x1" });
  }
  await ask("evm_mine");
  const { transactions } = await ask<{ transactions: [] }>("eth_getBlockByNumber", "latest", false);
  assert.is(transactions.length, 300);
}

for (const [kind, { path, start }] of Object.entries(PROGRAMS)) {
  const { sent: least, asking = [], lacking = {}, differing = [], prepare } = KNOWN[kind]!;
  testWhere(
    forms,
    without(path),
    `${kind}: each read-only form with initial values gets the same response as its curl line`,
    async () => {
      const node = await start();
      try {
        await prepare?.(node);
        const { sent, texts, ...found } = await sendForms(node, kind);
        const refused = [...sent].filter(([name, status]) => status !== (lacking[name] ?? 200));
        assert.equal(refused.map(([name]) => `${name}: ${texts.get(name)}`), []);
        assert.equal([...found.asking].sort(), [...asking].sort());
        assert.equal(
          found.differing.filter((line) => !differing.includes(line.split(":")[0]!)),
          [],
        );
        assert.ok(sent.size >= least, `${sent.size} were sent`);
      } finally {
        await node.stop();
      }
    },
  );
}

forms.run();
