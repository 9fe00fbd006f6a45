/**
 * Subscribes with a client, whose name and URL are the arguments. Prints `ready`, and after a number
 * of notifications, which is the third argument, what has come as JSON.
 */
import process from "node:process";

const [, , name, url, count] = process.argv;
const numbers = [];

/** Each client returns how it ends its subscription, and a refused call. `web3` resolves with errors. */
const CLIENTS = {
  async ethers() {
    const { WebSocketProvider } = await import("ethers");
    const provider = new WebSocketProvider(url);
    provider.on("block", (number) => numbers.push(number));
    await provider.getBlockNumber();
    return {
      stop: () => provider.off("block"),
      refused: () => provider.send("eth_sendRawTransaction", ["0x"]),
    };
  },
  async viem() {
    const { createPublicClient, webSocket } = await import("viem");
    const client = createPublicClient({ transport: webSocket(url) });
    const { unsubscribe } = await client.transport.subscribe({
      params: ["newHeads"],
      onData: ({ result }) => numbers.push(Number(result.number)),
    });
    return {
      stop: unsubscribe,
      refused: () => client.request({ method: "eth_sendRawTransaction", params: ["0x"] }),
    };
  },
  async web3() {
    const { Web3 } = await import("web3");
    const client = new Web3(url);
    const subscription = await client.eth.subscribe("newBlockHeaders");
    subscription.on("data", ({ number }) => numbers.push(Number(number)));
    return {
      stop: () => subscription.unsubscribe(),
      refused: () =>
        client.currentProvider.request({
          jsonrpc: "2.0",
          id: 77,
          method: "eth_sendRawTransaction",
          params: ["0x"],
        }),
    };
  },
  async polkadot() {
    const { WsProvider } = await import("@polkadot/rpc-provider");
    const provider = new WsProvider(url);
    await provider.isReady;
    const kind = "chain_newHead";
    const id = await provider.subscribe(
      kind,
      "chain_subscribeNewHeads",
      [],
      (_, { number }) => numbers.push(number),
    );
    return {
      stop: () => provider.unsubscribe(kind, "chain_unsubscribeNewHeads", id),
      refused: () => provider.send("author_submitExtrinsic", ["0x"]),
    };
  },
  async solana() {
    const { createSolanaRpcSubscriptions_UNSTABLE } = await import("@solana/kit");
    const rpc = createSolanaRpcSubscriptions_UNSTABLE(url);
    const end = new AbortController();
    const { signal: abortSignal } = end;
    const slots = await rpc.slotNotifications().subscribe({ abortSignal });
    void (async () => {
      for await (const { slot } of slots) numbers.push(Number(slot));
    })();
    return {
      stop: () => end.abort(),
      refused: () =>
        rpc.voteNotifications().subscribe({ abortSignal: new AbortController().signal }),
    };
  },
  async cosmos() {
    const { WebsocketClient } = await import("@cosmjs/tendermint-rpc");
    const client = new WebsocketClient(url);
    const request = (id, method, params) => ({ jsonrpc: "2.0", id, method, params });
    const events = client.listen(request(5, "subscribe", { query: "tm.event='NewBlock'" }));
    const listener = { next: ({ data }) => numbers.push(data.number) };
    events.addListener(listener);
    return {
      stop: () => events.removeListener(listener),
      refused: () => client.execute(request(6, "broadcast_tx_sync", { tx: "" })),
    };
  },
};

const { stop, refused } = await CLIENTS[name]();
console.log("ready");
while (numbers.length < Number(count)) await new Promise((resolve) => setTimeout(resolve, 20));
const reason = await refused().then(JSON.stringify, (error) => error.stack + JSON.stringify(error));
await stop();
// Nothing may come twice, or after the end.
await new Promise((resolve) => setTimeout(resolve, 300));
console.log(JSON.stringify({ numbers, reason }));
process.exit();
