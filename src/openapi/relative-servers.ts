/**
 * One document at two depths, `/spec.json` and `/v1/spec.json`. It is written once, with servers relative to
 * the first. Each of these begins with a dot, and with one more where the document is one folder deeper:
 * `.` and `..`, `./v1/node` and `../v1/node`.
 *
 * @module
 */
import { byteLengthOf, type Bytes, joinBytes } from "../bytes.ts";
import type { Json } from "../json/values.ts";
import { mapServers } from "./list-servers.ts";

/** A document as it is served at `/spec.json` or `/spec.yaml`. */
export interface Written {
  readonly text: string;
  /** Where another dot makes it the document that is one folder deeper; in bytes, ascending. */
  readonly dots: readonly number[];
}

/** A document whose relative servers can be found in what is written of it. */
export interface Marked {
  readonly document: Json;
  /** What was written of it, without the marks. */
  read(written: string): Written;
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
  return { document: marked, read: (written) => without(mark, written) };
}

function without(mark: string, written: string): Written {
  const parts = written.split(mark);
  const dots: number[] = [];
  let at = 0;
  for (const part of parts.slice(0, -1)) dots.push(at += byteLengthOf(part));
  return { text: parts.join(""), dots };
}

/** The same document as it is served one folder deeper. */
export function deepen(bytes: Bytes, dots: readonly number[]): Bytes {
  const parts: Bytes[] = [];
  let start = 0;
  for (const at of dots) {
    parts.push(bytes.subarray(start, at), DOT);
    start = at;
  }
  return joinBytes([...parts, bytes.subarray(start)]);
}
