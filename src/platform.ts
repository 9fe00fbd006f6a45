/**
 * What portable code needs beyond web standards: brotli, files, programs, the environment, and a `fetch`
 * that takes a certificate authority. Modules of `node:` are imported on demand, so that a worker can load
 * this file; there these functions throw.
 *
 * @module
 */
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { joinBytes } from "./bytes.ts";
import { withSignal, withTimeout } from "./with-timeout.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Why a file cannot be read or a program cannot be run; the message completes a sentence about it. */
export class PlatformError extends Error {
  override name = "PlatformError";
}

/** Messages by the code or the name of an error. */
const FILE_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder",
  NotCapable: "the runtime has not been allowed to read it",
};

const PROGRAM_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "this user may not run it",
  NotCapable: "the runtime has not been allowed to run it",
};

/** The variables that a program inherits; others may be secrets. */
const PROGRAM_ENVIRONMENT = ["PATH", "HOME", "LANG"];

/** An existing file. */
export interface FoundFile {
  /** Its URL, with symbolic links resolved. */
  readonly url: URL;
  /** In bytes. */
  readonly size: number;
  /** Changes when the content changes. */
  readonly stamp: string;
}

/** Limits for reading a file or running a program. */
export interface Bounds {
  /** In bytes. */
  readonly limit: number;
  /** In milliseconds. */
  readonly timeout: number;
  /** Kills a program early. */
  readonly signal?: AbortSignal;
}

/**
 * Encodes bytes as brotli (RFC 7932) or gzip (RFC 1952).
 *
 * @param parts each is done with when the next is asked for
 * @returns `undefined` if the runtime has no encoder, such as workerd without `nodejs_compat`
 */
export async function compress(
  coding: "br" | "gzip",
  parts: Iterable<Bytes>,
): Promise<Bytes | undefined> {
  const zlib = await import("node:zlib").catch(() => undefined);
  if (!zlib?.createBrotliCompress) return undefined;
  const { constants, createBrotliCompress, createGzip } = zlib;
  // The default window takes four times the memory, and makes a description of 10 MB no smaller.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 18 };
  const encoder = coding === "br" ? createBrotliCompress({ params }) : createGzip();
  const encoded: Uint8Array[] = [];
  encoder.on("data", (chunk: Uint8Array) => encoded.push(chunk));
  const ended = new Promise((resolve, reject) => encoder.on("end", resolve).on("error", reject));
  const write = async () => {
    for (const part of parts) await new Promise((resolve) => encoder.write(part, resolve));
    encoder.end();
  };
  await Promise.all([ended, write()]);
  return joinBytes(encoded);
}

/** An environment variable; `undefined` if the runtime has none or denies access. */
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
 * @throws {PlatformError} if the runtime has no files
 */
export async function fileUrl(path: string): Promise<URL> {
  const { pathToFileURL } = await import("node:url").catch(withoutFiles);
  return pathToFileURL(expandHome(path));
}

/**
 * Looks up a file. The name must come from the operator, never from a request.
 *
 * @throws {PlatformError} if there is no such file
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
 * Reads a file. The name must come from the operator, never from a request.
 *
 * @param place a URL, or a path as for {@linkcode fileUrl}
 * @throws {PlatformError} if it cannot be read within the bounds
 */
