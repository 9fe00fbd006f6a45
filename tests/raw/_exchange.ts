/** Sends bytes on a new connection, and reads the responses. */
import { connect } from "node:net";

/** The last response on a connection, and the number of responses. */
export interface Exchange {
  /** `"closed"` means that the connection was closed without a response. */
  status: number | "closed";
  /** The names of the header fields are in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Interim responses (1xx) are not counted. */
  answers: number;
}

/** A timeout that is longer than the idle timeout of every runtime, in milliseconds. */
const TIMEOUT = 30_000;

/**
 * Sends bytes, and reads until the expected responses are complete or the connection is closed.
 *
 * @param bytes a Latin-1 string, in which each character is one byte
 * @param expected the number of responses, and whether they have no body, like responses to HEAD
 */
export function exchange(
  url: string,
  bytes: string,
  expected: { answers: number; bodiless: boolean },
): Promise<Exchange> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = "";
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No full response to ${JSON.stringify(bytes.slice(0, 80))}: ${received}`));
    }, TIMEOUT);
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      const { answers, last } = parse(received, expected.bodiless);
      resolve({ ...(last ?? { status: "closed", headers: {}, body: "" }), answers });
    };
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
      if (parse(received, expected.bodiless).answers >= expected.answers) end();
    });
    // The server may reset the connection after its response, so errors are ignored.
    socket.on("error", () => {}).on("close", end);
    socket.on("connect", () => socket.write(bytes, "latin1"));
  });
}

function parse(text: string, bodiless: boolean) {
  let answers = 0;
  let last: Omit<Exchange, "answers"> | undefined;
  for (let rest = text;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return { answers, last };
    const [line, ...fields] = rest.slice(0, end).split("\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line!)?.[1]);
    const headers = Object.fromEntries(fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }));
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const length = bodiless || status === 204 || status === 304
      ? 0
      : Number(headers["content-length"] ?? 0);
    if (rest.length < length) return { answers, last };
    last = { status, headers, body: rest.slice(0, length) };
    rest = rest.slice(length);
    answers++;
  }
}
