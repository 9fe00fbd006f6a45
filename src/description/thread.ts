/**
 * Prepares a large description in a separate thread, so that requests need not wait. When the thread ends, all of its
 * memory is freed.
 *
 * @module
 */
import { type File, type Reader, ReadError } from "../openapi/files.ts";
import { formatSize, LIMITS } from "../openapi/diagnostics.ts";
import { startThread } from "../platform.ts";
import {
  type Content,
  failed,
  type Prepare,
  prepare,
  type Prepared,
  type PrepareJob,
  withoutYaml,
  type WrittenYaml,
} from "./prepare.ts";

/** In bytes. Preparing a description of this size in the main thread delays others by up to 60 ms. */
const SMALL = 65_536;
/** In bytes. A hostile description of this size delays others about as long. */
const SMALL_FROM_NETWORK = 16_384;

export function createPrepare(log: (message: string) => void): Prepare {
  let hasThreads = true;
  return async (job, read) => {
    const known = new Map<string, File | undefined>();
    let size = 0;
    const prepareHere = (limit: number, refuse: () => Error) => {
      size = 0;
      return prepare(job, async (url) => {
        const file = known.has(url.href) ? known.get(url.href) : await read(url);
        known.set(url.href, file);
        size += file?.bytes.length ?? 0;
        if (size > limit) throw refuse();
        return file;
      });
    };
    const small = /^(?:https?|jsonrpc):/.test(job.entry) ? SMALL_FROM_NETWORK : SMALL;
    const here = await prepareHere(small, () => new Error("is large"));
    if (size <= small) return here;
    if (hasThreads) {
      const prepared = await prepareInThread(job, (url) => {
        const file = known.get(url.href);
        known.delete(url.href);
        return file ? Promise.resolve(file) : read(url);
      });
      if (prepared) return prepared;
      hasThreads = false;
      log(
        "this runtime has no threads: requests wait while a large description " +
          `(at most ${formatSize(LIMITS.withoutThread)}) is prepared`,
      );
    }
    const most = `${formatSize(LIMITS.withoutThread)}, the limit without threads`;
    const refuse = () => new ReadError(`it is larger than ${most}`);
    return await prepareHere(LIMITS.withoutThread, refuse);
  };
}

/**
 * Never rejects: failures and exceeded limits become diagnostics.
 *
 * @param read a function that reads a file; the file's bytes are transferred to the thread
 * @param limits `time` in milliseconds, `memory` in bytes
 * @returns `undefined` if the runtime has no threads
 */
export async function prepareInThread(
  job: PrepareJob,
  read: Reader,
  { time, memory }: { time: number; memory: number } = LIMITS,
  start: typeof startThread = startThread,
): Promise<Prepared | undefined> {
  const { PROGRAM } = await import("../generated/thread-program.js");
  const stamps = new Map([[job.entry, ""]]);
  let settle: (prepared: Prepared) => void;
  const prepared = new Promise<Prepared>((resolve) => settle = resolve);
  let settleYaml: (yaml: WrittenYaml) => void;
  const yaml = new Promise<WrittenYaml>((resolve) => settleYaml = resolve);
  const fail = (reason: string) => {
    const error = new Error(reason);
    settle(failed(job.entry, stamps, error));
    settleYaml(withoutYaml(job.entry, error));
  };
  const timer = setTimeout(() => fail(`the thread takes more than ${time / 1000} s`), time);
  const thread = await start(PROGRAM, {
    onMessage(data) {
      const message = data as FromThread;
      if ("prepared" in message) {
        const { content, ...rest } = message.prepared;
        settle({ ...rest, content: content && { ...content, yaml } });
      } else if ("yaml" in message) settleYaml(message.yaml);
      else void respond(message.url);
    },
    onFailure: (reason) => fail(`the thread ${reason}`),
  }, memory);
  const say = (message: ToThread, transfer?: ArrayBuffer[]) => thread?.send(message, transfer);
  const respond = async (url: string) => {
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
  const end = () => {
    clearTimeout(timer);
    thread?.end();
  };
  try {
    say({ job });
  } catch (error) {
    fail((error as Error).message);
  }
  if (!thread) return void end();
  const done = await prepared;
  if (done.content) void yaml.then(end);
  else end();
  return done;
}

/** A message to the thread: the job or a requested file. The thread cannot read files itself. */
export type ToThread =
  | { readonly job: PrepareJob }
  | {
    readonly url: string;
    readonly file: Omit<File, "url"> & { readonly url: string } | undefined;
  }
  /** `isExpected` is true for a `ReadError`. */
  | { readonly url: string; readonly failure: string; readonly isExpected: boolean };

/** A message with only a `url` asks for the file at that URL. */
export type FromThread =
  | { readonly url: string }
  | {
    readonly prepared: Omit<Prepared, "content"> & { content: Omit<Content, "yaml"> | undefined };
  }
  | { readonly yaml: WrittenYaml };
