/**
 * Serves an app with `Bun.serve`, which closes idle connections itself.
 *
 * @module
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { ServedRequest } from "../http/request.ts";
import { ResponseInParts } from "../http/response.ts";
import { withTimeout } from "../with-timeout.ts";
import {
  beginEntry,
  type Callbacks,
  checkServeOptions,
  failure,
  type Listening,
  listening,
  report,
  type Servable,
  type ServeOptions,
  TIMEOUTS,
  urlAt,
  watched,
} from "./shared.ts";

export type { AnswerRecord, Callbacks, Closeable, Listening, Outcome } from "./shared.ts";
export type { Servable, ServeOptions } from "./shared.ts";

interface BunServer {
  readonly address: { readonly address: string };
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  /** `seconds` is the idle timeout of the connection; 0 means no timeout. */
  timeout(request: Request, seconds: number): void;
  stop(closeActiveConnections: boolean): Promise<void>;
}

declare const Bun: {
  serve(options: {
    fetch(request: Request, server: BunServer): Response | Promise<Response>;
    hostname: string;
    port: number;
    reusePort: boolean;
    development: boolean;
    idleTimeout: number;
  }): BunServer;
};

const IDLE_SECONDS = TIMEOUTS.silence / 1000;

/**
 * Starts a server. Rejects with a `TypeError` if an option is invalid, and with another error if the server cannot
 * listen.
 */
// deno-lint-ignore require-await -- an exception must become a rejection
export async function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  const { hostname, port } = checkServeOptions(options);
  const listen = (port: number) =>
    Bun.serve({
      fetch: (request, server) => respond(app, options, request, server),
      hostname,
      port,
      // With `development: false`, Bun 1.4 lets two processes share a port by default.
      reusePort: false,
      // In development, Bun responds to an error with a page that shows the source.
      development: false,
      idleTimeout: IDLE_SECONDS,
    });
  const server = listen(port);
  const { address: { address }, port: taken } = server;
  return listening(urlAt(address, taken), keepListening(server, () => listen(taken)));
}

const CHECK_DESCRIPTORS_MS = 500, DESCRIPTORS_MIN = 16;

/** Stops listening while no file descriptor is free, since Bun 1.4 would otherwise busy-loop (oven-sh/bun#32705). */
function keepListening(first: BunServer, listen: () => BunServer): () => Promise<void> {
  const servers = new Set([first]);
  let current: BunServer | undefined = first;
  const drain = async (server: BunServer) => {
    await server.stop(false);
    servers.delete(server);
  };
  const timer = setInterval(() => {
    if (current && !hasDescriptors(1)) {
      void drain(current);
      current = undefined;
    } else if (!current && hasDescriptors(DESCRIPTORS_MIN)) {
      try {
        servers.add(current = listen());
      } catch {
        // Listening fails if the port has been taken. The next check tries again.
      }
    }
  }, CHECK_DESCRIPTORS_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await withTimeout(Promise.all([...servers].map(drain)), TIMEOUTS.grace, () => []);
    await Promise.all([...servers].map((server) => server.stop(true)));
  };
}

function hasDescriptors(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, "r"));
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== "EMFILE";
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

type Writable = { -readonly [Name in keyof ServedRequest]: ServedRequest[Name] };

async function respond(app: Servable, callbacks: Callbacks, request: Request, server: BunServer) {
  const endEntry = beginEntry(callbacks, request);
  let response: Response | undefined;
  if (endEntry) {
    request.signal.addEventListener("abort", () => endEntry("aborted", response?.status));
  }
  try {
    // A client that is waiting for the app must not be disconnected.
    server.timeout(request, 0);
    // A getter named `ip`, as in srvx, would make short requests 10% slower (Bun 1.4).
    (request as Writable).findIp = () => server.requestIP(request)?.address;
    const length = Number(request.headers.get("content-length"));
    if (length > 0 && length <= SHORT_MAX) readWhole(request);
    response = await app.fetch(request);
    server.timeout(request, IDLE_SECONDS);
    if (response instanceof ResponseInParts) {
      const { parts, release } = response.held;
      response = new Response(new Blob([...parts]), response);
      whenSent(request, server, release);
    } else if (!response.headers.has("content-length") && response.body) {
      const onFailure = (error: unknown) => {
        // A stream also fails when its client disconnects, which is not an error.
        if (request.signal.aborted) return;
        endEntry?.("failed", response?.status);
        report(error, app, callbacks);
      };
      response = new Response(watched(response.body, onFailure), response);
    }
  } catch (error) {
    report(error, app, callbacks);
    response = failure();
  }
  const { status } = response;
  // `setImmediate` lets a late `abort` event of a disconnected client come first.
  if (endEntry) whenSent(request, server, () => setImmediate(() => endEntry("sent", status)));
  return response;
}

/** In bytes. Bun 1.4 reads content up to this size faster with `bytes()` than as a stream. */
const SHORT_MAX = 16_384;

function readWhole(request: Writable): void {
  request.readChunks = async (take, stop) => {
    const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", resolve));
    await Promise.race([request.bytes().then(take), stopped]);
  };
}

const SENT_INTERVAL_MS = 100;

/** Bun 1.4 emits no event when a response has been sent, but `requestIP` returns null from then on. */
function whenSent(request: Request, server: BunServer, listener: () => void): void {
  const check = () => {
    if (server.requestIP(request)) setTimeout(check, SENT_INTERVAL_MS);
    else listener();
  };
  setImmediate(check);
}
