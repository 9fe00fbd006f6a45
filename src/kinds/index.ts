/**
 * Every kind of node that is known, by name. Each is one file of data.
 *
 * @module
 */
import { bitcoin } from "./bitcoin.ts";
import { etcd } from "./etcd.ts";
import { ethereum } from "./ethereum.ts";
import { handshake } from "./handshake.ts";
import type { Kind } from "./kind.ts";
import { monero } from "./monero.ts";
import { nats } from "./nats.ts";
import { syncthing } from "./syncthing.ts";

/** The kinds by name, in alphabetical order. */
export const KINDS: Readonly<Record<string, Kind>> = {
  bitcoin,
  etcd,
  ethereum,
  handshake,
  monero,
  nats,
  syncthing,
};
