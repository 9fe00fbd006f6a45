/**
 * Prepares a description in a thread of its own, so that the service goes on meanwhile and the memory that
 * it takes is given back.
 *
 * @module
 */
import { LIMITS } from "../openapi/limits.ts";
import { type Reader, ReadError } from "../openapi/files.ts";
import { startThread } from "../platform.ts";
import type { FromThread, ToThread } from "./messages.ts";
import {
  failed,
  type Prepared,
  type PrepareJob,
  withoutYaml,
  type WrittenYaml,
} from "./prepare.ts";

/**
 * Prepares a description in a thread, which goes on until it has written the YAML as well. Never rejects:
 * that the thread fails, or takes more time or memory than it may, is a finding.
 *
 * @param job what is sent to the thread
 * @param read reads the files that the thread asks for; their bytes are given away
 * @param limits in milliseconds and bytes
 * @param start starts the thread
 * @returns `undefined` if there can be no thread
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
    settle(failed(job, stamps, error));
    settleYaml(withoutYaml(job, error));
  };
  let html = "";
  const timer = setTimeout(() => fail(`it takes more than ${time / 1000} s`), time);
  const thread = await start(PROGRAM, {
    onMessage(data) {
      const message = data as FromThread;
      if ("prepared" in message) {
        const { content, ...rest } = message.prepared;
        if (!content) return settle({ ...rest, content });
        const page = { ...content.page, content: html };
        settle({ ...rest, content: { ...content, page, yaml } });
      } else if ("html" in message) {
        html += message.html;
      } else if ("yaml" in message) settleYaml(message.yaml);
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
