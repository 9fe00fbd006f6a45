/** One request and its answer as bytes on a socket, for what a client of HTTP would smooth out. */
import { connect } from "node:net";

/** What is asked. */
export interface Question {
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** An answer as it was sent. */
export interface RawAnswer {
  status: number;
  /** In the order and the letter case in which they came. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** All of its bytes. */
  bytes: Buffer;
}

/** How long an answer may take, in milliseconds. */
const PATIENCE = 10_000;

/** Asks once, on a connection that may stay open, as those of clients under load do. */
export function exchange(port: number, { path, headers }: Question): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const socket = connect(port, "127.0.0.1", () => {
      const fields = Object.entries({ Host: `127.0.0.1:${port}`, ...headers });
      const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n`);
    });
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`No whole answer to ${path}`)));
    socket.on("error", reject).on("close", () => reject(new Error(`${path} was cut`)));
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const answer = parse(bytes);
      if (!answer) return;
      resolve(answer);
      socket.destroy();
    });
  });
}

/** The value of a header, by its name in lower case. */
export function header({ headers }: RawAnswer, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}

/** The answer in some bytes; `undefined` where it is not whole yet. */
function parse(bytes: Buffer): RawAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [start = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(start.split(" ")[1]);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const body = bytes.subarray(end + 4);
  const answer = { status, headers, body, bytes };
  if (status === 304 || status === 204) return answer;
  if (header(answer, "transfer-encoding")) {
    return body.includes("0\r\n\r\n") ? answer : undefined;
  }
  return body.length >= Number(header(answer, "content-length")) ? answer : undefined;
}
