/**
 * What calls a node as its settings say: it trusts the authority of `node.tls`. And what is wrong with the files that
 * these settings name: credentials and certificates.
 *
 * @module
 */
import { lazy } from "../lazy.ts";
import { type CallOut, createCallOut, fetchOf } from "../call-out-for-gateway.ts";
import { warnOfReaders } from "../file-access.ts";
import { createFetch, HAS_SOCKETS, PlatformError, readFile, type Tls } from "../platform.ts";
import type { NodeSettings } from "./settings.ts";
import { checkCredentials } from "./sources/give-credentials.ts";
import { settingOf } from "./sources/secret.ts";
import { SourceError } from "./sources/source-error.ts";

const BOUNDS = { limit: 1024 * 1024, timeout: 2000 } as const;

/** What calls the node, and trusts whom the operator trusts. */
export function fetchForNode({ tls, auth }: Pick<NodeSettings, "tls" | "auth">): typeof fetch {
  // Some nodes give a nonce to each connection, and a `fetch` does not say which one it takes.
  const isDigest = auth !== undefined && settingOf(auth).scheme === "digest";
  if (isDigest && HAS_SOCKETS) return fetchOf(callOutForNode({ tls }));
  if (!tls) return createFetch();
  const trusting = lazy(() => trustFile(createFetch, tls.ca_file));
  return async (input, init) => await (await trusting.get())(input, init);
}

/** The same for calls that are forwarded. */
export function callOutForNode({ tls }: Pick<NodeSettings, "tls">): CallOut {
  if (!tls) return createCallOut();
  const trusting = lazy(() => trustFile(createCallOut, tls.ca_file));
  return async (call) => await (await trusting.get())(call);
}

async function trustFile<T>(create: (tls: Tls) => T, path: string): Promise<T> {
  try {
    return create({ ca: new TextDecoder().decode(await readFile(path, BOUNDS)) });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("tls", "cannot be trusted: the file of node.tls cannot be read", {
      hint: `cannot read node.tls.ca_file ${path}: ${error.message}`,
    });
  }
}

/** What cannot be read, a line for each: faults of the configuration, not of the node. */
export async function findUnreadable({ auth, tls }: NodeSettings): Promise<string[]> {
  const [secret, authority] = await Promise.all([
    auth && checkCredentials(auth),
    tls &&
    trustFile(createFetch, tls.ca_file).then(() => undefined, ({ hint }: SourceError) => hint),
  ]);
  return [secret, authority].filter((fault) => fault !== undefined);
}

/** What is secret and can be read by others, a line for each. */
export async function findOpenSecrets({ auth }: NodeSettings): Promise<string[]> {
  const { key, name } = auth ? settingOf(auth) : { key: "", name: "" };
  if (!key.endsWith("_file")) return [];
  const warning = await warnOfReaders(`node.auth.${key}`, name);
  return warning === undefined ? [] : [warning];
}
