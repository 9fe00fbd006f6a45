/** The facts about a node that a client of Ethereum returns. */
export interface Seen {
  readonly number: bigint;
  readonly chainId: bigint;
  readonly balance: bigint;
  /** The hash of block 1. */
  readonly hash: string;
}

/** Clients of Ethereum, by their names; each is configured only with a URL. */
export const ETHEREUM: Readonly<Record<string, (url: string, address: string) => Promise<Seen>>>;

/** A client of Bitcoin. */
export interface BitcoinClient {
  command(method: string, ...params: unknown[]): Promise<unknown>;
  command(calls: readonly { method: string; parameters: unknown[] }[]): Promise<unknown[]>;
}

/** Creates the client, which is a package on npm. */
export function bitcoinCore(url: string): Promise<BitcoinClient>;

export const TOKENED: Readonly<
  Record<
    string,
    (url: string, token: string, address: string) => Promise<{ number: bigint; hash: string }>
  >
>;
