/**
 * Subscribes with a client, whose name and URL are the arguments, and prints each value as a line of
 * JSON. After the first thousand, it makes a call that is refused, and prints why. At SIGUSR2 it
 * ends its subscription and prints `stopped`, or subscribes and prints `again`.
 */
import process from "node:process";

const [, , name, url] = process.argv;
const COUNT = 1000;
let count = 0;
/** Calls `refused` once, after the first thousand values. */
let onCount = () => {};

function take(value) {
  const text = JSON.stringify(
    value,
    (_, part) => typeof part === "bigint" ? `${part}` : part,
  );
  console.log(`value ${text}`);
  if (++count === COUNT) onCount();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Each client returns how it subscribes, which returns how it ends its subscription, and a call that
 * is refused. ethers and @solana/kit leave it to the program to connect again, and web3.js and CosmJS
 * leave it to subscribe again.
 */
const CLIENTS = {
  async ethers() {
    const { WebSocketProvider } = await import("ethers");
    let provider;
    let isFollowed = false;
    const open = () => {
      provider = new WebSocketProvider(url);
      if (isFollowed) provider.on("block", take);
      provider.websocket.onerror = () => {};
      provider.websocket.addEventListener("close", () => setTimeout(open, 200));
    };
    open();
    return {
      async subscribe() {
        isFollowed = true;
        provider.on("block", take);
        await provider.getBlockNumber();
        return () => {
          isFollowed = false;
          provider.off("block");
        };
      },
      refused: () => provider.send("eth_sendRawTransaction", ["0x"]),
    };
  },
  async viem() {
    const { createPublicClient, webSocket } = await import("viem");
    const client = createPublicClient({ transport: webSocket(url) });
    return {
      async subscribe() {
        const { unsubscribe } = await client.transport.subscribe({
          params: ["newHeads"],
          onData: ({ result }) => take(result),
        });
        return unsubscribe;
      },
      refused: () => client.request({ method: "eth_sendRawTransaction", params: ["0x"] }),
    };
  },
  async web3() {
    const { Web3 } = await import("web3");
    const client = new Web3(url);
    let subscription;
    const begin = async () => {
      subscription = await client.eth.subscribe("newBlockHeaders");
      subscription.on(
        "data",
        ({ number, hash }) => take({ number: Number(number), hash }),
      );
    };
    client.currentProvider.on("connect", () => subscription && begin());
    client.currentProvider.on("error", () => {});
    await client.eth.getBlockNumber();
    return {
      async subscribe() {
        await begin();
        return async () => {
          await subscription.unsubscribe();
          subscription = undefined;
        };
      },
      // It resolves with errors.
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
    return {
      async subscribe() {
        const onHead = (_, header) => take(header);
        const id = await provider.subscribe(
          kind,
          "chain_subscribeNewHeads",
          [],
          onHead,
        );
        return () => provider.unsubscribe(kind, "chain_unsubscribeNewHeads", id);
      },
      refused: () => provider.send("author_submitExtrinsic", ["0x"]),
    };
  },
  async papi() {
    const { createClient } = await import("@polkadot-api/substrate-client");
    const { getWsProvider } = await import("@polkadot-api/ws-provider");
    const { default: websocketClass } = await import("ws");
    const client = createClient(getWsProvider(url, { websocketClass }));
    let isFollowed = false;
    let last = Promise.resolve();
    let followed;
    const follow = () => {
      const own = followed = client.chainHead(true, (event) => {
        if (event.type !== "newBlock") return;
        const body = own.body(event.blockHash);
        last = last.then(async () => take(Number((await body)[0]))).catch(() => {});
      }, () => isFollowed && setTimeout(follow, 200));
    };
    return {
      subscribe() {
        isFollowed = true;
        follow();
        return () => {
          isFollowed = false;
          followed.unfollow();
        };
      },
      refused: () => client.request("author_submitExtrinsic", ["0x"]),
    };
  },
  async solana() {
    const { createSolanaRpcSubscriptions_UNSTABLE } = await import(
      "@solana/kit"
    );
    const make = () => createSolanaRpcSubscriptions_UNSTABLE(url);
    const follow = async (slots, end) => {
      try {
        for await (const slot of slots) take(slot);
      } catch {
        // It has lost its connection.
      }
      while (!end.signal.aborted) {
        await pause(200);
        const again = await open(end).catch(() => undefined);
        if (again) return await follow(again, end);
      }
    };
    const open = ({ signal: abortSignal }) => make().slotNotifications().subscribe({ abortSignal });
    return {
      async subscribe() {
        const end = new AbortController();
        void follow(await open(end), end);
        return () => end.abort();
      },
      refused: () =>
        make().voteNotifications().subscribe({
          abortSignal: AbortSignal.timeout(9e4),
        }),
    };
  },
  async cosmos() {
    const { WebsocketClient } = await import("@cosmjs/tendermint-rpc");
    const request = (id, method, params) => ({
      jsonrpc: "2.0",
      id,
      method,
      params,
    });
    const client = new WebsocketClient(url, () => {});
    let id = 10;
    let subscribing;
    let isFollowed = false;
    let isLost = false;
    const CONNECTED = 2, DISCONNECTED = 3;
    client.socket.connectionStatus.updates.addListener({
      next(status) {
        if (status === DISCONNECTED) isLost = isFollowed;
        else if (status === CONNECTED && isLost) {
          isLost = false;
          client.socket.queueRequest(JSON.stringify(subscribing));
        }
      },
    });
    return {
      async subscribe() {
        // It keeps listening for the id of a subscription that has ended.
        const query = `tm.event='NewBlock' AND block.height>${++id}`;
        subscribing = request(id, "subscribe", { query });
        const events = client.listen(subscribing);
        // The first event is the response.
        const listener = { next: ({ data }) => data && take(data.number) };
        events.addListener(listener);
        await client.execute(request(4, "status", {}));
        isFollowed = true;
        return () => {
          isFollowed = false;
          events.removeListener(listener);
        };
      },
      refused: () => client.execute(request(6, "broadcast_tx_sync", { tx: "" })),
    };
  },
};

const { subscribe, refused } = await CLIENTS[name]();
let stop = await subscribe();
onCount = async () => {
  const reason = await refused().then(
    JSON.stringify,
    (error) => error.stack + JSON.stringify(error),
  );
  console.log(`refused ${reason.replaceAll("\n", " ")}`);
};
process.on("SIGUSR2", async () => {
  if (stop) {
    await stop();
    stop = undefined;
    console.log("stopped");
  } else {
    stop = await subscribe();
    console.log("again");
  }
});
process.on("SIGTERM", () => process.exit());
console.log("ready");
setInterval(() => {}, 1000);
