/**
 * The info and the health as they are served, prepared again only when what is known has changed.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import { formatJson } from "../json/lossless.ts";
import type { Info } from "./info-form.ts";

/** The info at a time: a new object, with new representations, only where anything changed. */
export interface Snapshot {
  readonly info: Info;
  readonly representation: Representation;
  /** The health, answered with 200 and with 503. */
  readonly health: { readonly passing: Representation; readonly failing: Representation };
}

/**
 * Makes what makes snapshots.
 *
 * @param ttl how long the info may be taken for fresh, in milliseconds
 * @param run what no other run of the service is called
 * @returns makes a snapshot of an info; gives the last one where that comes to the same text
 */
export function createSnapshots(ttl: number, run: string): (info: Info) => Promise<Snapshot> {
  // The info says when it was started, so a content is never that of another run. To count contents
  // is quicker than the first digest, for which some runtimes load all of their cryptography.
  let contents = 0;
  let last: { text: string; made: Promise<Snapshot> } | undefined;
  return (info) => {
    const text = formatJson(info, 2) + "\n";
    if (last?.text === text) return last.made;
    const tag = `${run}-${(++contents).toString(36)}`;
    const made = makeSnapshot(info, text, tag, ttl).catch((error) => {
      last = undefined;
      throw error;
    });
    last = { text, made };
    return made;
  };
}

async function makeSnapshot(
  info: Info,
  text: string,
  tag: string,
  ttl: number,
): Promise<Snapshot> {
  const { status, status_code, status_reason } = info;
  const health = formatJson({ status, status_code, status_reason }) + "\n";
  const isWell = status === "ok" || status === "syncing";
  const type = "application/json";
  // The same on every runtime and in every process. To load cryptography for one word takes too long.
  const probed = { type, cache: "no-store", ...(status === "ok" && { tag: status }) };
  const [representation, passing, failing] = await Promise.all([
    represent(text, {
      tag,
      type,
      cache: isWell ? `public, max-age=${Math.floor(ttl / 1000)}` : "public, no-cache",
    }),
    represent(health, { ...probed, status: 200 }),
    represent(health, { ...probed, status: 503 }),
  ]);
  return { info, representation, health: { passing, failing } };
}
