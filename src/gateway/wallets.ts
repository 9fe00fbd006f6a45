/**
 * The paths of wallets, such as `/wallet/hot`, which decide which wallet of the node a call is for,
 * and the names of calls there in the list of a client, such as `/wallet/hot getbalance`.
 *
 * @module
 */

/** @param prefix what is before the name of the wallet, such as `/wallet/` */
export const isWalletPath = (path: string, prefix: string | undefined): boolean =>
  prefix !== undefined && path.startsWith(prefix) && !path.slice(prefix.length).includes("/");

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
