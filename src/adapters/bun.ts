/**
 * Serves an app on Bun with its own server, which cuts clients that keep it waiting.
 *
 * @module
 */
import type { Answer, Awaitable } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import { isAnswer, isResponse, toResponse } from "../http/to-response.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import {
  answerOf,
  type App,
  type Callbacks,
  type Listening,
  notify,
  type ServeOptions,
  urlAt,
} from "./server.ts";
import { LIMITS } from "./limits.ts";
import { watchFailure } from "./watch-failure.ts";

export type { AnswerRecord } from "./answer-record.ts";
export type { App, Callbacks, Listening, ServeOptions } from "./server.ts";

/** What is used of Bun's server. */
interface BunServer {
  readonly hostname: string;
  readonly port: number;
  /** The address of a request's client; `null` where the request has ended. */
  requestIP(request: Request): object | null;
  /** Sets how long the connection of a request may be silent, in seconds; 0 for any time. */
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

/** In seconds. */
const IDLE_TIMEOUT = LIMITS.silence / 1000;

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen, and who is told what becomes of requests
 * @returns the server, listening; rejects where it cannot listen there
 */
// deno-lint-ignore require-await -- that it cannot listen is a rejection, as on other runtimes
export async function serve(
  app: App,
  options: ServeOptions,
): Promise<Listening> {
  const { host, port, onError = console.error } = options;
  const server = Bun.serve({
    fetch: (request, server) =>
      options.onAnswer
        ? record(
          options.onAnswer,
          request,
          server,
          (endRecord) => handle(app, request, server, onError, endRecord),
        )
        : handle(app, request, server, onError),
    hostname: host,
    port,
    // With `development: false` Bun 1.4 has two processes share a port without a word.
    reusePort: false,
    // Otherwise errors are answered with a page that shows the source.
    development: false,
    idleTimeout: IDLE_TIMEOUT,
  });
  return {
    url: urlAt(server.hostname, server.port),
    async close() {
      // Bun does not say which answers are still being sent: it is left to end them by itself.
      const grace = new Promise((resolve) => setTimeout(resolve, LIMITS.grace));
      await Promise.race([server.stop(false), grace]);
      await server.stop(true);
    },
  };
}

type OnError = NonNullable<Callbacks["onError"]>;

/** Answers one request, at once where the answer is prepared; neither throws nor rejects. */
function handle(
  app: App,
  request: Request,
  server: BunServer,
  onError: OnError,
  endRecord?: EndRecord,
): Response | Promise<Response> {
  const answer = answerOf(app, request, () => request);
  if (isAnswer(answer)) return toResponse(answer);
  return respond(request, server, answer, onError, endRecord);
}

/** Makes the response of an answer that has to be waited for, or is a host's own; never rejects. */
async function respond(
  request: Request,
  server: BunServer,
  answer: Awaitable<Answer | Response>,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<Response> {
  try {
    // A client that does not read is cut, one that waits for the app is not.
    server.timeout(request, 0);
    const given = await answer;
    server.timeout(request, IDLE_TIMEOUT);
    if (!isResponse(given) || !given.body) return toResponse(given);
    const watched = watchFailure(given.body, (error) => {
      // A stream may well fail because its client has gone away.
      if (request.signal.aborted) return;
      endRecord?.("failed", given.status);
      void notify(onError, error);
    });
    return new Response(watched, given);
  } catch (error) {
    void notify(onError, error);
    return toResponse(problem(500, "This request could not be answered"));
  }
}

/** How often is asked whether an answer that takes its time is through, in milliseconds. */
const RECORD_INTERVAL = 100;

/** Answers one request and records what becomes of the answer. */
async function record(
  onAnswer: NonNullable<Callbacks["onAnswer"]>,
  request: Request,
  server: BunServer,
  answer: (endRecord: EndRecord) => Response | Promise<Response>,
): Promise<Response> {
  const endRecord = beginRecord(onAnswer, request);
  const sent: { status?: number } = {};
  request.signal.addEventListener("abort", () => endRecord("aborted", sent.status));
  const response = await answer(endRecord);
  sent.status = response.status;
  // Bun 1.4 has no event for the end of an answer, but no address for a request that has ended. Where
  // it was aborted, that is told a moment later.
  const look = () => {
    if (server.requestIP(request)) setTimeout(look, RECORD_INTERVAL);
    else setImmediate(() => endRecord("sent", sent.status));
  };
  setImmediate(look);
  return response;
}
