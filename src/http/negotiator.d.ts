/**
 * The one function of negotiator that is used; the types that there are for the package know of the
 * whole only, and of an older one.
 *
 * @module
 */
declare module "negotiator/lib/encoding.js" {
  /**
   * The codings of some that a client accepts, those with the highest weight first.
   *
   * @param accept the value of `Accept-Encoding`
   * @param provided the codings that there are
   * @param preferred which comes first where weights are equal
   */
  export default function preferredEncodings<Coding extends string>(
    accept: string,
    provided: readonly Coding[],
    preferred: readonly Coding[],
  ): Coding[];
}
