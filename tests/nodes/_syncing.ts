/** Plays nodes of each kind that can tell that it syncs, each at a steady rate. */
import type { JsonObject } from "../../src/json/values.ts";
import { type Recording, RECORDINGS } from "./_recorded.ts";

/** The blocks that the network has at the start, those of the node, and the node's per second. */
const [NETWORK, START, RATE] = [100_000, 10_000, 50];
/** The milliseconds between two blocks of the network. */
const PER_BLOCK = 12_000;

export interface SyncState {
  readonly height: number;
  readonly target: number;
  /** The date, and that of the node's latest block, in milliseconds since 1970. */
  readonly date: number;
  readonly head: number;
  /** The share of the work that is done. */
  readonly progress: number;
  /** The true time until the node is in sync, in seconds. */
  readonly left: number;
}

/** @param seconds since the start, at the date `start` */
export function syncAfter(seconds: number, start: number): SyncState {
  const date = start + seconds * 1000;
  const target = Math.floor(NETWORK + seconds * 1000 / PER_BLOCK);
  // Blocks come in bursts.
  const height = Math.floor(START + RATE * (seconds + 2 * Math.sin(seconds)));
  return {
    height,
    target,
    date,
    head: start - (NETWORK - height) * PER_BLOCK,
    progress: height / target,
    left: (target - height) / (RATE - 1000 / PER_BLOCK),
  };
}

const hex = (number: number) => `0x${number.toString(16)}`;
const iso = (time: number) => new Date(time).toISOString();
const unix = (time: number) => Math.floor(time / 1000);

/** Returns the answers that differ from those of the recording, and the errors. */
type Play = (state: SyncState) => Pick<Recording, "answers" | "errors">;

const answered = (recording: string, name: string): JsonObject =>
  structuredClone(RECORDINGS.get(recording)!.answers[name]) as JsonObject;

function changed(recording: string, name: string, path: string, values: JsonObject): JsonObject {
  const whole = answered(recording, name);
  const part = path.split("/").filter(Boolean).reduce((at, key) => at[key] as JsonObject, whole);
  Object.assign(part, values);
  return { [name]: whole };
}

/** The values of hsd and bcoin on the main network, at a chain. */
function onMain(recording: string, chain: JsonObject): JsonObject {
  const all = changed(recording, "GET /", "chain", chain);
  Object.assign(all["GET /"] as JsonObject, { network: "main" });
  // A peer that has not responded yet has no name.
  return { ...all, getpeerinfo: [{ subver: "/bcoin:v1.0.2/" }, { subver: null }] };
}

/** The progress of hsd and bcoin ends 40 minutes ago. */
const byTime = ({ height, head, date }: SyncState) => {
  const first = head - height * PER_BLOCK;
  return (head - first) / (date - 2_400_000 - first);
};

const bitcoin = (
  { height, target, head, progress }: SyncState,
  name: string,
  values: JsonObject,
) => ({
  answers: {
    ...changed("bitcoin-behind", name, "", {
      blocks: height,
      headers: target,
      verificationprogress: progress,
      initialblockdownload: true,
      ...values,
    }),
    ...changed("bitcoin-behind", "getblockheader", "", { time: unix(head) }),
  },
});

const ethereum = (state: SyncState, height: number) => ({
  answers: {
    eth_blockNumber: hex(height),
    ...changed("ethereum-syncing", "eth_getBlockByNumber", "", {
      number: hex(height),
      timestamp: hex(unix(height === 0 ? Date.parse("2015-07-30T15:26:13Z") : state.head)),
    }),
    eth_syncing: {
      startingBlock: "0x0",
      currentBlock: hex(state.height),
      highestBlock: hex(state.target),
    },
  },
});

export const SYNCING: Readonly<Record<string, [recording: string, play: Play]>> = {
  bcoin: ["bcoin", (state) => ({
    answers: {
      ...onMain("bcoin", { height: state.height, progress: byTime(state) }),
      ...changed("bcoin", "getblockheader", "", { time: unix(state.head) }),
    },
  })],
  beacon: ["beacon", ({ height, target }) => ({
    answers: changed("beacon", "GET /eth/v1/node/syncing", "data", {
      is_syncing: true,
      head_slot: String(height),
      sync_distance: String(target - height),
    }),
  })],
  "bitcoin, downloading blocks": [
    "bitcoin-behind",
    (state) => bitcoin(state, "getblockchaininfo", {}),
  ],
  "cosmos, which tells the time of its latest block": ["cosmos", ({ height, head }) => ({
    answers: changed("cosmos", "status", "sync_info", {
      latest_block_height: String(height),
      latest_block_time: iso(head),
      catching_up: true,
    }),
  })],
  ergo: ["ergo", ({ height, target }) => ({
    answers: changed("ergo", "GET /info", "", {
      fullHeight: height,
      headersHeight: target,
      maxPeerHeight: target,
    }),
  })],
  ethereum: ["ethereum-syncing", (state) => ethereum(state, state.height)],
  // The height of Geth remains 0 until it has the whole state.
  "ethereum, Geth with snap sync": ["ethereum-syncing", (state) => ethereum(state, 0)],
  handshake: ["handshake", (state) => ({
    answers: {
      ...onMain("handshake", { height: state.height, progress: byTime(state) }),
      ...changed("handshake", "getblockheader", "", { time: unix(state.head) }),
    },
  })],
  monero: ["monero", ({ height, target, head }) => ({
    answers: {
      ...changed("monero", "get_info", "", {
        height: height + 1,
        target_height: target + 1,
        synchronized: false,
        busy_syncing: true,
        offline: false,
        outgoing_connections_count: 8,
      }),
      ...changed("monero", "get_last_block_header", "block_header", {
        height,
        timestamp: unix(head),
      }),
    },
  })],
  near: ["near", ({ height, head }) => ({
    answers: changed("near", "status", "sync_info", {
      latest_block_height: height,
      latest_block_time: iso(head),
      syncing: true,
    }),
  })],
  solana: ["solana-behind", ({ height, target }) => ({
    answers: { getBlockHeight: height },
    errors: {
      getHealth: {
        code: -32005,
        message: `Node is behind by ${target - height} slots`,
        data: { numSlotsBehind: target - height },
      },
    },
  })],
  stacks: ["stacks-behind", ({ height, target }) => ({
    answers: {
      ...changed("stacks-behind", "GET /v2/info", "", {
        stacks_tip_height: height,
        is_fully_synced: false,
      }),
      ...changed("stacks-behind", "GET /v3/health", "", {
        difference_from_max_peer: target - height,
        max_stacks_height_of_neighbors: target,
        node_stacks_tip_height: height,
      }),
    },
  })],
  substrate: ["substrate-behind", ({ height, target }) => ({
    answers: {
      ...changed("substrate-behind", "system_health", "", { isSyncing: true }),
      ...changed("substrate-behind", "chain_getHeader", "", { number: hex(height) }),
      ...changed("substrate-behind", "system_syncState", "", {
        currentBlock: height,
        highestBlock: target,
      }),
    },
  })],
};

/** Returns the recording of a node of `SYNCING` at this moment. */
export function recordingOf(name: string, state: SyncState): Recording {
  const [recording, playAt] = SYNCING[name]!;
  const base = RECORDINGS.get(recording)!;
  const { answers, errors } = playAt(state);
  return { ...base, answers: { ...base.answers, ...answers }, errors: errors ?? base.errors ?? {} };
}