export async function readFile(place: string | URL, { limit, timeout }: Bounds): Promise<Bytes> {
  try {
    // A network disk may hang.
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
  // Opening a pipe would block, and a device may never end.
  const found = await stat(path);
  if (!found.isFile()) throw new PlatformError("it is no regular file");
  if (found.size > limit) throw new PlatformError(isLarger(limit));
  const file = await open(path, "r");
  try {
    // Files of `/proc` have a size of 0.
    const buffer = new Uint8Array(Math.min(Math.max(found.size, BUFFER_BYTES_MIN), limit) + 1);
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

const BUFFER_BYTES_MIN = 65_536;

/**
 * Runs a program without a shell. Beyond the bounds it is killed with everything that it has started.
 *
 * @param command the program and its arguments
 * @returns its standard output
 * @throws {PlatformError} if it cannot be run, exceeds the bounds or exits with another code than 0
 */
export async function runProgram(
  command: readonly string[],
  { limit, timeout, signal }: Bounds,
): Promise<string> {
  const [program = "", ...args] = command;
  const { spawn } = await import("node:child_process").catch(() => {
    throw new PlatformError("no program can be run here");
  });
  if (signal?.aborted) throw new PlatformError(STOPPED);
  const env: Record<string, string> = {};
  for (const name of PROGRAM_ENVIRONMENT) {
    const value = readVariable(name);
    if (value !== undefined) env[name] = value;
  }
  // A group of processes of its own; Windows has none, and would open a window.
  const detached = globalThis.process.platform !== "win32";
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, detached, stdio: ["ignore", "pipe", "ignore"] });
    const decoder = new TextDecoder();
    let text = "";
    let length = 0;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      // A child of the program may keep the pipe open.
      child.stdout.destroy();
      end();
    };
    const fail = (reason: PlatformError) => {
      if (!child.pid || !detached || !killGroup(child.pid)) child.kill("SIGKILL");
      settle(() => reject(reason));
    };
    const stop = () => fail(new PlatformError(STOPPED));
    const timer = setTimeout(() => fail(new PlatformError(takesLonger(timeout))), timeout);
    signal?.addEventListener("abort", stop);
    child.stdout.on("data", (chunk: Uint8Array) => {
      length += chunk.byteLength;
      if (length > limit) return fail(new PlatformError(`it prints more than ${inMiB(limit)}`));
      text += decoder.decode(chunk, { stream: true });
    });
    child.on("error", (error) => settle(() => reject(explain(error, PROGRAM_FAILURES))));
    child.on("close", (code, signal) => {
      if (code !== 0) {
        return settle(() => reject(new PlatformError(`it ends with ${code ?? signal}`)));
      }
      settle(() => resolve(text + decoder.decode()));
    });
  });
}

const STOPPED = "it is no longer needed";

/** Kills the processes of a group; returns whether there was one, and the runtime allows it. */
function killGroup(leader: number): boolean {
  try {
    return globalThis.process.kill(-leader, "SIGKILL");
  } catch {
    return false;
  }
}

/** A certificate authority of one's own. */
export interface Tls {
  /** Certificates in PEM. */
  readonly ca: string;
}

/** What Deno and Bun add to `fetch`. */
type FetchExtensions = RequestInit & { tls?: Tls; client?: unknown };

/** What is used of Deno; its HTTP clients are stable since 2.0. */
interface DenoClients {
  createHttpClient(options: { caCerts?: string[]; poolMaxIdlePerHost?: number }): unknown;
}

/**
 * Makes a `fetch` for URLs. With `keepalive: false` a request gets a connection of its own, as on Bun.
 *
 * @param tls whom to trust besides; without it, those that the runtime trusts
 * @throws {PlatformError} if the text holds no certificate, or the runtime takes none
 */
export function createFetch(tls?: Tls): typeof fetch {
  if (tls && !holdsCertificates(tls.ca)) {
    throw new PlatformError("it holds no certificate in PEM");
  }
  const { Bun, Deno, process, navigator } = globalThis as typeof globalThis & {
    Bun?: unknown;
    Deno?: DenoClients;
  };
  if (Bun) return fetchOfBun(tls);
  if (Deno) return fetchOfDeno(Deno, tls);
  // workerd has `process` as well.
  if (process?.versions?.node && navigator?.userAgent !== "Cloudflare-Workers") {
    return fetchOfNode(tls);
  }
  if (tls) throw new PlatformError("this runtime takes no certificate authority of one's own");
  return (input, init) => fetch(input, init);
}

