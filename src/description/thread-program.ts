/**
 * The program of the thread that prepares a description. `npm run assets` makes one text of it,
 * `generated/thread-program.js`.
 *
 * @module
 */
import { type File, ReadError } from "../openapi/files.ts";
import type { Form } from "../openapi/write.ts";
import { parentThread } from "../platform.ts";
import type { FromThread, ToThread } from "./thread.ts";
import { prepare, type PrepareJob } from "./prepare.ts";

const parent = parentThread();
const waiting = new Map<string, Waiting>();

interface Waiting {
  readonly resolve: (file: File | undefined) => void;
  readonly reject: (error: Error) => void;
}

parent.receive((data) => {
  const message = data as ToThread;
  if ("job" in message) return void work(message.job);
  const { resolve, reject } = waiting.get(message.url)!;
  waiting.delete(message.url);
  if ("failure" in message) {
    const { failure, isExpected } = message;
    return reject(isExpected ? new ReadError(failure) : new Error(failure));
  }
  const { file } = message;
  resolve(file && { ...file, url: new URL(file.url) });
});

async function work(job: PrepareJob): Promise<void> {
  const prepared = await prepare(job, ({ href }) => {
    say({ url: href });
    return new Promise((resolve, reject) => waiting.set(href, { resolve, reject }));
  });
  if (!prepared.content) return say({ prepared: { ...prepared, content: undefined } });
  const { yaml: writing, ...content } = prepared.content;
  say({ prepared: { ...prepared, content } }, buffersOf(content.json));
  const yaml = await writing;
  say({ yaml }, "form" in yaml ? buffersOf(yaml.form) : []);
}

function buffersOf({ codings }: Form): ArrayBuffer[] {
  return Object.values(codings).map(({ buffer }) => buffer);
}

function say(message: FromThread, transfer?: readonly ArrayBuffer[]): void {
  parent.send(message, transfer);
}
