/**
 * Returns a text that differs in each run of the service. On workerd, it can be made only while a
 * request is handled.
 */
export const createRunId = (): string =>
  crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(36);