/** Whether a text has certificates (RFC 7468, section 5), which the runtimes say late or not at all. */
function holdsCertificates(text: string): boolean {
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)];
  return blocks.length > 0 && blocks.every(([, base64 = ""]) => {
    try {
      return atob(base64.replaceAll(/\s/g, "")).startsWith("\x30");
    } catch {
      return false;
    }
  });
}

function fetchOfBun(tls: Tls | undefined): typeof fetch {
  return (input, init) => fetch(input, { ...init, ...(tls && { tls }) } as FetchExtensions);
}

function fetchOfDeno(deno: DenoClients, tls: Tls | undefined): typeof fetch {
  const trust = tls && { caCerts: [tls.ca] };
  const kept = tls && deno.createHttpClient({ ...trust });
  let single: unknown;
  return (input, init) => {
    const client = init?.keepalive === false
      ? single ??= deno.createHttpClient({ ...trust, poolMaxIdlePerHost: 0 })
      : kept;
    return fetch(input, { ...init, ...(client ? { client } : {}) } as FetchExtensions);
  };
}

/** How long a connection is kept for the next request, in milliseconds. */
const IDLE_TIMEOUT = 4000;

/** The `fetch` of Node takes no certificate authority, and no word on connections. */
function fetchOfNode(tls: Tls | undefined): typeof fetch {
  const agents: Record<string, import("node:http").Agent> = {};
  return async (input, { method, headers, body, signal, keepalive } = {}) => {
    const url = new URL(String(input));
    const [{ request, Agent }, { Readable }, { rootCertificates }] = await Promise.all([
      url.protocol === "https:" ? import("node:https") : import("node:http"),
      import("node:stream"),
      import("node:tls"),
    ]);
    const agent = keepalive !== false &&
      (agents[url.protocol] ??= new Agent({ keepAlive: true, timeout: IDLE_TIMEOUT }));
    return await new Promise((resolve, reject) => {
      const options = {
        method: method ?? "GET",
        headers: Object.fromEntries(new Headers(headers)),
        agent,
        ...tls && { ca: [...rootCertificates, tls.ca] },
        ...(signal && { signal }),
      };
      const sent = request(url, options, (answer) => {
        try {
          resolve(toResponse(answer.statusCode ?? 0, answer.rawHeaders, answer, Readable.toWeb));
        } catch (error) {
          sent.destroy();
          reject(error);
        }
      });
      // An upgrade, for one, ends a request without an error or an answer (Node 20.20).
      sent.on("close", () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
      sent.on("error", reject).end(body ?? undefined);
    });
  };
}

/** @throws {Error} with the code of a parser, for a status that HTTP does not have */
function toResponse(
  status: number,
  raw: readonly string[],
  body: Readable,
  toWeb: (body: Readable) => NodeStream,
): Response {
  if (status < 200 || status > 599) {
    throw Object.assign(new Error("status"), { code: "HPE_INVALID_STATUS" });
  }
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at]!, raw[at + 1]!);
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : toWeb(body) as ReadableStream, { status, headers });
}

/** A call of another server. */
export interface OutgoingCall {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
  /**
   * For a call that must not arrive twice: it gets a fresh connection, which it shares with others that have the same
   * object. Without one it is sent once more where a kept connection turns out to be closed.
   */
  readonly once?: object | undefined;
  /** Ends the call, and the reading of its answer; its reason is what these reject with. */
  readonly signal: AbortSignal;
}

/** The answer to a call, of which no more is read than is asked for. */
export interface IncomingAnswer {
  /** 200 to 599. */
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** Reads the next bytes; `undefined` at the end. Rejects where the answer breaks off. */
  next(): Promise<Bytes | undefined>;
  /** Lets go of the rest; the connection is not used again, unless the answer has ended. */
  cancel(): void;
}

/** Calls another server. Follows no redirects, and decodes nothing. */
export type CallOut = (call: OutgoingCall) => Promise<IncomingAnswer>;

/**
 * Makes what calls other servers, with `node:http` where there is one: the `fetch` of Deno 2.9 sends a request again
 * that was read but not answered, and that of Bun 1.4 does if it is a GET.
 *
 * @param tls as for {@linkcode createFetch}
 * @throws {PlatformError} as {@linkcode createFetch}
 */
