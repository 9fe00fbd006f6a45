/**
 * Third-party clients for nodes. The only configuration of each client is the service's URL in place of the node's URL.
 *
 * Each client is loaded only when it is used, because it may not be installed.
 */

async function ethers(url, address) {
  const { JsonRpcProvider } = await import("ethers");
  const provider = new JsonRpcProvider(url);
  try {
    // These calls are concurrent, so that the client sends them as one batch.
    const [number, network, balance, block] = await Promise.all([
      provider.getBlockNumber(),
      provider.getNetwork(),
      provider.getBalance(address),
      provider.getBlock(1),
    ]);
    return { number: BigInt(number), chainId: network.chainId, balance, hash: block.hash };
  } finally {
    provider.destroy();
  }
}

async function viem(url, address, options) {
  const { createPublicClient, http } = await import("viem");
  const client = createPublicClient({ transport: http(url, options) });
  const [number, chainId, balance, block] = await Promise.all([
    client.getBlockNumber(),
    client.getChainId(),
    client.getBalance({ address }),
    client.getBlock({ blockNumber: 1n }),
  ]);
  return { number, chainId: BigInt(chainId), balance, hash: block.hash };
}

export const ETHEREUM = {
  ethers,
  viem,
  "viem with batches": (url, address) => viem(url, address, { batch: true }),
};

export async function bitcoinCore(host) {
  const { default: Client } = await import("bitcoin-core");
  return new Client({ host });
}

/** Clients that send a token, read the height and send a transaction. */
export const TOKENED = {
  async ethers(url, token, address) {
    const { FetchRequest, JsonRpcProvider } = await import("ethers");
    const request = new FetchRequest(url);
    request.setHeader("authorization", `Bearer ${token}`);
    const network = { chainId: 31337, name: "anvil" };
    const provider = new JsonRpcProvider(request, network, { staticNetwork: true });
    try {
      const number = BigInt(await provider.getBlockNumber());
      const transaction = { from: address, to: address, value: "0x1" };
      return { number, hash: await provider.send("eth_sendTransaction", [transaction]) };
    } finally {
      provider.destroy();
    }
  },
  async viem(url, token, address) {
    const { createWalletClient, http, publicActions } = await import("viem");
    const fetchOptions = { headers: { authorization: `Bearer ${token}` } };
    const transport = http(url, { fetchOptions, retryCount: 0 });
    const client = createWalletClient({ transport }).extend(publicActions);
    const number = await client.getBlockNumber();
    const transaction = { account: address, to: address, value: 1n, chain: null };
    return { number, hash: await client.sendTransaction(transaction) };
  },
};
