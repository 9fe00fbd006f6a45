/**
 * Refuses calls in which a framework would read another method than that of the request line.
 * Rails, Laravel, Symfony and WordPress make a DELETE of a POST with the parameter `_method`.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import type { Content } from "./call.ts";
import { Refusal } from "./response.ts";

const HEADERS = ["x-http-method", "x-http-method-override", "x-method-override"] as const;
const NAMES = /^(?:_method|x_http_method(?:_override)?|x_method_override)$/;

const REFUSED = new Refusal(
  400,
  CODES.invalidCall,
  "The method of a call is in its request line only, not in a parameter or header",
);

/**
 * The operator's own file may describe a parameter with such a name.
 *
 * @throws {Refusal} if the headers, the query or a form has such a name
 */
export function refuseOtherMethods(
  headers: Pick<Headers, "has">,
  query: string,
  content: Content,
  { isForeign, parameters = [] }: NodeOperation,
): void {
  const known = isForeign ? [] : parameters.map(({ name }) => plainName(name));
  const sent = HEADERS.filter((name) => headers.has(name));
  const names = [...sent, ...namesInForm(query), ...namesInContent(content)].map(plainName);
  if (names.some((name) => NAMES.test(name) && !known.includes(name))) throw REFUSED;
}

/** PHP reads `.` and spaces as `_`, and `[` as the start of a list. */
const plainName = (name: string): string =>
  (parsePercent(name.replaceAll("+", " ")) ?? name).toLowerCase().trim()
    .replace(/\[.*$/s, "").replaceAll(/[-. ]/g, "_");

const namesInForm = (text: string): string[] =>
  text.split(/[&;]/).map((part) => part.split("=", 1)[0]!);

const latin1 = new TextDecoder("latin1");
const DISPOSITION = /content-disposition:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gi;
const NAME = /\bname\*?=\s*(?:"([^"]*)"|([^;\s]*))/gi;

/** Some frameworks read a body without a type as a form. */
function namesInContent({ bytes, type = "" }: Content): string[] {
  if (!bytes) return [];
  if (type === "" || type === "application/x-www-form-urlencoded") {
    return namesInForm(latin1.decode(bytes));
  }
  if (!type.startsWith("multipart/")) return [];
  const parts = latin1.decode(bytes).match(DISPOSITION) ?? [];
  return parts.flatMap((part) => [...part.matchAll(NAME)])
    .map(([, quoted, bare = ""]) => (quoted ?? bare).replaceAll("\\", "").replace(/^.*''/, ""));
}
