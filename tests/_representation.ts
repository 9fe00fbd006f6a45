import type { Representation } from "../src/http/representation.ts";

const PLAIN = { headers: new Headers() }, COMMON = { headers: {}, vary: undefined };

/** Resolves to the content as a client gets it that accepts no coding. */
export const contentOf = async (representation: Representation): Promise<string> =>
  await representation.respond(PLAIN, COMMON).text();
