/**
 * Prepares a description in a thread of its own, so that the service goes on meanwhile and the memory that
 * it takes is given back.
 *
 * @module
 */
import { LIMITS } from "../openapi/limits.ts";
import type { LoadJob } from "../openapi/load.ts";
import { type Reader, ReadError } from "../openapi/read-file-or-url.ts";
import { startThread } from "../platform.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { failed, type Prepared } from "./prepare.ts";

/**
 * Prepares a description in a thread. Never rejects: that the thread fails, or takes more time or memory
 * than it may, is a finding.
 *
 * @param job what is sent to the thread
 * @param read reads the files that the thread asks for; their bytes are given away
 * @param limits in milliseconds and bytes
 * @returns `undefined` if there can be no thread
 */
export async function prepareInThread(
  job: LoadJob,
  read: Reader,
  { time, memory }: { time: number; memory: number } = LIMITS,
): Promise<Prepared | undefined> {
  const { PROGRAM } = await import("../generated/thread-program.js");
  const stamps = new Map([[job.entry, ""]]);
  let settle: (prepared: Prepared) => void;
  const prepared = new Promise<Prepared>((resolve) => settle = resolve);
  const fail = (reason: string) => settle(failed(job, stamps, new Error(reason)));
  const timer = setTimeout(() => fail(`it takes more than ${time / 1000} s`), time);
  const thread = await startThread(PROGRAM, {
    onMessage(data) {
      const message = data as FromThread;
      if ("prepared" in message) settle(message.prepared);
      else void answer(message.url);
    },
    onFailure: (reason) => fail(`it ${reason}`),
  }, memory);
  const say = (message: ToThread, transfer?: ArrayBuffer[]) => thread?.send(message, transfer);
  const answer = async (url: string) => {
    try {
      const file = await read(new URL(url));
      if (!file) return say({ url, file });
      const { bytes, isJson, stamp } = file;
      stamps.set(url, stamp);
      say({ url, file: { url: file.url.href, bytes, isJson, stamp } }, [bytes.buffer]);
    } catch (error) {
      const { message } = error as Error;
      say({ url, failure: message, isExpected: error instanceof ReadError });
    }
  };
  try {
    say({ job });
    return thread && await prepared;
  } catch (error) {
    return failed(job, stamps, error);
  } finally {
    clearTimeout(timer);
    thread?.end();
  }
}
