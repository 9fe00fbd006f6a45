/** What a client of Ethereum says of a node. */
export interface Seen {
  readonly number: bigint;
  readonly chainId: bigint;
  readonly balance: bigint;
  /** The hash of block 1. */
  readonly hash: string;
}

/** Clients of Ethereum, by their names; each is told no more than a URL. */
export const ETHEREUM: Readonly<Record<string, (url: string, address: string) => Promise<Seen>>>;

/** A client of Bitcoin. */
export interface BitcoinClient {
  command(method: string, ...params: unknown[]): Promise<unknown>;
  command(calls: readonly { method: string; parameters: unknown[] }[]): Promise<unknown[]>;
}

/** Makes the client of npm. */
export function bitcoinCore(url: string): Promise<BitcoinClient>;
