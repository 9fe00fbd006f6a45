/**
 * Tells the runs of the service apart.
 *
 * @module
 */

/** On workerd, random values can be had only while a request is handled. */
export const createRunId = (): string =>
  crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(36);
