/**
 * The methods of `negotiator` 1.1 that this service uses. `@types/negotiator` 0.6 lacks
 * `preferred`.
 *
 * @module
 */
declare module "negotiator" {
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> });
    mediaType<Type extends string>(available: readonly Type[]): Type | undefined;
    encodings<Coding extends string>(
      available: readonly Coding[],
      options: { preferred: readonly Coding[] },
    ): Coding[];
  }
}
