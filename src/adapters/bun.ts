/**
 * Serves an app on Bun with its own server, which cuts clients that keep it waiting.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import { isResponse, toResponse } from "../http/to-response.ts";
import { answerOf, type App, type Listening, type ListenOptions, urlAt } from "./server.ts";
import { LIMITS } from "./limits.ts";

/** What is used of Bun's server. */
interface BunServer {
  readonly hostname: string;
  readonly port: number;
  /** Requests whose answer is not through yet. */
  readonly pendingRequests: number;
  stop(closeActiveConnections: boolean): Promise<void>;
}

declare const Bun: {
  serve(options: {
    fetch: (request: Request) => Response | Promise<Response>;
    hostname: string;
    port: number;
    development: boolean;
    idleTimeout: number;
  }): BunServer;
};

/** Of longer contents a further copy would stay in memory. */
const CLONED_MAX = 65_536;

/** The response to be sent for an answer; clones share the bytes and headers that a new one copies. */
function send(answer: Answer | Response): Response {
  if (isResponse(answer)) return answer;
  const isLong = answer.body !== null && answer.body.byteLength > CLONED_MAX;
  return isLong ? toResponse(answer) : responseOf(answer).clone();
}

const responses = new WeakMap<Answer, Response>();
function responseOf(answer: Answer): Response {
  let response = responses.get(answer);
  if (!response) responses.set(answer, response = toResponse(answer));
  return response;
}

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
// deno-lint-ignore require-await -- that it cannot listen is a rejection, as on other runtimes
export async function serve(app: App, { host, port }: ListenOptions): Promise<Listening> {
  const server = Bun.serve({
    fetch(request) {
      const answered = answerOf(app, request, () => request);
      return "status" in answered ? send(answered) : answered.then(send);
    },
    hostname: host,
    port,
    // Otherwise errors are answered with a page that shows the source.
    development: false,
    idleTimeout: LIMITS.silence / 1000,
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
