/**
 * The names of calls at the path of a wallet in the list of a client, such as `/wallet/hot
 * getbalance`.
 *
 * @module
 */

/** The path of a wallet, as clients send it, and a method. */
interface WalletCall {
  readonly path: string;
  readonly method: string;
}

/** Returns the name of a method at the path of a wallet. */
export const nameAtWallet = (path: string, method: string): string => `${path} ${method}`;

/** Reads a name such as `/wallet/hot getbalance`, by which a client may call a method at a path. */
export function walletCallIn(name: string): WalletCall | undefined {
  const [, path, method] = /^(\/[!-~]*) (\S+)$/.exec(name) ?? [];
  return path === undefined ? undefined : { path, method: method! };
}
