/**
 * Reads the body of a call: bounded in size and time.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import { withTimeout } from "../with-timeout.ts";

/** The longest body, in bytes. */
export const BODY_MAX: number = 1024 * 1024;

/** How long a body may take, in milliseconds. */
const TIMEOUT = 10_000;

/** Why a body cannot be had: the status of the answer and its sentence. */
export interface BodyRefusal {
  readonly status: 400 | 408 | 413;
  readonly detail: string;
}

const TOO_LARGE: BodyRefusal = {
  status: 413,
  detail: `The content of a call has at most ${BODY_MAX / 1024} KiB`,
};

/** Reads the body of a request. */
export async function readBody(
  request: Request,
): Promise<Uint8Array<ArrayBuffer> | BodyRefusal> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_MAX) return TOO_LARGE;
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let length = 0;
  const until = performance.now() + TIMEOUT;
  try {
    for (;;) {
      const late = { done: true, value: undefined, isLate: true } as const;
      const left = Math.max(0, until - performance.now());
      const read = await withTimeout(reader.read(), left, () => late);
      if ("isLate" in read) {
        void reader.cancel().catch(() => {});
        return { status: 408, detail: "The content of the call does not arrive in time" };
      }
      if (read.done) return joinBytes(parts);
      length += read.value.byteLength;
      if (length > BODY_MAX) {
        void reader.cancel().catch(() => {});
        return TOO_LARGE;
      }
      parts.push(read.value);
    }
  } catch {
    return { status: 400, detail: "The content of the call breaks off" };
  }
}

/** Some bytes as text; `undefined` where they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
