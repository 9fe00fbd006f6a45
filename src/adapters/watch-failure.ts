/**
 * Tells of a host's stream that fails while it is sent.
 *
 * @module
 */

/**
 * Gives a stream of the same chunks.
 *
 * @param onFailure called with the error before the reader meets it; not called where the reader cancels
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
