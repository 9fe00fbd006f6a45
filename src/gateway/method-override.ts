/**
 * Refuses calls in which a framework would read another method than that of the request line.
 * Rails, Laravel, Symfony and WordPress make a DELETE of a POST with the parameter `_method`.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { Content } from "./call.ts";
import { Refusal } from "./response.ts";

const HEADERS = ["x-http-method", "x-http-method-override", "x-method-override"] as const;

/** PHP reads `.` and spaces as `_`. */
const GAP = "[-_. +]";
const NAMES = `[-_.]method|x${GAP}http${GAP}method(?:${GAP}override)?|x${GAP}method${GAP}override`;
/** PHP ends a name at NUL, and reads `[` as the start of a list. */
const IN_FORM = new RegExp(`(?:^|[&;])[ +]*(${NAMES})[ +]*(?=[[\\0=&;]|$)`, "gi");
const IN_PART = new RegExp(`^[ +]*(${NAMES})[ +]*(?:[[\\0]|$)`, "i");

const REFUSED = new Refusal(
  400,
  CODES.invalidCall,
  "The method of a call is in its request line only, not in a parameter or header",
);

/**
 * The kind, or the operator's own file, may describe a parameter with such a name.
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
  const names = [...sent, ...namesInForm(query), ...namesInContent(content)];
  if (names.some((name) => !known.includes(plainName(name)))) throw REFUSED;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[-. +]/g, "_");

/** The characters that such a name, and what ends it, may have, by their percent-encodings. */
const DECODED: ReadonlyMap<string, string> = new Map(
  [..."\0 -._[abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((character) => {
    const digits = character.charCodeAt(0).toString(16).padStart(2, "0");
    return [`%${digits}`, character];
  }),
);

/** Takes linear time, and throws for no text. */
const decodeNames = (text: string): string =>
  text.replaceAll(/%[0-7][\da-f]/gi, (encoded) => DECODED.get(encoded.toLowerCase()) ?? encoded);

/** Returns the names that would be read as a method. */
const namesInForm = (text: string): string[] =>
  [...decodeNames(text).matchAll(IN_FORM)].map(([, name]) => name!);

const latin1 = new TextDecoder("latin1");
/** The fields of a part that name it. Rack falls back to `Content-ID`. */
const NAMING = /^content-(?:disposition|id):[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const NAME = /(?:\bname\*?=|^content-id:)\s*(?:"([^"]*)"|'([^']*)'|<?([^;\s>]*))/gim;

/** Some frameworks read a body without a type as a form. PHP ends a type at a comma or space. */
function namesInContent({ bytes, type = "" }: Content): string[] {
  if (!bytes) return [];
  const [essence = ""] = type.split(/[,\s]/);
  if (essence === "" || essence === "application/x-www-form-urlencoded") {
    return namesInForm(latin1.decode(bytes));
  }
  if (!essence.startsWith("multipart/")) return [];
  const fields = decodeNames(latin1.decode(bytes)).match(NAMING) ?? [];
  return fields.flatMap((field) => [...field.matchAll(NAME)])
    .map(([, ...texts]) => texts.find(Boolean) ?? "")
    .map((text) => text.replaceAll("\\", "").replace(/^.*''/, ""))
    .flatMap((text) => IN_PART.exec(text)?.[1] ?? []);
}
