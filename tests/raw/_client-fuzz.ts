/**
 * Parses random responses, valid or malformed, with Nodeface's client and llhttp (the parser of
 * `node:http`).
 */
import { request } from "node:http";
import { Duplex } from "node:stream";
import type { Bytes } from "../../src/bytes.ts";
import { type ResponseHead, ResponseReader } from "../../src/node/http1.ts";
import { createRandom } from "../_random.ts";

export interface Sent {
  readonly method: "GET" | "HEAD" | "POST";
  readonly text: string;
  readonly parts: readonly Bytes[];
}

/**
 * `refused` means that the parser has rejected the response. `cut` means that the response is
 * incomplete.
 */
export type Read = Taken | "refused" | "cut";

interface Taken {
  readonly status: number;
  readonly body: string;
  /**
   * The names are in lower case. For Nodeface's client the list is empty, because this client
   * cannot list header names.
   */
  readonly names: readonly string[];
  get(name: string): string | null;
}

const VERSIONS = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/1.2",
  "HTTP/2.0",
  "http/1.1",
];
const STATUSES = [
  "200",
  "200",
  "200",
  "404",
  "500",
  "204",
  "304",
  "205",
  "100",
  "103",
  "101",
  "600",
];
const REASONS = [" OK", " OK", " Not Found", " ", "", " \t~", " \xe4", " a\x01b", "  two  "];
const FIELDS = [
  ...["X-A: 1", "x-a:2", "X-B: \t b \t", "X-C:", "X-D: \xe4\xa0 ", "X-E: a, b,,c", 'X-F: "a\\"b"'],
  ...["Connection: close", "Connection: keep-alive", "connection: TE, Close", "Trailer: X-T"],
  ...["X G: 1", "X-H : 1", " X-I: 1", ": 1", "X-J", "X-K: a\x01b", "X-L: a\x7fb", "X\xe4: 1"],
  ...["X-M: a\rb", "X-N: a\nb", "X-O: a\0b", "Upgrade: x", "Content-Type: text/plain"],
];
const CODINGS = [
  ...["chunked", "chunked", "chunked", "chunked", "Chunked", " chunked\t", "gzip, chunked"],
  ...["chunked, gzip", "chunked, chunked", "identity", "gzip", "xchunked", "chunked;a=b", ""],
];
const EXTENSIONS = [
  ...["", "", "", "", ";a", ";a=b", ';a="b"', ';a="\\"";b', ";a;b=c", ";", ";;", ";a=", ";=b", " "],
  ...[
    "\t",
    " ;a",
    "; a",
    ";a =b",
    ";a= b",
    ';a="',
    ';a="b',
    ';a="b"c',
    ";a=b,c",
    ";\xe4",
    ";a\x01",
  ],
];
const SIZES = [
  (size: number) => size.toString(16),
  (size: number) => size.toString(16).toUpperCase(),
  (size: number) => `00${size.toString(16)}`,
];
const BROKEN_SIZES = ["", "-1", "+1", "0x1", "g", " 1", "1 1", "1_0", "fffffffffffffffff", "1.5"];
const TRAILERS = [
  "X-T: 1\r\n",
  "X-T:\r\nX-U: \xe4\r\n",
  "no field\r\n",
  "X : 1\r\n",
  "X-T: a\rb\r\n",
]
  .concat(
    "HTTP/1.1 200 OK\r\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: x\r\n",
    " folded\r\n",
  );
const ENDS = ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n", "\n\r\n"];
const BEHIND = ["x", "\r\n", "\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "\0"];
const BYTES = [...'\r\n\0 \t:;,="\\-+0129afAFxX\x01\x7f\x80\xff', "\r\n", "\r\n\r\n", "0\r\n\r\n"];

export function makeResponse(random: () => number): Sent {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length - 1)]!;
  const often = (text: string, others: readonly string[], chance: number) =>
    random() < chance ? pick(others) : text;
  const end = () => often("\r\n", ENDS, 0.003);
  const method = pick(["GET", "GET", "GET", "HEAD", "POST"] as const);

  const makeChunk = (content: string) => {
    const size = often(pick(SIZES)(content.length), BROKEN_SIZES, 0.005);
    return `${size}${often("", EXTENSIONS, 0.05)}${end()}${content}${end()}`;
  };
  const makeChunks = (content: string) => {
    let chunks = "";
    for (let at = 0; at < content.length;) {
      const size = 1 + upTo(random() < 0.5 ? 2 : 40);
      chunks += makeChunk(content.slice(at, at + size));
      at += size;
    }
    const last = `${pick(["0", "0", "000"])}${often("", EXTENSIONS, 0.2)}${end()}`;
    return `${chunks}${last}${random() < 0.3 ? pick(TRAILERS) : ""}${end()}`;
  };
  const makeHead = (fields: readonly string[]) => {
    const version = often("HTTP/1.1", VERSIONS, 0.2);
    const status = often("200", STATUSES, 0.3);
    const lines = [`${version} ${status}${pick(REASONS.slice(0, random() < 0.9 ? 3 : undefined))}`];
    while (random() < 0.5) lines.push(pick(random() < 0.9 ? FIELDS.slice(0, 11) : FIELDS));
    for (const field of fields) lines.splice(1 + upTo(lines.length - 1), 0, field);
    return lines.map((line) => line + end()).join("") + end();
  };

  const content = Array.from({ length: pick([0, 1, 2, 10, 100]) }, () => pick(BYTES)).join("");
  const length = `Content-Length: ${
    often(`${content.length}`, ["0", "1", "+1", "0x1", "1, 1", "1 1"], 0.1)
  }`;
  const coding = `Transfer-Encoding: ${often("chunked", CODINGS, 0.3)}`;
  const framing = random();
  let text = random() < 0.1 ? `HTTP/1.1 ${pick(["100", "103", "102"])} Wait\r\n\r\n` : "";
  if (framing < 0.65) text += makeHead([coding]) + makeChunks(content);
  else if (framing < 0.8) text += makeHead([length]) + content;
  else if (framing < 0.9) text += makeHead([]) + content;
  else if (framing < 0.95) text += makeHead([length, length]) + content;
  else text += makeHead([coding, length]) + makeChunks(content);
  if (random() < 0.1) text += pick(BEHIND);
  for (let left = random() < 0.4 ? 1 + upTo(2) : 0; left > 0; left--) {
    const at = upTo(text.length);
    const until = Math.min(text.length, at + pick([0, 1, 1, 2, 8]));
    const instead = pick([pick(BYTES), pick(BYTES), "", text.slice(at, until).repeat(2)]);
    text = text.slice(0, at) + instead + text.slice(until);
  }
  if (random() < 0.05) text = text.slice(0, upTo(text.length));
  return { method, text, parts: cut(text, random) };
}

