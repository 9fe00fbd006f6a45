/**
 * From the place of a node's description to what is served: read, check, bundle, merge, write.
 *
 * @module
 */
import { upgradeFromTwoToThree } from "@scalar/openapi-upgrader/2.0-to-3.0";
import { bundleFiles, bundlingEdits } from "./bundle.ts";
import { joinPieces } from "./utf8.ts";
import { check } from "./lint.ts";
import { applyEdits, type Edit } from "./document-edits.ts";
import { type Files, gather } from "./resolve-files.ts";
import type { Finding } from "./diagnostics.ts";
import { insertEdits } from "./edit-yaml-text.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import type { DescribedOperation } from "./operations-of-host.ts";
import { ownEdits } from "./service-operations.ts";
import type { Reader } from "./read-file-or-url.ts";
import { isAstray, openServers, originsOf, serverEdits, type Whereabouts } from "./servers.ts";
import { complain, type Source } from "./parse.ts";
import { isEqual, type Json, setMember } from "../json/values.ts";
import { jsonPieces, yamlPieces } from "./serialize.ts";
import { parseYaml } from "./parse-yaml.ts";

/** A description in both forms, not yet ready to be served. */
export interface Merged<T> {
  /** What was made of the document, which is not kept itself: it may be large. */
  readonly made: T;
  /** In UTF-8, as texts of this size are better not kept twice. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly yaml: Uint8Array<ArrayBuffer>;
}

/** What came of reading a description. */
export interface Outcome<T> {
  /** `undefined` where a finding is fatal. */
  readonly merged: Merged<T> | undefined;
  readonly findings: readonly Finding[];
  /** The stamp of each file by its URL, to see whether it has changed. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** What a description says. */
export interface Said {
  /** The document as JSON values; a whole number too large for `number` is a `bigint`. */
  readonly document: Json;
  /** The origins of its servers. */
  readonly origins: readonly string[];
}

/**
 * Loads a description. Each step leaves to the next what that needs and nothing else, so that a large
 * description is there in two or three forms at a time.
 *
 * @param entry where it is
 * @param read reads its files
 * @param own this service's own description, whose operations are added
 * @param operations further operations of a host
 * @param where what is known of where the node is
 * @param make makes what is kept of the document
 */
export async function load<T>(
  entry: URL,
  read: Reader,
  own: Json,
  operations: readonly DescribedOperation[],
  where: Whereabouts,
  make: (said: Said) => Promise<T>,
): Promise<Outcome<T>> {
  const files = await gather(entry, read);
  const { stamps } = files;
  try {
    const { findings, said, yaml } = await merge(files, own, operations, where);
    if (!said) return { merged: undefined, findings, stamps };
    const { document } = said;
    const merged = {
      made: await make(said),
      json: await joinPieces(() => jsonPieces(document)),
      yaml: yaml || await joinPieces(() => yamlPieces(document)),
    };
    return { merged, findings, stamps };
  } catch (error) {
    // Nobody knows all that a document may hold: the service goes on without it.
    const message = `cannot be shown: ${(error as Error).message}`;
    const { name: file } = files.root.source;
    const level = "error" as const;
    const findings = [{ file, line: 1, column: 1, message, isFatal: true, level }];
    return { merged: undefined, findings, stamps };
  }
}

/** What came of merging a description with this service's operations. */
interface Joined extends Pick<Outcome<never>, "findings"> {
  /** `undefined` where a finding is fatal. */
  said?: Said;
  /** The YAML that says so, where it could be made of the source's own text. */
  yaml?: Uint8Array<ArrayBuffer> | undefined;
}

async function merge(
  files: Files,
  own: Json,
  operations: readonly DescribedOperation[],
  where: Whereabouts,
): Promise<Joined> {
  const { root } = files;
  const findings = check(files);
  if (findings.some(({ isFatal }) => isFatal)) return { findings };
  const near = nearOf(root.url, where);
  const { source } = root;
  const { document, edits } = await single(files);
  if (isAstray(document, near)) {
    const message = "where the node is reached is not said; operations are tried at this service";
    const place = { file: source.name, line: 1, column: 1 };
    findings.push({ ...place, message, isFatal: false, level: "note" });
  }
  const located = serverEdits(document, near);
  const placed = applyEdits(document, located);
  findings.push(...complain(source, [...openServers(placed)]));
  const added = ownEdits(own, placed, operations);
  const merged = applyEdits(placed, added);
  const yaml = edits && await insert(source, [...edits, ...located, ...added], merged);
  return { findings, said: { document: merged, origins: originsOf(merged) }, yaml };
}

/** Where servers are when a document comes from a URL: they are relative to that. */
function nearOf(url: string, where: Whereabouts): Whereabouts {
  if (!/^http/.test(url)) return where;
  const { itself: home = new URL("/", url).href } = where;
  return { ...where, base: new URL(".", url).href, home };
}

/** One document of OpenAPI 3, and how its text is changed to say so, where that can be done. */
async function single(files: Files): Promise<{ document: Json; edits: Edit[] | undefined }> {
  const { root } = files;
  const { source, links } = root;
  const isAlone = links.every(({ target }) => target === root.url);
  const document = isAlone ? source.value as Json : await bundleFiles(files);
  // The bundler has changed what was read: pieces of the text do not say it any more.
  if (!isAlone) source.known.clear();
  if (document.swagger === undefined) {
    return { document, edits: isAlone ? [] : bundlingEdits(document, links) };
  }
  // It changes what it is given, of which parts may be shared.
  const copy = parseJson(formatJson(document)) as Json;
  return { document: firstVersion(upgradeFromTwoToThree(copy) as Json), edits: undefined };
}

/** Puts the version where a reader looks for it; the library puts it last. */
function firstVersion({ openapi, ...rest }: Json): Json {
  const document: Json = { openapi };
  for (const key of Object.keys(rest)) setMember(document, key, rest[key]);
  return document;
}

/** The source's own text with the changes made, where that says what it should. */
async function insert(
  { bytes, isJson, isFaithful, known }: Source,
  edits: readonly Edit[],
  merged: Json,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (isJson || !isFaithful) return undefined;
  const edited = insertEdits(bytes, edits, merged);
  if (edited === undefined) return undefined;
  const { value, problems } = await parseYaml(edited, known);
  return problems.length === 0 && isEqual(value, merged) ? edited : undefined;
}
