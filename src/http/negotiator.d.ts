/**
 * The method of `negotiator` 1.1 that is used. `@types/negotiator` 0.6 lacks `preferred`.
 *
 * @module
 */
declare module "negotiator" {
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> });
    /** The available codings that the client accepts, by weight, then in the order of `preferred`. */
    encodings<Coding extends string>(
      available: readonly Coding[],
      options: { preferred: readonly Coding[] },
    ): Coding[];
  }
}
