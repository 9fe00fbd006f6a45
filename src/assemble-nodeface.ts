/**
 * The service as one function from `Request` to `Response`, the same on every runtime.
 *
 * A request passes through the host guard, the table of routes and a handler, which returns a
 * representation. `respond` makes an answer of it and `finish` adds the common headers. Errors pass
 * through `finish` as well, as problem details: `answer → find → handle → complete`. What is answered is
 * counted where somebody may ask for the numbers.
 *
 * @module
 */
import type { Closeable } from "./closeable.ts";
import { createFail } from "./answer-error.ts";
import { isPreflight } from "./http/cors.ts";
import { createFinish, type Finish } from "./http/finish.ts";
import { createHostGuard } from "./http/host-guard.ts";
import { memoize } from "./http/memoize.ts";
import type { Answer, Awaitable, RequestHead } from "./http/message.ts";
import { answerMethod, notFound } from "./http/no-route.ts";
import { createPrefix, type Prefix } from "./http/prefix.ts";
import { parseTarget } from "./http/request-target.ts";
import { respond } from "./http/respond.ts";
import { isResponse, toResponse } from "./http/to-response.ts";
import { OTHER } from "./metrics/counter.ts";
import type { Meters } from "./metrics/meters.ts";
import { type CheckedOptions, withDefaults } from "./options.ts";
import { createResources } from "./resources/resources.ts";
import { createRoutes, type Found, type Route, type Routes } from "./routes.ts";