export function createCallOut(tls?: Tls): CallOut {
  if (tls && !holdsCertificates(tls.ca)) {
    throw new PlatformError("it holds no certificate in PEM");
  }
  const { process, navigator } = globalThis;
  if (process?.versions?.node && navigator?.userAgent !== "Cloudflare-Workers") {
    return callOutOfNode(tls);
  }
  const fetch = createFetch(tls);
  return (call) => callByFetch(fetch, call);
}

/** What is used of `node:http`, or of `node:https`. */
interface HttpModule {
  readonly request: typeof import("node:http").request;
  readonly Agent: typeof import("node:http").Agent;
}

/** How long the connection of calls that have it to themselves is kept for the next of them, in milliseconds. */
const ONCE_TIMEOUT = 500;

function callOutOfNode(tls: Tls | undefined): CallOut {
  interface Client {
    readonly http: HttpModule;
    readonly kept: RequestOptions;
    readonly fresh: () => RequestOptions;
  }
  const clients: Record<string, Client> = {};
  const open = async (protocol: string): Promise<Client> => {
    const http: HttpModule =
      await (protocol === "https:"
        ? import("node:https") as Promise<unknown> as Promise<HttpModule>
        : import("node:http"));
    const { rootCertificates } = tls ? await import("node:tls") : { rootCertificates: [] };
    const trust = tls && { ca: [...rootCertificates, tls.ca] };
    const connect = (timeout: number, keepAlive = true) => ({
      agent: new http.Agent({ keepAlive, timeout }),
      ...trust,
    });
    const fresh = () => {
      const options = connect(ONCE_TIMEOUT);
      const { agent } = options as { agent: ReusingAgent };
      const { reuseSocket } = agent;
      agent.reuseSocket = (socket, request) => {
        reuseSocket.call(agent, socket, request);
        // Otherwise Deno 2.9 sends it again by itself when the connection closes.
        request.reusedSocket = false;
      };
      return options;
    };
    // Deno 2.9 never closes a connection that was used before where a call on it is cancelled.
    return clients[protocol] = {
      http,
      fresh,
      kept: connect(IDLE_TIMEOUT, !("Deno" in globalThis)),
    };
  };
  const connections = new WeakMap<object, RequestOptions>();
  return async (call) => {
    const { once, signal } = call;
    const url = new URL(call.url);
    const { http, kept, fresh } = clients[url.protocol] ?? await open(url.protocol);
    if (once) {
      const connection = connections.get(once) ?? fresh();
      connections.set(once, connection);
      return await sendOut(http, url, call, connection);
    }
    try {
      return await sendOut(http, url, call, kept);
    } catch (error) {
      if (!(error as Stale).isStale || signal.aborted) throw error;
      return await sendOut(http, url, call, fresh());
    }
  };
}

/** A method that `@types/node` leaves out (https://nodejs.org/api/http.html#agentreusesocketsocket-request). */
interface ReusingAgent {
  reuseSocket(socket: unknown, request: { reusedSocket: boolean }): void;
}

/** How much of an answer waits for whoever reads it, in bytes. */
const WAITING_MAX = 65_536;

/** An error on a kept connection, which the other side may have closed before the request. */
type Stale = Error & { isStale?: boolean };

