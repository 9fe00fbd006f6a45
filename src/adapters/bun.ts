/**
 * Serves an app with `Bun.serve`, which disconnects idle clients itself.
 *
 * @module
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { ServedRequest } from "../http/request.ts";
import { withTimeout } from "../with-timeout.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import {
  type App,
  type Callbacks,
  type Listening,
  listening,
  notify,
  type OnError,
  onErrorOf,
  type ServeOptions,
  unanswered,
  urlAt,
} from "./shared.ts";
import { checkServeOptions } from "./check-serve-options.ts";
import { TIMEOUTS } from "./timeouts.ts";
import { watchFailure } from "./watch-failure.ts";

export type {
  AnswerRecord,
  App,
  Callbacks,
  Closeable,
  Listening,
  Outcome,
  ServeOptions,
} from "./shared.ts";

interface BunServer {
  readonly address: { readonly address: string };
  readonly port: number;
  requestIP(request: Request): object | null;
  /** Sets the idle timeout of a request's connection, in seconds; 0 is none. */
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

/** Starts a server; rejects if it cannot listen, or with a `TypeError` if an option is wrong. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Listening> {
  const { hostname, port } = await checkServeOptions(options);
  const onError = onErrorOf(app, options);
  const listen = (port: number) =>
    Bun.serve({
      fetch: (request, server) =>
        options.onAnswer
          ? record(
            options.onAnswer,
            request,
            server,
            (endRecord) => handle(app, request, server, onError, endRecord),
          )
          : handle(app, request, server, onError),
      hostname,
      port,
      // With `development: false`, Bun 1.4 lets two processes share a port.
      reusePort: false,
      // In development, Bun answers an error with a page that shows the source.
      development: false,
      idleTimeout: IDLE_SECONDS,
    });
  const server = listen(port);
  const { address: { address }, port: taken } = server;
  return listening(urlAt(address, taken), keepListening(server, () => listen(taken)));
}

/** How often it is looked whether there are descriptors, and how many there have to be to listen again. */
const CHECK_DESCRIPTORS_MS = 500, DESCRIPTORS_MIN = 16;

/**
 * Stops listening while descriptors have run out. Bun 1.4 would spin as long as a client waits to be accepted
 * (oven-sh/bun#32705).
 *
 * @returns a function that closes the server
 */
function keepListening(first: BunServer, listen: () => BunServer): () => Promise<void> {
  /** Those that listen, or have requests under way. */
  const servers = new Set([first]);
  let current: BunServer | undefined = first;
  // Resolves when the last answer has been sent.
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
        // Another process has the port; it may leave.
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

/** Responds to a request; never rejects. */
async function handle(
  app: App,
  request: Request,
  server: BunServer,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<Response> {
  const whenSent: ServedRequest["whenSent"] = (listener) => whenAnswered(request, server, listener);
  try {
    // A client that waits for the app is not idle.
    server.timeout(request, 0);
    const response = await app.fetch(Object.assign(request, { whenSent }));
    server.timeout(request, IDLE_SECONDS);
    // To look at the body of what has a length would make it a stream.
    if (response.headers.has("content-length") || !response.body) return response;
    const watched = watchFailure(response.body, (error) => {
      // A disconnected client may make the stream fail.
      if (request.signal.aborted) return;
      endRecord?.("failed", response.status);
      void notify(onError, error);
    });
    return new Response(watched, response);
  } catch (error) {
    void notify(onError, error);
    return unanswered();
  }
}

const CHECK_INTERVAL_MS = 100;

/**
 * Calls a function when the answer to a request is over. Bun 1.4 has no event for that, but `requestIP` is then
 * null.
 */
function whenAnswered(request: Request, server: BunServer, listener: () => void): void {
  const check = () => {
    if (server.requestIP(request)) setTimeout(check, CHECK_INTERVAL_MS);
    else listener();
  };
  setImmediate(check);
}

async function record(
  onAnswer: NonNullable<Callbacks["onAnswer"]>,
  request: Request,
  server: BunServer,
  answer: (endRecord: EndRecord) => Promise<Response>,
): Promise<Response> {
  const endRecord = beginRecord(onAnswer, request);
  const sent: { status?: number } = {};
  request.signal.addEventListener("abort", () => endRecord("aborted", sent.status));
  const response = await answer(endRecord);
  sent.status = response.status;
  // The event `abort` comes a moment later.
  whenAnswered(request, server, () => setImmediate(() => endRecord("sent", sent.status)));
  return response;
}
