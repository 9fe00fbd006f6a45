/**
 * Work whose result may be there already: what needs no waiting is then done without a promise, since
 * a promise for each of the steps costs a request more than all of the work in them.
 *
 * @module
 */

/** A value, or the promise of one where it is not there yet. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Does a piece of work when it is first asked for, again only where it failed.
 *
 * @returns what gives the result itself once it is there
 */
export function once<T>(work: () => Promise<T>): () => Awaitable<T> {
  let result: Awaitable<T> | undefined;
  return () =>
    result ??= work().then(
      (value) => result = value,
      (error) => {
        result = undefined;
        throw error;
      },
    );
}

/**
 * Goes on with a value: at once where it is there, otherwise when it is.
 *
 * @param next what is done with it
 * @param context what `next` needs besides, which a function made for each request would cost more
 */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R>;
export function after<T, R, C>(
  value: Awaitable<T>,
  next: (value: T, context: C) => Awaitable<R>,
  context: C,
): Awaitable<R>;
export function after<T, R>(
  value: Awaitable<T>,
  next: (value: T, context?: unknown) => Awaitable<R>,
  context?: unknown,
): Awaitable<R> {
  return isPromise(value) ? value.then((value) => next(value, context)) : next(value, context);
}

/** Does a piece of work when it is asked for, once at a time: who asks meanwhile waits for the same. */
export function single(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => running ??= work().finally(() => running = undefined);
}

/** Two values together. */
export function both<A, B>(a: Awaitable<A>, b: Awaitable<B>): Awaitable<[A, B]> {
  return isPromise(a) || isPromise(b) ? Promise.all([a, b]) : [a, b];
}

/** What `async` gives, also where somebody has put another class in place of `Promise`. */
const Native = (async () => {})().constructor as typeof Promise;

/** Whether a value is a promise; one of any further class has to be settled before. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return value instanceof Native || (Promise !== Native && value instanceof Promise);
}

/** What somebody else gives, which may be a promise of whichever class. */
export function settled<T>(value: Awaitable<T> | PromiseLike<T>): Awaitable<T> {
  const { then } = Object(value) as Partial<PromiseLike<T>>;
  return typeof then === "function" ? Promise.resolve(value) : value as T;
}