function sendOut(
  { request }: HttpModule,
  { hostname, port, pathname, search }: URL,
  { method, headers, body, signal }: OutgoingCall,
  connection: RequestOptions,
): Promise<IncomingAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const options = {
      ...connection,
      ...{ method, headers: withLength(headers, method, body) },
      // Brackets belong to the URL.
      host: hostname.replace(/^\[|\]$/g, ""),
      path: pathname + search,
      ...port !== "" && { port },
    };
    let answer: IncomingMessage | undefined;
    let failure: { readonly reason: unknown } | undefined;
    let hasEnded = false;
    let wake = () => {};
    const waiting: Bytes[] = [];
    let waitingBytes = 0;
    const take = (part: Bytes) => {
      waiting.push(part);
      waitingBytes += part.byteLength;
      if (waitingBytes > WAITING_MAX) answer!.pause();
      wake();
    };
    const sent = request(options, (message) => {
      answer = message;
      const { statusCode: status = 0, rawHeaders } = message;
      message.on("data", take).on("error", fail);
      message.on("end", () => {
        // Deno 2.9 ends an answer that has broken off.
        if (!message.complete) return fail(closed());
        hasEnded = true;
        signal.removeEventListener("abort", stop);
        wake();
      });
      message.on("close", cancel);
      if (status < 200 || status > 599) {
        return fail(Object.assign(new Error("status"), { code: "HPE_INVALID_STATUS" }));
      }
      resolve({ status, headers: fieldsOf(rawHeaders), next, cancel });
    });
    const fail = (reason: unknown) => {
      if (hasEnded || failure) return;
      failure = { reason };
      signal.removeEventListener("abort", stop);
      sent.destroy();
      reject(reason);
      wake();
    };
    const stop = () => fail(signal.reason);
    const next = async (): Promise<Bytes | undefined> => {
      for (;;) {
        if (failure) throw failure.reason;
        const part = waiting.shift();
        if (part) {
          waitingBytes -= part.byteLength;
          if (waiting.length === 0 && answer!.isPaused()) answer!.resume();
          return part;
        }
        if (hasEnded) return undefined;
        await new Promise<void>((resolve) => wake = resolve);
      }
    };
    const cancel = () => {
      if (!hasEnded) fail(closed());
    };
    signal.addEventListener("abort", stop);
    sent.on("error", (error: Stale) => {
      error.isStale = sent.reusedSocket && !answer;
      fail(error);
    });
    // An upgrade, for one, ends a request without an error or an answer (Node 20.20).
    sent.on("close", () => answer || fail(closed()));
    sent.end(body);
  });
}

const closed = () => Object.assign(new Error("closed"), { code: "ECONNRESET" });

/** Says how long the content is, also where there is none but the method expects some (RFC 9110, section 8.6). */
function withLength(
  headers: OutgoingCall["headers"],
  method: string,
  body: Bytes | undefined,
): Record<string, string> {
  const isExpected = body !== undefined || /^(?:POST|PUT|PATCH)$/.test(method);
  return { ...headers, ...isExpected && { "content-length": String(body?.byteLength ?? 0) } };
}

/** Reads headers of alternating names and values; several values are joined by commas. */
function fieldsOf(raw: readonly string[]): Pick<Headers, "get"> {
  return {
    get(name) {
      const wanted = name.toLowerCase();
      let value: string | null = null;
      for (let at = 0; at < raw.length; at += 2) {
        if (raw[at]!.length !== wanted.length || raw[at]!.toLowerCase() !== wanted) continue;
        value = value === null ? raw[at + 1]! : `${value}, ${raw[at + 1]}`;
      }
      return value;
    },
  };
}

async function callByFetch(
  fetch: typeof globalThis.fetch,
  { method, url, headers, body, signal }: OutgoingCall,
): Promise<IncomingAnswer> {
  const init = { method, headers, body: body ?? null, redirect: "manual", signal } as const;
  const response = await withSignal(fetch(url, init), signal);
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    next: async () =>
      reader && (await withSignal(reader.read(), signal)).value as Bytes | undefined,
    cancel,
  };
}

/** What workerd adds to the streams. */
interface WorkerdStreams {
  FixedLengthStream?: new (length: number) => TransformStream<Bytes, Bytes>;
}

/**
 * Whether a client can see that a body of unknown length breaks off: workerd sends the last chunk even where a stream
 * fails (seen in 2026-11).
 */
export const SHOWS_BREAKS: boolean = !(globalThis as WorkerdStreams).FixedLengthStream;

/**
 * Whether a request whose client has left may be forgotten: workerd then runs none of its timers, and no `finally`
 * (seen in 2026-11).
 */
