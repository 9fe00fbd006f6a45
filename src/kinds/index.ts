/**
 * Every kind of node that is known, by name. Each is one file of data.
 *
 * @module
 */
import { activitypub } from "./activitypub.ts";
import { algorand } from "./algorand.ts";
import { aptos } from "./aptos.ts";
import { beacon } from "./beacon.ts";
import { bee } from "./bee.ts";
import { bitcoin } from "./bitcoin.ts";
import { cosmos } from "./cosmos.ts";
import { ergo } from "./ergo.ts";
import { etcd } from "./etcd.ts";
import { ethereum } from "./ethereum.ts";
import { handshake } from "./handshake.ts";
import type { Kind } from "./kind.ts";
import { kubo } from "./kubo.ts";
import { monero } from "./monero.ts";
import { nats } from "./nats.ts";
import { near } from "./near.ts";
import { nostr } from "./nostr.ts";
import { solana } from "./solana.ts";
import { stacks } from "./stacks.ts";
import { substrate } from "./substrate.ts";
import { syncthing } from "./syncthing.ts";

/** The kinds by name, in alphabetical order. */
export const KINDS: Readonly<Record<string, Kind>> = {
  activitypub,
  algorand,
  aptos,
  beacon,
  bee,
  bitcoin,
  cosmos,
  ergo,
  etcd,
  ethereum,
  handshake,
  kubo,
  monero,
  nats,
  near,
  nostr,
  solana,
  stacks,
  substrate,
  syncthing,
};
