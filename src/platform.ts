/**
 * Access to platform features beyond web standards: the environment, files, programs and sockets.
 * Gets `node:` modules on demand, so that workers can load this file.
 *
 * @module
 */
import { type Signal, withSignal } from "./abort-signal.ts";
import { type Bytes, gatherBytes } from "./bytes.ts";
import { FileQueue } from "./file-queue.ts";
import { formatSize } from "./units.ts";
import { withTimeout } from "./with-timeout.ts";

/**
 * The error's message is a reason without the name of the file or program, such as `no such file`.
 */
export class PlatformError extends Error {
  override name = "PlatformError";

  /** True if there is no such file or program. */
  get isMissing(): boolean {
    return MISSING.includes(this.#code);
  }

  /** True if the disk is away, which says nothing about the file. */
  get isAway(): boolean {
    return AWAY.includes(this.#code);
  }

  /** True if another user, or the same one at another time, may be able to read the file. */
  get dependsOnReader(): boolean {
    return this.isAway || OF_READER.includes(this.#code);
  }

  get #code(): string {
    return String(((this.cause ?? {}) as { code?: unknown }).code);
  }
}

const LATE = "ETIMEDOUT";
/** systemd shows credentials only to the service that has them. */
const NO_CREDENTIALS = "NO_CREDENTIALS";
const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];
const AWAY: readonly string[] = [LATE, "EIO", "ESTALE", "ENOTCONN", "EHOSTDOWN"];
const OF_READER: readonly string[] = ["EACCES", "EPERM", NO_CREDENTIALS];

const FILE_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder",
  NotCapable: "Deno needs the permission --allow-read",
};

const PROGRAM_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "program not found",
  ENOTDIR: "program not found",
  EACCES: "this user may not run it",
  NotCapable: "Deno needs the permission --allow-run",
  AbortError: "it is no longer needed",
};

/** Programs inherit only these environment variables. Any other variable may contain a secret. */
const PROGRAM_ENVIRONMENT = ["PATH", "HOME", "LANG"];

const NO_FILES = "this runtime cannot read files";

/**
 * The modules of the runtime that this service uses.
 *
 * @internal the published types need no types of Node
 */
interface Builtins {
  "node:child_process": typeof import("node:child_process");
  "node:crypto": typeof import("node:crypto");
  "node:dns": typeof import("node:dns");
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:net": typeof import("node:net");
  "node:tls": typeof import("node:tls");
  "node:url": typeof import("node:url");
}

/**
 * Returns a module of the runtime. With `import()`, bundlers would warn that workers lack it.
 *
 * @param reason the message of the error if the runtime lacks the module
 * @throws {PlatformError}
 * @internal
 */
export function builtin<Name extends keyof Builtins>(name: Name, reason: string): Builtins[Name] {
  const found = globalThis.process?.getBuiltinModule?.(name);
  if (!found) throw new PlatformError(reason);
  return found as Builtins[Name];
}

/**
 * The Web Cryptography API has no MD5.
 *
 * @throws {PlatformError}
 */
export function hexDigest(algorithm: "md5" | "sha256", text: string): string {
  const { createHash } = builtin("node:crypto", "this runtime cannot compute HTTP Digest");
  return createHash(algorithm).update(text).digest("hex");
}

export interface Bounds {
  readonly limit: number;
  readonly timeout: number;
  readonly signal?: Signal;
}

/** Returns `undefined` if Deno forbids reading the variable. */
export function readVariable(name: string): string | undefined {
  try {
    return requireVariable(name);
  } catch {
    return undefined;
  }
}

/** @throws {PlatformError} if the variable is not set, or Deno forbids reading it */
export function requireVariable(name: string): string {
  let value: string | undefined;
  try {
    value = globalThis.process?.env[name];
  } catch {
    throw new PlatformError(`Deno needs the permission --allow-env=${name}`);
  }
  if (value === undefined) throw new PlatformError("the variable is not set");
  return value;
}

/** The path may be relative, or begin with `~/` or `$CREDENTIALS_DIRECTORY/`. */
// deno-lint-ignore require-await -- an exception must become a rejection
export async function fileUrl(path: string): Promise<URL> {
  const { pathToFileURL } = builtin("node:url", NO_FILES);
  return pathToFileURL(expandPath(path));
}

/**
 * The URL must come from the operator, never from a request. The returned `stamp` identifies the
 * version of the file.
 */