function cut(text: string, random: () => number): Bytes[] {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const most = random() < 0.2 ? 1 : 1 + Math.floor(random() * 2 * bytes.length);
  const parts: Bytes[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + Math.floor(random() * most);
    parts.push(bytes.slice(at, at += length));
  }
  return parts;
}

export function readHere({ method, parts }: Sent): Read {
  let head: ResponseHead | undefined;
  let body = "";
  let hasEnded = false;
  const reader = new ResponseReader(method, {
    head: (given) => head = given,
    part: (bytes) => body += String.fromCharCode(...bytes),
    end: () => hasEnded = true,
  });
  try {
    for (const part of parts) reader.push(part.slice());
    reader.close();
  } catch {
    // Bytes after the response cause an error, but the response itself is valid.
    if (!hasEnded) return "refused";
  }
  if (!hasEnded || !head) return "cut";
  const { status, headers } = head;
  return { status, body, names: [], get: (name) => headers.get(name) };
}

class Sender extends Duplex {
  override _read() {}
  override _write(_: unknown, __: unknown, done: () => void) {
    done();
  }
  ref() {}
  unref() {}
  setNoDelay() {}
  setKeepAlive() {}
  setTimeout() {}
}

export function readByNode({ method, parts }: Sent): Promise<Read> {
  return new Promise((resolve) => {
    const socket = new Sender();
    let read: Read = "cut";
    const message = request({ method, createConnection: () => socket as never });
    message.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (read === "cut" && code?.startsWith("HPE_")) read = "refused";
    });
    message.on("upgrade", () => read = "refused");
    let isOpen = false;
    message.on("close", () => isOpen || resolve(read));
    message.on("response", (response) => {
      let body = "";
      response.setEncoding("latin1").on("data", (part: string) => body += part);
      isOpen = true;
      response.on("error", () => {});
      response.on("close", () => {
        if (!response.complete) return resolve(read);
        const { statusCode: status = 0, rawHeaders } = response;
        const fields = rawHeaders.flatMap((name, at) =>
          at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]!] as const] : []
        );
        const get = (wanted: string) => {
          const values = fields.filter(([name]) => name === wanted).map(([, value]) => value);
          return values.length === 0 ? null : values.join(", ");
        };
        resolve({ status, body, get, names: fields.map(([name]) => name) });
      });
    });
    message.end();
    // Delays the response until `node:http` has sent the request, which happens in the next tick.
    setImmediate(() => {
      for (const part of parts) socket.push(part);
      socket.push(null);
    });
  });
}

/**
 * `counts` is the number of responses, keyed by the outcomes of Nodeface's parser and of llhttp.
 */
export interface Compared {
  readonly counts: Record<string, number>;
  readonly known: Record<string, number>;
  readonly differences: string[];
}

/**
 * Known differences: responses that Nodeface's client accepts, and that llhttp rejects or parses
 * differently.
 */
const KNOWN: Readonly<Record<string, (here: Taken, text: string) => boolean>> = {
  "the same length twice, which a recipient may accept (RFC 9112, section 6.3)": (here) =>
    here.get("content-length")?.includes(",") === true,
  "a tab after a value, which llhttp reads as a part of the value": (_, text) =>
    /(?:chunked|content-length:[ \t]*\d+) *\t/i.test(text),
};

export async function compare(count: number, seed: number): Promise<Compared> {
  const random = createRandom(seed);
  const compared: Compared = { counts: {}, known: {}, differences: [] };
  const add = (counts: Record<string, number>, name: string) =>
    counts[name] = (counts[name] ?? 0) + 1;
  const nameOf = (read: Read) => typeof read === "string" ? read : "taken";
  for (let i = 0; i < count; i++) {
    const sent = makeResponse(random);
    const here = readHere(sent);
    const node = await readByNode(sent);
    add(compared.counts, `here ${nameOf(here)}, by llhttp ${nameOf(node)}`);
    if (typeof here === "string" || isSame(here, node)) continue;
    const reason = Object.keys(KNOWN).find((reason) => KNOWN[reason]!(here, sent.text));
    if (reason) add(compared.known, reason);
    else compared.differences.push(`${sent.method} ${JSON.stringify(sent.text)}: ${nameOf(node)}`);
  }
  return compared;
}

function isSame(here: Taken, node: Read): boolean {
  return typeof node !== "string" && here.status === node.status && here.body === node.body &&
    node.names.every((name) => here.get(name) === node.get(name));
}
