/**
 * The program that prepares a description in a thread, bundled as `generated/thread-program.js`.
 *
 * @module
 */
import { type File, ReadError } from "../openapi/files.ts";
import type { Form } from "../openapi/write.ts";
import { parentThread } from "../platform.ts";
import type { FromThread, ToThread } from "./thread.ts";
import { prepare, type PrepareJob } from "./prepare.ts";

type FileResponse = Exclude<ToThread, { job: unknown }>;

const parent = parentThread();
const waiting = new Map<string, (response: FileResponse) => void>();

parent.receive((data) => {
  const message = data as ToThread;
  if ("job" in message) return void work(message.job);
  waiting.get(message.url)!(message);
  waiting.delete(message.url);
});

async function read({ href }: URL): Promise<File | undefined> {
  say({ url: href });
  const response = await new Promise<FileResponse>((resolve) => waiting.set(href, resolve));
  if ("failure" in response) {
    const { failure, isExpected } = response;
    throw isExpected ? new ReadError(failure) : new Error(failure);
  }
  const { file } = response;
  return file && { ...file, url: new URL(file.url) };
}

async function work(job: PrepareJob): Promise<void> {
  const prepared = await prepare(job, read);
  if (!prepared.content) return say({ prepared: { ...prepared, content: undefined } });
  const { yaml: writing, ...content } = prepared.content;
  say({ prepared: { ...prepared, content } }, buffersOf(content.json));
  const yaml = await writing;
  say({ yaml }, "form" in yaml ? buffersOf(yaml.form) : []);
}

const buffersOf = ({ codings }: Form) => Object.values(codings).map(({ buffer }) => buffer);

const say = (message: FromThread, transfer?: ArrayBuffer[]) => parent.send(message, transfer);