export async function findFile(
  url: URL,
  timeout: number,
): Promise<{ readonly url: URL; readonly size: number; readonly stamp: string }> {
  return await inTime(url, timeout, async (onDisk) => {
    const { realpath, stat } = builtin("node:fs/promises", NO_FILES);
    const { fileURLToPath, pathToFileURL } = builtin("node:url", NO_FILES);
    const path = await realpath(fileURLToPath(url));
    const found = await stat(path);
    onDisk(found.dev);
    if (!found.isFile()) throw new PlatformError("it is not a regular file");
    const { size, mtimeMs, ino } = found;
    return { url: pathToFileURL(path), size, stamp: `${mtimeMs}-${ino}-${size}` };
  });
}

/**
 * True also for what cannot be read as a file, such as a folder, so that whoever reads it says why.
 */
export async function isThere(path: string): Promise<boolean> {
  const failureOf = async (path: string): Promise<string[]> => {
    try {
      await builtin("node:fs/promises", NO_FILES).lstat(expandPath(path));
      return [];
    } catch (error) {
      const { name, code = name } = error as { code?: string; name: string };
      return [name, code];
    }
  };
  const failure = await failureOf(path);
  if (failure.length === 0) return true;
  if (!failure.includes("EACCES")) return !failure.some((word) => ABSENT.includes(word));
  // If the user may not enter the folder, that says nothing about the file.
  const folder = path.replace(/[^/]*$/, "");
  return !(await failureOf(`${folder}./.`)).includes("EACCES");
}

const ABSENT = ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "NotCapable", "PlatformError"];

/** `place` must come from the operator, never from a request. */
export async function readFile(place: string | URL, { limit, timeout }: Bounds): Promise<Bytes> {
  return await inTime(place, timeout, (onDisk) => read(place, limit, onDisk));
}

const queue = new FileQueue();

async function inTime<T>(
  place: string | URL,
  timeout: number,
  read: (onDisk: (disk: number) => void) => Promise<T>,
): Promise<T> {
  try {
    const late = () => new PlatformError(takesLonger(timeout), { cause: { code: LATE } });
    return await queue.read(place, timeout, read, late);
  } catch (error) {
    throw platformErrorFor(error, FILE_FAILURES);
  }
}

async function read(
  place: string | URL,
  limit: number,
  onDisk: (disk: number) => void,
): Promise<Bytes> {
  const { createReadStream } = builtin("node:fs", NO_FILES);
  const { stat } = builtin("node:fs/promises", NO_FILES);
  const path = typeof place === "string" ? expandPath(place) : place;
  // Opening a pipe would block, and reading a device may never end.
  const found = await stat(path);
  onDisk(found.dev);
  if (!found.isFile()) throw new PlatformError("it is not a regular file");
  // Files in `/proc` report a size of 0.
  const bytes = await gatherBytes(createReadStream(path), limit);
  if (!bytes) throw new PlatformError(isLarger(limit));
  return bytes;
}

/** Node reports only some of the errors later. */
function startProgram<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    throw platformErrorFor(error, PROGRAM_FAILURES);
  }
}

/**
 * The program runs without a shell. If the program exceeds a limit, it is killed together with its
 * child processes.
 */
export async function runProgram(
  command: readonly string[],
  { limit, timeout, signal }: Bounds,
): Promise<string> {
  const [program = "", ...args] = command;
  const { spawn } = builtin("node:child_process", "this runtime cannot run programs");
  const env: Record<string, string> = {};
  for (const name of PROGRAM_ENVIRONMENT) {
    const value = readVariable(name);
    if (value !== undefined) env[name] = value;
  }
  // A process group can be killed as a whole. On Windows, `detached` would only open a window.
  const detached = globalThis.process.platform !== "win32";
  const child = startProgram(() =>
    spawn(program, args, { env, detached, stdio: ["ignore", "pipe", "ignore"] })
  );
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject).on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new PlatformError(`it exited with ${code ?? signal}`));
    });
  });
  // Without a free file descriptor, Node gives no pipe, and reports the error to `ended`.
  const printed = child.stdout && gatherBytes(child.stdout, limit).then((bytes) => {
    if (bytes) return bytes;
    throw new PlatformError(`it prints more than ${formatSize(limit)}`);
  });
  const work = withTimeout(Promise.all([printed, ended]), timeout, () => {
    throw new PlatformError(takesLonger(timeout));
  });
  const kill = () => {
    if (!child.pid || !detached || !killGroup(child.pid)) child.kill("SIGKILL");
  };
  // A signal from the terminal does not reach the group.
  globalThis.process.on("exit", kill);
  try {
    const [bytes] = await (signal ? withSignal(work, signal) : work);
    return new TextDecoder().decode(bytes);
  } catch (error) {
    kill();
    throw platformErrorFor(error, PROGRAM_FAILURES);
  } finally {
    globalThis.process.off("exit", kill);
    // A child process may outlive the program and keep the output pipe open.
    child.stdout?.destroy();
  }
}

