// Read from https://developer.bitcoin.org/reference/rpc/
import type { AuthFile, Kind } from "./kind.ts";

/** Every network but the first has a folder of its own for the cookie. */
const NETWORKS = ["", "testnet3/", "testnet4/", "signet/", "regtest/"];
const cookies = NETWORKS.flatMap((network): AuthFile[] => [
  { basic_file: `~/.bitcoin/${network}.cookie` },
  { basic_file: `~/.litecoin/${network}.cookie` },
  { basic_file: `~/.dogecoin/${network}.cookie` },
]);

/** Bitcoin Core and those made from it: Litecoin, Dogecoin. */
export const bitcoin: Kind = {
  title: "Bitcoin Core, Litecoin, Dogecoin (JSON-RPC)",
  url: "http://127.0.0.1:8332",
  recognise: { "net#/subversion": "^/(?!hsd|bcoin)[^:]+:" },
  auth: { refusal: ["www-authenticate", 'realm="jsonrpc"'], files: cookies },
  sources: {
    net: { jsonrpc: "getnetworkinfo" },
    chain: { jsonrpc: "getblockchaininfo" },
    uptime: { jsonrpc: "uptime", ttl: "1m" },
  },
  fields: {
    software: { from: "net#/subversion", as: { match: "^/([^:]+)" } },
    version: { from: "net#/subversion", as: { match: ":([^/(]+)" } },
    network: "chain#/chain",
    height: "chain#/blocks",
    synced: { from: "chain#/initialblockdownload", as: "not" },
    peers: "net#/connections",
    started_at: { from: "uptime#", as: "uptime" },
  },
};