/** A service. Its `fetch` works with any server of `Request` and `Response`. */
export interface Nodeface extends Closeable {
  /**
   * Answers a request; neither throws nor rejects. Returns no promise if the answer is ready.
   *
   * @param context is given to the handlers of a host's operations, after their own parameters
   */
  fetch(request: Request, ...context: unknown[]): Response | Promise<Response>;
  /**
   * Whether a request is for this service: its path, whatever the method, is served here. Below `prefix` if
   * there is one. Ask it in a chain of handlers, to let the others answer what is not for this service.
   *
   * @example
   * ```ts
   * if (nodeface.matches(request)) return nodeface.fetch(request);
   * ```
   */
  matches(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
  /**
   * Reads the node's description again, now, if it has changed. There is no need to call it: the service
   * looks by itself while somebody asks, every two seconds at files and every thirty at URLs. The old
   * description stays if the new one is invalid.
   */
  refresh(): Promise<void>;
  /**
   * Makes every answer except the explorer's files and the description below `/v1`. Otherwise the first
   * request makes it.
   *
   * @throws {Error} if one cannot be made
   */
  ready(): Promise<void>;
  /**
   * Ends what is under way at the node, programs included. Answers stay as they are from then on. Nothing
   * is left running without it either: the service has no timers of its own.
   */
  close(): Promise<void>;
}

/** A service as the adapters know it. */
export interface AnsweringNodeface extends Nodeface {
  /**
   * Answers a request like `fetch`, but with plain data, so that an adapter copies no bytes. A host's
   * operation still answers with a `Response`.
   *
   * @param head the head of the request
   * @param makeRequest makes the `Request`; called only for a host's operation
   * @param context is given to its handler
   */
  answer(
    head: RequestHead,
    makeRequest: () => Awaitable<Request>,
    context?: readonly unknown[],
  ): Awaitable<Answer | Response>;
  /** Asks the node, so that the first visitor need not wait for it. Never rejects. */
  warmUp(): Promise<void>;
  /** Tells the log of an error that an adapter has met, such as that of an operation's stream. */
  onError(error: unknown): void;
}

/**
 * Assembles a service of options that have been checked. Reads nothing before the first request or
 * `ready`.
 */
export function assembleNodeface(checked: CheckedOptions): AnsweringNodeface {
  const options = withDefaults(checked);
  const resources = createResources(options);
  const prefix = createPrefix(options.prefix);
  const guard = createHostGuard(options.hosts);
  const finish = createFinish(options.cors);
  const fail = createFail(options.log);
  const count = options.meters && createCount(options.meters);
  const routesAt = createRoutes(resources, options, prefix, fail);
  /** Finds the routes of the first path that has any, of those that a requested path may stand for. */
  const lookUp = (strip: Prefix["strip"]) =>
    memoize((requested: string): Routes =>
      strip(requested).map(routesAt).find(({ size }) => size > 0) ?? NO_ROUTES
    );
  const routesOf = lookUp(prefix.strip);
  const routesOfWhole = lookUp(prefix.stripWhole);

  // The way of a request, in its order.
  const answer: AnsweringNodeface["answer"] = (head, makeRequest, context = []) => {
    let routes = NO_ROUTES;
    let answered: Awaitable<Answer | Response>;
    try {
      const pathname = guard(head);
      if (typeof pathname === "string") routes = routesOf(pathname);
      const found = typeof pathname === "string"
        ? find(routes, pathname, head, makeRequest, context)
        : pathname;
      if (isReady(found)) {
        const completed = complete(found, head, routes);
        answered = isReady(completed) ? completed : orError(completed, head, routes);
      } else answered = completeLater(found, head, routes);
    } catch (error) {
      answered = answerError(error, head, routes);
    }
    return count ? count(routes, head, answered) : answered;
  };

  const find = (
    routes: Routes,
    pathname: string,
    head: RequestHead,
    makeRequest: () => Awaitable<Request>,
    context: readonly unknown[],
  ): Awaitable<Found> => {
    const { url, originalUrl } = head;
    const route = routes.get(head.method);
    if (!route) return answerOther(routes, head);
    const original = originalUrl === undefined ? undefined : parseTarget(originalUrl)?.pathname;
    const path = { pathname, original };
    return route.handle({ path, url, match: route.match, head, makeRequest, context });
  };

  /** Answers OPTIONS, and a method that the path does not have. */
  const answerOther = (routes: Routes, head: RequestHead): Answer | Response => {
    const answer = answerMethod(head.method, routes.keys());
    if (!isPreflight(head)) return answer;
    // A method that is not there is answered as the others: to allow it would allow its headers for them too.
    const method = head.headers.get("access-control-request-method") ?? "";
    const asked = (routes.get(method) ?? firstOf(routes))?.finish;
    // Browsers remember all methods of the answer, so that each has to be open to the same origins.
    const open = [...routes].filter(([, { finish }]) => finish === asked).map(([method]) => method);
    if (!asked && open.length === routes.size) return answer;
    return toResponse((asked ?? finish)(answer, head, open));
  };

  /** What comes from an operation, from the node or from the meters has a rule of its own for pages of other origins. */
  const finishOf = (routes: Routes, { method }: RequestHead): Finish =>
    (routes.get(method) ?? firstOf(routes))?.finish ?? finish;

  const complete = (
    found: Found,
    head: RequestHead,
    routes: Routes,
  ): Awaitable<Answer | Response> => {
    const answer = !found ? notFound() : "variants" in found ? respond(found, head.headers) : found;
    if (isResponse(answer) || answer.isFinished) return answer;
    const finished = finishOf(routes, head)(answer, head) as Answer;
    return finished.load && head.method !== "HEAD" ? withBody(finished, finished.load) : finished;
  };

  const completeLater = async (found: Promise<Found>, head: RequestHead, routes: Routes) => {
    try {
      return await complete(await found, head, routes);
    } catch (error) {
      return answerError(error, head, routes);
    }
  };

  const orError = async (
    answered: Promise<Answer | Response>,
    head: RequestHead,
    routes: Routes,
  ) => {
    try {
      return await answered;
    } catch (error) {
      return answerError(error, head, routes);
    }
  };

  // JavaScript hosts may hand over anything.
  const answerError = (error: unknown, head: RequestHead, routes: Routes) =>
    isHead(head) ? finishOf(routes, head)(fail(error, head), head) : fail(error, undefined);

  const matches: Nodeface["matches"] = ({ url, originalUrl = url }) => {
    const target = parseTarget(url);
    if (!target) return false;
    // Only a router that has taken a mount's path off leaves less than the whole prefix.
    const isShortened = originalUrl !== url;
    return (isShortened ? routesOf : routesOfWhole)(target.pathname).size > 0;
  };

  return {
    fetch(request, ...context) {
      const answered = answer(request, () => request, context);
      return isReady(answered) ? toResponse(answered) : answered.then(toResponse);
    },
    matches,
    answer,
    async warmUp() {
      await resources.info.get().then(() => {}, options.onError);
    },
    onError: options.onError,
    refresh: resources.refresh,
    ready: resources.prepare,
    close: resources.close,
    [Symbol.asyncDispose]: resources.close,
  };
}

const NO_ROUTES: Routes = new Map();

/** Makes what counts answers by the template of their route. A path with no route for the method has the first. */
function createCount({ answers }: Meters) {
  return (
    routes: Routes,
    head: RequestHead,
    answered: Awaitable<Answer | Response>,
  ): Awaitable<Answer | Response> => {
    const route = routes.get(head.method) ?? firstOf(routes);
    const template = route?.template ?? OTHER;
    if (isReady(answered)) {
      answers.add(template, answered.status);
      return answered;
    }
    return answered.then((answer) => {
      answers.add(template, answer.status);
      return answer;
    });
  };
}

function firstOf(routes: Routes): Route | undefined {
  const [first] = routes.values();
  return first;
}

async function withBody(
  { load: _, ...answer }: Answer,
  load: NonNullable<Answer["load"]>,
): Promise<Answer> {
  return { ...answer, body: await load() };
}

function isHead(value: unknown): boolean {
  const { url, headers } = (value ?? {}) as { url?: unknown; headers?: { get?: unknown } };
  return typeof url === "string" && typeof headers?.get === "function";
}

/** Whether a value is not a promise. A promise may be of any class, so this tests for the others. */
function isReady<T extends Found>(found: T | Promise<T>): found is T {
  return found === undefined || "variants" in found || "status" in found;
}
