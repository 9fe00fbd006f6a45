/**
 * The info and the health as they are served, prepared again only when what is known has changed.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import type { Resource } from "../lazy.ts";
import { formatJson } from "../json/lossless.ts";
import { compose, type Info, type Parts, type Service } from "./info-object.ts";
import { prepareHealth } from "./health-answer.ts";

/** The info at a time: a new object, with new representations, only where anything changed. */
export interface Snapshot {
  info: Info;
  representation: Representation;
  health: Representation;
}

/** The latest snapshot. To ask for it asks the node where the last one is too old, and waits at most briefly. */
export interface LiveInfo extends Resource<Snapshot> {
  /** The name of the node's kind, which may be `none`; `undefined` while it is not known. */
  readonly kind: string | undefined;
}

/** What snapshots are made with. */
export interface PublisherOptions {
  /** What the service says of itself. */
  service: Service;
  /** Whether there is a node beside the service. */
  isBesideNode: boolean;
  /** Keys that are not shown. */
  hide?: readonly string[] | undefined;
  /** How long the info may be taken for fresh, in milliseconds. */
  ttl: number;
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
}

/** Makes a snapshot of what is known; gives the last one where that comes to the same text. */
export type Publisher = (
  known: Pick<Parts, "values" | "trouble" | "updatedAt">,
) => Promise<Snapshot>;

/** Makes what makes snapshots. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { service, isBesideNode, hide, ttl, now, random } = options;
  // The info says when it was started, so a content is never that of another run. To count contents
  // is quicker than the first digest, for which some runtimes load all of their cryptography.
  const run = `${now().toString(36)}-${random().toString(36).slice(2, 8)}`;
  let contents = 0;
  let counted: string | undefined;
  let last: { text: string; snapshot: Snapshot } | undefined;

  return async (known) => {
    const info = compose({ service, isBesideNode, hide, ...known });
    const text = formatJson(info, 2) + "\n";
    if (last?.text === text) return last.snapshot;
    if (text !== counted) {
      counted = text;
      contents++;
    }
    const isWell = info.status === "ok" || info.status === "syncing";
    const [representation, health] = await Promise.all([
      represent(text, {
        tag: `${run}-${contents.toString(36)}`,
        type: "application/json",
        cache: isWell ? `public, max-age=${Math.floor(ttl / 1000)}` : "public, no-cache",
      }),
      prepareHealth(info.status),
    ]);
    last = { text, snapshot: { info, representation, health } };
    return last.snapshot;
  };
}
