/**
 * The one method of negotiator that is used: its types on npm are of an older version, which does not
 * know `preferred`.
 *
 * @module
 */
declare module "negotiator" {
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> });
    /**
     * The codings of some that the client accepts, those with the highest weight first.
     *
     * @param available the codings that there are
     * @param options `preferred`: which comes first where weights are equal
     */
    encodings<Coding extends string>(
      available: readonly Coding[],
      options: { preferred: readonly Coding[] },
    ): Coding[];
  }
}
