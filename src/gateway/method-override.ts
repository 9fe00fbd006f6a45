/**
 * Refuses calls in which a framework would read another method than that of the request line.
 * Rails, Laravel, Symfony and WordPress make a DELETE of a POST with the parameter `_method`.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { pause } from "../slices.ts";
import type { Content } from "./content.ts";
import { invalidCall } from "./refusal.ts";

const HEADERS = ["x-http-method", "x-http-method-override", "x-method-override"] as const;

/** PHP reads `.` and spaces as `_`. */
const GAP = "[-_. +]";
const NAMES = `[-_.]method|x${GAP}http${GAP}method(?:${GAP}override)?|x${GAP}method${GAP}override`;
/**
 * PHP ends a name at NUL, and reads `[` as the start of a list. A name after very many spaces might
 * be in two blocks.
 */
const IN_FORM = new RegExp(
  `(?:^|[&;])(?:[ +]*(${NAMES})[ +]*(?=[[\\0=&;]|$)|([ +]{1000}))`,
  "gi",
);
const IN_PART = new RegExp(`^[ +]*(${NAMES})[ +]*(?:[[\\0]|$)`, "i");
/** Laravel reads the parameters of a form in JSON, too. */
const IN_JSON = /"_method"\s*(?::|$)/i;

const REFUSED = invalidCall(
  "The method of a call is in its request line only, not in a parameter or header",
);

const ENCODED = invalidCall("A form must not be encoded", 415);

/**
 * The kind, or the operator's own file, may describe a parameter with such a name.
 *
 * @throws {Refusal} if the headers, the query, a form or JSON has such a name
 */
export async function refuseOtherMethods(
  headers: Pick<Headers, "get" | "has">,
  query: string,
  { bytes, type = "" }: Content,
  { isUntrusted, parameters = [] }: NodeOperation,
): Promise<void> {
  const isDescribed = (name: string) =>
    !isUntrusted && parameters.some((known) => plainName(known.name) === plainName(name));
  const check = (names: readonly string[]) => {
    if (!names.every(isDescribed)) throw REFUSED;
  };
  check([...HEADERS.filter((name) => headers.has(name)), ...namesInForm(query)]);
  if (!bytes) return;
  // Laravel looks for the word in the whole header.
  const isJson = /[/+]json/i.test(headers.get("content-type") ?? "");
  const findInForm = finderOf(type);
  if (findInForm && headers.has("content-encoding")) throw ENCODED;
  if (!findInForm && !isJson) return;
  for (const text of blocksOf(bytes)) {
    if (findInForm) check(findInForm(text));
    if (isJson) check(namesInJson(text));
    await pause();
  }
}

/** Some frameworks read a body without a type as a form. PHP ends a type at a comma or space. */
function finderOf(type: string): ((text: string) => string[]) | undefined {
  const [essence = ""] = type.split(/[,\s]/);
  if (essence === "" || essence === "application/x-www-form-urlencoded") return namesInForm;
  return essence.startsWith("multipart/") ? namesInParts : undefined;
}

/** What names a method is shorter than the overlap of two blocks. */
const BLOCK = 65_536, OVERLAP = 4096;
const latin1 = new TextDecoder("latin1");

function* blocksOf(bytes: Bytes): Generator<string> {
  for (let at = 0; at < bytes.byteLength; at += BLOCK) {
    yield latin1.decode(bytes.subarray(at, at + BLOCK + OVERLAP));
  }
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[-. +]/g, "_");

/** An encoded character, in a URL or in JSON. */
const ENCODED_CHARACTER = /(?:%|\\u00)([0-7][\da-f])/gi;
/** The characters that such a name, and what ends it, may have. */
const IN_NAME = /[\0 \-._[a-z]/i;

/** Takes linear time, and throws for no text. */
const decodeNames = (text: string): string =>
  text.replaceAll(ENCODED_CHARACTER, (encoded, digits: string) => {
    const character = String.fromCharCode(parseInt(digits, 16));
    return IN_NAME.test(character) ? character : encoded;
  });

/** Returns the names that would be read as a method. */
const namesInForm = (text: string): string[] =>
  [...decodeNames(text).matchAll(IN_FORM)].map(([, name, spaces]) => name ?? spaces!);

const namesInJson = (text: string): string[] => IN_JSON.test(decodeNames(text)) ? ["_method"] : [];

/** The fields of a part that name it. Rack falls back to `Content-ID`. */
const NAMING = /^content-(?:disposition|id):[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const NAME = /(?:\bname\*?=|^content-id:)\s*(?:"([^"]*)"|'([^']*)'|<?([^;\s>]*))/gim;

function namesInParts(text: string): string[] {
  const fields = text.match(NAMING) ?? [];
  const long = fields.filter(({ length }) => length >= OVERLAP);
  const names = fields.flatMap((field) => [...decodeNames(field).matchAll(NAME)])
    .map(([, ...texts]) => texts.find(Boolean) ?? "")
    .map((text) => text.replaceAll("\\", "").replace(/^.*''/, ""))
    .flatMap((text) => IN_PART.exec(text)?.[1] ?? []);
  return [...long, ...names];
}
