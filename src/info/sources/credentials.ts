/**
 * The secret that a node wants: read from where it lies at every use, since a daemon may write a
 * new one when it starts, and sent to the node's own origin only.
 *
 * @module
 */
import type { AuthFile, UsualAuth } from "../../kinds/kind.ts";
import type { AuthVariable } from "../settings.ts";
import { isLoopback } from "../../http/loopback.ts";
import { readVariable } from "../../platform.ts";
import { readTextFile } from "./file.ts";
import { SourceError } from "./source-error.ts";

/** The headers of one attempt, and what to try after a refusal. */
export interface Attempt {
  headers: Readonly<Record<string, string>>;
  /** What to say where nothing is left to try. */
  hint: string;
  /**
   * What to try next.
   *
   * @param refusal the headers of the answer that refused this attempt
   */
  next(refusal: Headers): Promise<Attempt | undefined>;
}

/** Gives secrets to requests. */
export interface Auth {
  /** The first attempt at a URL. */
  first(url: string): Promise<Attempt>;
}

/** Where secrets may lie. */
export type Place = AuthFile | AuthVariable;

/**
 * Makes what gives secrets to requests.
 *
 * @param nodeUrl the node's URL; no other origin is sent a secret
 * @param configured where the operator says that it lies
 * @param usual where nodes of this kind leave it; read only where a node on this machine refuses
 */
export function createAuth(
  nodeUrl: string,
  configured: Place | undefined,
  usual: UsualAuth | undefined,
): Auth {
  const { origin, hostname } = new URL(nodeUrl);
  /** The usual place that worked last. */
  let good: AuthFile | undefined;

  const attempt = async (place: Place, next: Attempt["next"]): Promise<Attempt> => ({
    headers: await headersFrom(place),
    hint: `what lies at ${nameOf(place)} is refused`,
    next,
  });
  const none = () => Promise.resolve(undefined);

  const first = async (place: Place): Promise<Attempt> => {
    const tried = await attempt(place, async () => {
      const again = await attempt(place, none);
      return sameHeaders(again, tried) ? undefined : again;
    });
    return tried;
  };

  const tryUsual = async (files: readonly AuthFile[]): Promise<Attempt | undefined> => {
    for (const [index, file] of files.entries()) {
      try {
        const tried = await attempt(file, () => tryUsual(files.slice(index + 1)));
        good = file;
        return tried;
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
      }
    }
    good = undefined;
    return undefined;
  };

  const bare: Attempt = {
    headers: {},
    hint: "node.auth says where it lies",
    async next(refusal) {
      if (!usual || !isLoopback(hostname)) return undefined;
      const [header, pattern] = usual.refusal;
      if (!new RegExp(pattern).test(refusal.get(header) ?? "")) return undefined;
      return await tryUsual(usual.files);
    },
  };

  return {
    async first(url) {
      if (new URL(url).origin !== origin) return { ...bare, next: none };
      if (configured) return await first(configured);
      if (!good) return bare;
      return await attempt(good, bare.next).catch(() => bare);
    },
  };
}

/** The header that carries the secret which lies somewhere. */
async function headersFrom(place: Place): Promise<Record<string, string>> {
  const secret = await read(place);
  if ("basic_file" in place || "basic_env" in place) {
    return { authorization: `Basic ${btoa(secret)}` };
  }
  if ("bearer_file" in place || "bearer_env" in place) return { authorization: `Bearer ${secret}` };
  if (place.header) return { [place.header]: secret };
  const colon = secret.indexOf(":");
  if (colon < 1) throw new SourceError(`${nameOf(place)} holds no line "Name: value"`);
  return { [secret.slice(0, colon).trim()]: secret.slice(colon + 1).trim() };
}

async function read(place: Place): Promise<string> {
  const [name, text] = await source(place);
  const match = "match" in place && place.match ? new RegExp(place.match).exec(text)?.[1] : text;
  const secret = match?.trim() ?? "";
  // Printable ASCII: what a header can carry on every runtime, none of which echoes it then.
  if (!/^[\x20-\x7e]+$/.test(secret)) throw new SourceError(`${name} holds no line of ASCII`);
  return secret;
}

async function source(place: Place): Promise<[name: string, text: string]> {
  const name = nameOf(place);
  if (Object.keys(place).some((key) => key.endsWith("_file"))) {
    return [name, await readTextFile(name)];
  }
  const value = readVariable(name);
  if (value === undefined) throw new SourceError(`the environment has no ${name}`);
  return [name, value];
}

/** The path or the variable, never what is there. */
function nameOf(place: Place): string {
  return Object.entries(place).find(([key]) => /_(file|env)$/.test(key))?.[1] ?? "";
}

const sameHeaders = (a: Attempt, b: Attempt) =>
  JSON.stringify(a.headers) === JSON.stringify(b.headers);
