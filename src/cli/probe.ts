/**
 * `nodeface probe`: asks a running service for the status of its node, for health checks of
 * containers without a shell.
 *
 * @module
 */
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { LightSignal } from "../abort-signal.ts";
import { createConnector, type OpenSocket, SocketClient } from "../node/connection.ts";
import { SourceError } from "../node/failures.ts";
import { requestText } from "../node/request.ts";
import { quote, withoutKeys } from "../untrusted-text.ts";
import { isServiceLink } from "./service-links.ts";
import { endOnSignals } from "./signals.ts";

/** The service may wait for its node for twice as long as `node.timeout`: for 20 seconds. */
const TIMEOUT_MS = 25_000;

const WELL = 0, NOT_WELL = 1, WRONG_USE = 2;

/** @returns the exit code */
export async function main(): Promise<number> {
  endOnSignals();
  let url: URL;
  try {
    url = addressIn(process.argv.slice(3));
  } catch (error) {
    const [message] = (error as Error).message.split(". ");
    console.error(`nodeface: ${message}; see nodeface --help`);
    return WRONG_USE;
  }
  try {
    const { status, text } = await requestText({ send }, url, {
      method: "GET",
      timeout: TIMEOUT_MS,
      signal: new LightSignal(),
      headers: { accept: "application/json" },
    });
    const line = lineOf(status, text);
    console.log(line ?? `the service responded with ${status}, but not with its health`);
    // The service knows the values of `accept`.
    if (status === 400) return WRONG_USE;
    return status === 200 && line !== undefined ? WELL : NOT_WELL;
  } catch (error) {
    const reason = error instanceof SourceError ? error.message : String(error);
    console.log(`the service at ${url.origin} does not respond: ${reason}`);
    return NOT_WELL;
  }
}

/** Sends one request. TLS is loaded only if the address needs it, since it takes 2 MB. */
const send: Parameters<typeof requestText>[0]["send"] = async (request, read) => {
  const isPlain = request.url.protocol === "http:";
  const client = new SocketClient(isPlain ? openPlain : createConnector(undefined));
  return await read({
    response: await client.send({ ...request, connectionKey: undefined }),
    isSecret: false,
  });
};

const openPlain: OpenSocket = ({ hostname, port }) =>
  connect({ host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 80) });

/** Returns the host at which a service listens whose host is `NODEFACE_HOST`. */
function ownHost(): string {
  const host = (process.env.NODEFACE_HOST ?? "").replace(/^\[|\]$/g, "");
  if (host === "" || host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** @throws {TypeError} if the arguments are wrong */
function addressIn(args: string[]): URL {
  // The service ignores these variables, too.
  const variable = ["NODEFACE_PORT", "PORT"].find((name) => {
    const text = process.env[name] ?? "";
    return text !== "" && !isServiceLink(name, text);
  });
  const port = variable === undefined ? "8080" : process.env[variable]!;
  const { values: { accept }, positionals } = parseArgs({
    args,
    options: { accept: { type: "string" } },
    allowPositionals: true,
  });
  const [base = `http://${ownHost()}:${port}`, ...others] = positionals;
  if (others.length > 0) throw new TypeError("probe takes one URL");
  if (!URL.canParse(base) || !/^https?:\/\/[^\s?#]+$/i.test(base)) {
    const place = variable === undefined || !URL.canParse(`http://${ownHost()}`)
      ? ", with the host in NODEFACE_HOST"
      : `, with the port in ${variable}`;
    throw new TypeError(
      `${quote(withoutKeys(base))} is not the URL of a service${
        positionals.length === 0 ? place : ""
      }`,
    );
  }
  const url = new URL(base.replace(/\/*$/, "/v1/health"));
  if (accept !== undefined) url.searchParams.set("accept", accept);
  return url;
}

/**
 * Returns one line, such as `unreachable (connection_refused): connection refused`, or `undefined`
 * for what no Nodeface sends.
 */
function lineOf(status: number, text: string): string | undefined {
  try {
    const { status: word, status_code, status_reason, detail } = JSON.parse(text);
    if (detail !== undefined) return `the service responded with ${status}: ${detail}`;
    if (word === undefined) return undefined;
    const code = status_code === undefined ? "" : ` (${status_code})`;
    const reason = status_reason === undefined ? "" : `: ${status_reason}`;
    return `${word ?? "no node is configured"}${code}${reason}`;
  } catch {
    return undefined;
  }
}
