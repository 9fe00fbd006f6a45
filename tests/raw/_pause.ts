/** Longer than any limit for a connection without bytes. */
export const PAUSE_MS = 40_000;
