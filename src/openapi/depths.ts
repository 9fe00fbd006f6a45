/**
 * One document at two depths, `/spec.json` and `/v1/spec.json`. It is written once, with servers relative to
 * the first. Each of these begins with a dot, and with one more where the document is one folder deeper:
 * `.` and `..`, `./v1/node` and `../v1/node`.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import type { Json } from "../json/values.ts";
import { mapServers } from "./list-servers.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A document as it is served at `/spec.json` or `/spec.yaml`. */
export interface Written {
  readonly bytes: Bytes;
  /** Where another dot makes it the document that is one folder deeper; in bytes, ascending. */
  readonly dots: readonly number[];
}

/** A document whose relative servers can be found in what is written of it. */
export interface Marked {
  readonly document: Json;
  /** What was written of it, without the marks; the bytes are changed. */
  read(written: Bytes): Written;
}

const DOT = new TextEncoder().encode(".");

/** Marks the relative servers of a document with what no document can hold, and YAML has to quote. */
export function markServers(document: Json): Marked {
  const mark = `@${crypto.randomUUID()}`;
  const marked = mapServers(
    document,
    (servers) =>
      servers.map((server) =>
        typeof server.url === "string" && server.url.startsWith(".")
          ? { ...server, url: mark + server.url }
          : server
      ),
  );
  return { document: marked, read: (written) => without(new TextEncoder().encode(mark), written) };
}

/** Moves what stands behind each mark to where the mark was: a copy would take the memory twice. */
function without(mark: Bytes, written: Bytes): Written {
  const dots: number[] = [];
  let length = 0;
  let start = 0;
  for (let at = find(mark, written, 0); at >= 0; at = find(mark, written, start)) {
    written.copyWithin(length, start, at);
    length += at - start;
    dots.push(length);
    start = at + mark.length;
  }
  if (dots.length === 0) return { bytes: written, dots };
  written.copyWithin(length, start);
  return { bytes: written.subarray(0, length + written.length - start), dots };
}

/** The same document as it is served one folder deeper. */
export function deepen({ bytes, dots }: Written): Bytes {
  const parts: Bytes[] = [];
  let start = 0;
  for (const at of dots) {
    parts.push(bytes.subarray(start, at), DOT);
    start = at;
  }
  return joinBytes([...parts, bytes.subarray(start)]);
}

/** Where bytes stand next in others; -1 where they do not. */
function find(sought: Bytes, bytes: Bytes, from: number): number {
  const [first = 0] = sought;
  let at = bytes.indexOf(first, from);
  while (at >= 0 && !sought.every((byte, i) => bytes[at + i] === byte)) {
    at = bytes.indexOf(first, at + 1);
  }
  return at;
}
