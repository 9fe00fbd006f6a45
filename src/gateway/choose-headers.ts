/**
 * Chooses the headers of a call that are sent to the node: some standard ones, and those that the
 * operation describes.
 *
 * @module
 */
import { VALUE } from "../node/http1.ts";
import { OWN_NAME } from "../node/own-headers.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { isProgram, NAME_OF_BROWSER } from "../http/browsers.ts";
import { isForwardable, STANDARD } from "./request-headers.ts";
import { invalidCall } from "./refusal.ts";

/** The headers for the node, with names in lower case. */
export interface ChosenHeaders {
  readonly standard: Readonly<Record<string, string>>;
  /** The headers and cookies that the operation describes. */
  readonly described: Readonly<Record<string, string>>;
  /** True if a header of a security scheme is among them. */
  readonly hasCredentials: boolean;
}

/** The settings by which credentials of clients may be sent. */
export interface OwnCredentials {
  /** The configured header for the node's secret, in lower case. */
  readonly secretHeader: string | undefined;
  readonly hasSecret: boolean;
  /** True if clients use a token of this service, which they send as `Authorization`. */
  readonly hasToken: boolean;
}

const SIZE_MAX = 8192;

/**
 * @param isBrowser whether a browser sent the call
 * @throws {Refusal} if the headers are too long, or would be dropped on their way
 */
export function chooseHeaders(
  { headers }: Pick<Request, "headers">,
  operation: NodeOperation,
  own: OwnCredentials,
  isBrowser: boolean,
): ChosenHeaders {
  const standard = pick(headers, STANDARD);
  // A range of several parts would arrive as a type that browsers must not see as it is, and the
  // node's secret could not be found in the parts of a response.
  if (own.hasSecret || standard.range?.includes(",")) delete standard.range;
  // Kubo refuses the names of browsers.
  const name = standard["user-agent"];
  const isOfBrowser = name !== undefined && (isBrowser || NAME_OF_BROWSER.test(name));
  if (isOfBrowser) standard["user-agent"] = OWN_NAME;
  const { parameters, cookies, keyCookies, credentials } = operation.headers;
  const isTaken = (name: string) => isForwardable(name) && name !== own.secretHeader;
  const isSecretTaken = (name: string) => name === "authorization" ? !own.hasToken : isTaken(name);
  const secrets = own.hasSecret ? {} : pick(headers, credentials.filter(isSecretTaken));
  const described = { ...pick(headers, parameters.filter(isTaken)), ...secrets };
  const key = own.hasSecret ? "" : cookieOf(headers, keyCookies);
  const hasCredentials = Object.keys(secrets).length > 0 || key !== "";
  const cookie = [cookieOf(headers, cookies), key].filter(Boolean).join("; ");
  if (cookie !== "") described.cookie = cookie;
  checkHeaders(headers, { ...standard, ...described });
  return { standard, described, hasCredentials };
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) picked[name] = value;
  }
  return picked;
}

/** Returns the described cookies, unless they are a browser's: it has those of other ports, too. */
function cookieOf(headers: Headers, names: readonly string[]): string {
  if (names.length === 0) return "";
  const others = (name: string) => name !== "cookie" && headers.has(name);
  if (!isProgram({ get: (name) => headers.get(name), has: others })) return "";
  return (headers.get("cookie") ?? "").split(/; */)
    .filter((pair) => names.includes(pair.split("=")[0]!))
    .join("; ");
}

function checkHeaders(headers: Headers, chosen: Readonly<Record<string, string>>): void {
  const nominated = (headers.get("connection") ?? "").toLowerCase().split(",")
    .map((name) => name.trim());
  const dropped = nominated.find((name) => Object.hasOwn(chosen, name));
  if (dropped !== undefined) {
    throw invalidCall(
      `Connection names the header ${dropped}, which belongs to the whole request`,
    );
  }
  let size = 0;
  for (const [name, value] of Object.entries(chosen)) {
    if (!VALUE.test(value)) {
      throw invalidCall(`The header ${name} has a character that no header may have`);
    }
    size += name.length + value.length;
  }
  if (size <= SIZE_MAX) return;
  throw invalidCall(`The headers of a call may have at most ${SIZE_MAX} characters`, 431);
}
