/**
 * The one door out of web standards for the portable code: brotli, files, programs and the
 * environment. Every module of `node:` is imported when it is first needed, so that a bundle for a
 * worker loads; there each function says that it has no such thing.
 *
 * @module
 */
import { withTimeout } from "./with-timeout.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Why a file cannot be read or a program cannot be run, as the end of a sentence about it. */
export class PlatformError extends Error {
  override name = "PlatformError";
}

/** What a failure to read a file means, by its code or its name. */
const FILE_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder",
  NotCapable: "the runtime has not been allowed to read it",
};

/** What a failure to start a program means, by its code or its name. */
const PROGRAM_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "this user may not run it",
  NotCapable: "the runtime has not been allowed to run it",
};

/** Of the environment a program is given no more than programs need: it may hold secrets. */
const PROGRAM_ENVIRONMENT = ["PATH", "HOME", "LANG"];

/** A file as it is found. */
export interface FoundFile {
  /** Its own URL, after links. */
  readonly url: URL;
  /** In bytes. */
  readonly size: number;
  /** Changes with the content. */
  readonly stamp: string;
}

/** How much is taken of a file or a program, and how long it may take. */
export interface Bounds {
  /** In bytes. */
  readonly limit: number;
  /** In milliseconds. */
  readonly timeout: number;
}

/**
 * Encodes bytes as brotli (RFC 7932).
 *
 * @returns `undefined` where the runtime has no encoder, as workerd without flags
 */
export async function brotli(bytes: Bytes): Promise<Bytes | undefined> {
  const zlib = await import("node:zlib").catch(() => undefined);
  if (!zlib?.createBrotliCompress) return undefined;
  const { constants, createBrotliCompress } = zlib;
  // The usual window makes a description of 10 MB no smaller, and takes four times the memory.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 18 };
  const encoder = createBrotliCompress({ params });
  const encoded: Uint8Array[] = [];
  encoder.on("data", (chunk: Uint8Array) => encoded.push(chunk));
  const ended = new Promise((resolve, reject) => encoder.on("end", resolve).on("error", reject));
  encoder.end(bytes);
  await ended;
  return new Uint8Array(await new Blob(encoded as BlobPart[]).arrayBuffer());
}

/** The value of an environment variable, where the runtime has any and lets it be read. */
export function readVariable(name: string): string | undefined {
  try {
    return globalThis.process?.env[name];
  } catch {
    return undefined;
  }
}

/**
 * The URL of a file.
 *
 * @param path absolute, relative to the working directory, or with `~/` for the home directory
 * @throws {PlatformError} where there are no files
 */
export async function fileUrl(path: string): Promise<URL> {
  const { pathToFileURL } = await import("node:url").catch(withoutFiles);
  return pathToFileURL(expandHome(path));
}

/**
 * Looks at a file that an operator names; never one that a request names.
 *
 * @throws {PlatformError} where there is none
 */
export async function findFile(url: URL): Promise<FoundFile> {
  try {
    const { realpath, stat } = await import("node:fs/promises").catch(withoutFiles);
    const { fileURLToPath, pathToFileURL } = await import("node:url");
    const path = await realpath(fileURLToPath(url));
    const found = await stat(path);
    if (!found.isFile()) throw new PlatformError("it is no regular file");
    const { size, mtimeMs, ino } = found;
    return { url: pathToFileURL(path), size, stamp: `${mtimeMs}-${ino}-${size}` };
  } catch (error) {
    throw explain(error, FILE_FAILURES);
  }
}

/**
 * Reads a file that an operator names; never one that a request names.
 *
 * @param place its URL, or a path as of {@linkcode fileUrl}
 * @throws {PlatformError} where it is not there, is larger than the limit or takes too long
 */
export async function readFile(place: string | URL, { limit, timeout }: Bounds): Promise<Bytes> {
  try {
    // A disk may hang, too.
    return await withTimeout(read(place, limit), timeout, () => {
      throw new PlatformError(takesLonger(timeout));
    });
  } catch (error) {
    throw explain(error, FILE_FAILURES);
  }
}

async function read(place: string | URL, limit: number): Promise<Bytes> {
  const { open, stat } = await import("node:fs/promises").catch(withoutFiles);
  const path = typeof place === "string" ? expandHome(place) : place;
  // Neither a device nor a pipe, which would never end; asked before it is opened.
  const found = await stat(path);
  if (!found.isFile()) throw new PlatformError("it is no regular file");
  if (found.size > limit) throw new PlatformError(isLarger(limit));
  const file = await open(path, "r");
  try {
    // Files of `/proc` have a content and no size.
    const buffer = new Uint8Array(Math.min(Math.max(found.size, SMALL), limit) + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > limit) throw new PlatformError(isLarger(limit));
    return buffer.slice(0, length);
  } finally {
    await file.close();
  }
}

/** What is read of a file that says it is smaller, in bytes. */
const SMALL = 65_536;

/**
 * Runs a program to its end; no shell reads its arguments. It is killed where it takes too long or
 * prints too much.
 *
 * @param command the program and its arguments
 * @returns what it prints on its standard output
 * @throws {PlatformError} where it cannot be run, or ends with another code than 0
 */
export async function runProgram(
  command: readonly string[],
  { limit, timeout }: Bounds,
): Promise<string> {
  const [program = "", ...args] = command;
  const { spawn } = await import("node:child_process").catch(() => {
    throw new PlatformError("no program can be run here");
  });
  const env: Record<string, string> = {};
  for (const name of PROGRAM_ENVIRONMENT) {
    const value = readVariable(name);
    if (value !== undefined) env[name] = value;
  }
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    const decoder = new TextDecoder();
    let text = "";
    let length = 0;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      // A program that it started may hold the pipe open after its own end.
      child.stdout.destroy();
      end();
    };
    const fail = (reason: PlatformError) => {
      child.kill("SIGKILL");
      settle(() => reject(reason));
    };
    const timer = setTimeout(() => fail(new PlatformError(takesLonger(timeout))), timeout);
    child.stdout.on("data", (chunk: Uint8Array) => {
      length += chunk.byteLength;
      if (length > limit) return fail(new PlatformError(`it prints more than ${inMiB(limit)}`));
      text += decoder.decode(chunk, { stream: true });
    });
    child.on("error", (error) => fail(explain(error, PROGRAM_FAILURES)));
    child.on("close", (code, signal) => {
      if (code !== 0) return fail(new PlatformError(`it ends with ${code ?? signal}`));
      settle(() => resolve(text + decoder.decode()));
    });
  });
}

function expandHome(path: string): string {
  const home = readVariable("HOME") ?? readVariable("USERPROFILE");
  return home && path.startsWith("~/") ? home + path.slice(1) : path;
}

function withoutFiles(): never {
  throw new PlatformError("no file can be read here");
}

function explain(error: unknown, reasons: Readonly<Record<string, string>>): PlatformError {
  if (error instanceof PlatformError) return error;
  const { code, name } = error as { code?: string; name: string };
  const reason = code ?? name;
  return new PlatformError(reasons[name] ?? reasons[reason] ?? reason, { cause: error });
}

const takesLonger = (timeout: number) => `it takes longer than ${timeout} ms`;
const isLarger = (limit: number) => `it is larger than ${inMiB(limit)}`;
const inMiB = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
