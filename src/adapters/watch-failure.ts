/**
 * Observes errors of a host's stream.
 *
 * @module
 */

/**
 * Wraps a stream.
 *
 * @param onFailure called with the stream's error, before its reader gets it; not called on `cancel`
 */
export function watchFailure<T>(
  body: ReadableStream<T>,
  onFailure: (error: unknown) => void,
): ReadableStream<T> {
  const reader = body.getReader();
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        onFailure(error);
        throw error;
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