export const FORGETS_REQUESTS: boolean = !SHOWS_BREAKS;

/** A body that looks broken where its stream fails, as far as {@linkcode SHOWS_BREAKS} allows. */
export function breakable(
  stream: ReadableStream<Bytes>,
  length: number | undefined,
): ReadableStream<Bytes> {
  const { FixedLengthStream } = globalThis as WorkerdStreams;
  if (!FixedLengthStream || length === undefined) return stream;
  const { readable, writable } = new FixedLengthStream(length);
  void stream.pipeTo(writable).catch(() => {});
  return readable;
}

/** Another thread of this process. */
export interface Thread {
  /** @throws {DOMException} `DataCloneError` if it is no plain data */
  send(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Ends it, whatever it does; in Deno 2.9 a loop goes on to its own end. */
  end(): void;
}

/** What becomes of a thread. */
export interface ThreadEvents {
  onMessage(message: unknown): void;
  /** It has failed, or has ended before it was told to. */
  onFailure(reason: string): void;
}

/** A worker of web standards; TypeScript knows it with the types of browsers only. */
interface WebWorker {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  addEventListener(
    type: string,
    listen: (event: { data?: unknown; message?: string }) => void,
  ): void;
  terminate(): void;
}

/**
 * Starts a thread.
 *
 * @param program JavaScript without imports, which uses {@linkcode parentThread}
 * @param memory how much its objects may take, in bytes; Node alone can hold it to that
 * @returns `undefined` if the runtime has no threads, or does not allow one
 */
export async function startThread(
  program: string,
  events: ThreadEvents,
  memory: number,
): Promise<Thread | undefined> {
  const { Bun, Deno, Worker } = globalThis as typeof globalThis & {
    Bun?: unknown;
    Deno?: unknown;
    Worker?: new (url: string, options: { type: "module" }) => WebWorker;
  };
  try {
    if (!Bun && !Deno) return await startThreadOfNode(program, events, memory);
    return Worker && startWebWorker(Worker, program, events);
  } catch {
    return undefined;
  }
}

async function startThreadOfNode(
  program: string,
  { onMessage, onFailure }: ThreadEvents,
  memory: number,
): Promise<Thread> {
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(program, {
    eval: true,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memory / 1024 / 1024 },
  });
  worker.on("message", onMessage);
  worker.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    onFailure(code === "ERR_WORKER_OUT_OF_MEMORY" ? `takes more than ${inMiB(memory)}` : message);
  });
  worker.on("exit", () => onFailure("has ended"));
  return {
    send: (message, transfer = []) => worker.postMessage(message, transfer),
    end: () => void worker.terminate(),
  };
}

function startWebWorker(
  Worker: new (url: string, options: { type: "module" }) => WebWorker,
  program: string,
  { onMessage, onFailure }: ThreadEvents,
): Thread {
  const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  worker.addEventListener("message", ({ data }) => onMessage(data));
  worker.addEventListener("error", (event) => {
    // Deno ends the process otherwise.
    (event as unknown as Event).preventDefault();
    onFailure(event.message ?? "has failed");
  });
  return {
    send: (message, transfer = []) => worker.postMessage(message, transfer),
    end: () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/** The thread that has started this one. */
export function parentThread(): {
  send: Thread["send"];
  receive(listen: ThreadEvents["onMessage"]): void;
} {
  const scope = globalThis as unknown as WebWorker & { Bun?: unknown; Deno?: unknown };
  if (scope.Bun || scope.Deno) {
    return {
      send: (message, transfer = []) => scope.postMessage(message, transfer),
      receive: (listen) => scope.addEventListener("message", ({ data }) => listen(data)),
    };
  }
  const { parentPort } = globalThis.process.getBuiltinModule("node:worker_threads");
  return {
    send: (message, transfer = []) => parentPort!.postMessage(message, transfer),
    receive: (listen) => void parentPort!.on("message", listen),
  };
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
