/**
 * The rights to call methods at the path of a wallet, such as `/wallet/hot`: the path decides which
 * wallet of the node a call is for.
 *
 * @module
 */
import { quote, shorten } from "../untrusted-text.ts";
import { isNeverOpen, type PolicyEntry, type ResolvedClient } from "./policy.ts";
import { nameAtWallet, walletCallIn } from "./wallet-names.ts";

/** @param prefix what is before the name of the wallet, such as `/wallet/` */
export const isWalletPath = (path: string, prefix: string | undefined): boolean =>
  prefix !== undefined && path.startsWith(prefix) && !path.slice(prefix.length).includes("/");

/**
 * Decides who may call a method at the path of a wallet: the clients whose list has both. Such a
 * client may also call there what it may read elsewhere, since libraries send all calls to one
 * address.
 */
export function atWallet(
  entry: PolicyEntry,
  path: string,
  clients: readonly ResolvedClient[],
): PolicyEntry {
  const { operation, permission } = entry;
  if (isNeverOpen(entry)) return entry;
  const wanted = nameAtWallet(path, operation.name);
  const mayRead = (name: string) =>
    operation.access === "read" && (permission === "open" || entry.clients.includes(name));
  const isAllowed = ({ name, allow: { names } }: ResolvedClient) =>
    names.includes(wanted) ||
    (mayRead(name) && names.some((one) => walletCallIn(one)?.path === path));
  const allowed = clients.filter(isAllowed).map(({ name }) => name);
  const hasWallets = clients.some(({ allow: { names } }) => names.some(walletCallIn));
  const reason = `forward.clients can allow ${quote(shorten(wanted, 200))}`;
  // Without a token, all wallets look alike, whether a client may call them or not.
  return {
    operation,
    permission: hasWallets ? "token" : "refused",
    clients: allowed,
    reason,
    publicReason: reason,
    isOpenable: true,
  };
}
