/**
 * Reads that are alike and under way at the same time share one call of the node.
 *
 * @module
 */
import { following } from "../with-timeout.ts";

/** What a call gives: shared where all of it is there. */
export interface Shareable<A> {
  readonly answer: A;
  /** Whether it can be given to several. */
  readonly isWhole: boolean;
  /** To be called by each who has it. */
  end(): void;
}

/** Lets calls that are alike share one. */
export interface Sharing<A> {
  /**
   * Joins the call of this key that is under way, or starts it.
   *
   * @param start makes the call until its controller is aborted, which is when nobody waits any longer
   * @param gone ends the wait of this caller, and not that of the others
   */
  join(key: string, start: Start<A>, gone: AbortSignal): Promise<Shareable<A>>;
}

/** Makes a call; it may abort the controller, too. */
type Start<A> = (controller: AbortController) => Promise<Shareable<A>>;

interface Flight<A> {
  readonly result: Promise<Shareable<A>>;
  readonly controller: AbortController;
  /** What came of it. */
  landed: Shareable<A> | undefined;
  /** How many wait for it, or have it. */
  users: number;
  /** Whether somebody has what cannot be given to several. */
  isTaken: boolean;
}

/** Makes what lets calls share. */
export function createSharing<A>(): Sharing<A> {
  // Not a `Map`, for the reason that `calls-under-way.ts` gives.
  const flights: Record<string, Flight<A>> = Object.create(null);

  const begin = (key: string, start: Start<A>): Flight<A> => {
    const controller = new AbortController();
    const result = start(controller);
    const flight: Flight<A> = { result, controller, landed: undefined, users: 0, isTaken: false };
    const land = (landed?: Shareable<A>) => {
      if (flights[key] === flight) delete flights[key];
      flight.landed = landed;
    };
    result.then(land, () => land());
    flights[key] = flight;
    return flight;
  };

  return {
    join: (key, start, gone) =>
      new Promise((resolve, reject) => {
        if (gone.aborted) return reject(gone.reason);
        const flight = flights[key] ?? begin(key, start);
        flight.users++;
        let isGone = false;
        const leave = () => {
          if (isGone) return;
          isGone = true;
          gone.removeEventListener("abort", go);
          if (--flight.users > 0) return;
          // Who comes now would join what ends.
          if (flights[key] === flight) delete flights[key];
          if (flight.landed) return flight.landed.end();
          flight.controller.abort(gone.reason);
          void flight.result.then((result) => result.end(), () => {});
        };
        const go = () => {
          leave();
          reject(gone.reason);
        };
        gone.addEventListener("abort", go);
        flight.result.then((result) => {
          if (isGone) return;
          if (result.isWhole || !flight.isTaken) {
            flight.isTaken = true;
            return resolve({ answer: result.answer, isWhole: result.isWhole, end: leave });
          }
          leave();
          start(following(gone)).then(resolve, reject);
        }, (error) => {
          leave();
          reject(error);
        });
      }),
  };
}