function killGroup(leader: number): boolean {
  try {
    return globalThis.process.kill(-leader, "SIGKILL");
  } catch {
    return false;
  }
}

/**
 * False in a Cloudflare worker, even if the worker's flag `nodejs_compat` sets
 * `process.versions.node`.
 */
export const HAS_SOCKETS: boolean = globalThis.process?.versions?.node !== undefined &&
  globalThis.navigator?.userAgent !== "Cloudflare-Workers";

/** Such as `Node.js/22`. Node.js before version 21 has no `navigator`. */
export const RUNTIME: string | undefined = globalThis.navigator?.userAgent ??
  globalThis.process?.version?.replace(/^v(\d+).*/, "Node.js/$1");

export const IS_DENO: boolean = "Deno" in globalThis;

/** Whether `performance.now()` goes on while the machine sleeps, as Node's does there. */
export const CLOCK_GOES_ON: boolean = ["darwin", "win32"].includes(globalThis.process?.platform);

/** The memory of this process in bytes, or `undefined` if the runtime does not tell. */
export const residentMemory = (): number | undefined =>
  globalThis.process?.memoryUsage?.().rss || undefined;

const READABLE_BY_GROUP = 0o040, READABLE_BY_OTHERS = 0o004;
const STAT_TIMEOUT_MS = 2000;

/**
 * If another user owns the file, does not warn about access by the file's group. A node may share
 * its cookie file with a group.
 */
export async function warnOfReaders(name: string, path: string): Promise<string | undefined> {
  try {
    const { process } = globalThis;
    if (process.platform === "win32") return undefined;
    const { stat } = builtin("node:fs/promises", NO_FILES);
    const found = async () => await stat(await fileUrl(path));
    const { mode, uid } = await inTime(path, STAT_TIMEOUT_MS, found);
    const isOfOthers = (mode & READABLE_BY_OTHERS) !== 0;
    if (!isOfOthers && !(mode & READABLE_BY_GROUP && uid === process.getuid?.())) return undefined;
    const who = isOfOthers ? "every user of this machine" : "its group";
    const octal = (mode & 0o7777).toString(8).padStart(4, "0");
    return `${name} ${path} can be read by ${who} (mode ${octal}); chmod 600 keeps it secret`;
  } catch {
    // The file cannot be read, or Deno forbids `getuid`.
    return undefined;
  }
}

/**
 * The variable in which systemd passes the directory of secrets (systemd.exec, section
 * Credentials).
 */
export const CREDENTIALS_DIRECTORY = "CREDENTIALS_DIRECTORY";
const CREDENTIALS = /^\$(?:CREDENTIALS_DIRECTORY|\{CREDENTIALS_DIRECTORY\})(?=\/)/;
const HOME = /^~(?=\/)/;

export function isAnchored(path: string): boolean {
  return HOME.test(path) || CREDENTIALS.test(path);
}

export function expandPath(path: string): string {
  if (CREDENTIALS.test(path)) {
    const folder = readVariable(CREDENTIALS_DIRECTORY);
    if (!folder) {
      const cause = { code: NO_CREDENTIALS };
      throw new PlatformError(`$${CREDENTIALS_DIRECTORY} is not set`, { cause });
    }
    return path.replace(CREDENTIALS, () => folder);
  }
  const home = HOME.test(path) ? readVariable("HOME") ?? readVariable("USERPROFILE") : undefined;
  return home ? path.replace(HOME, () => home) : path;
}

function platformErrorFor(
  error: unknown,
  reasons: Readonly<Record<string, string>>,
): PlatformError {
  if (error instanceof PlatformError) return error;
  const { name, code = name } = error as { code?: string; name: string };
  return new PlatformError(reasons[name] ?? reasons[code] ?? code, { cause: error });
}

const takesLonger = (timeout: number) => `it takes longer than ${timeout} ms`;

const isLarger = (limit: number) => `it is larger than ${formatSize(limit)}`;
