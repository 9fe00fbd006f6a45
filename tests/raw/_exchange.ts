/** Sends bytes over a connection of its own and reads what comes back, whatever it is. */
import { connect } from "node:net";

/** What came back for some bytes. */
export interface Exchange {
  /** The final status, or `"closed"` where the connection was closed without an answer. */
  status: number | "closed";
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** How many final answers came. */
  answers: number;
}

/** Longer than any runtime takes to cut a client that keeps it waiting. */
const PATIENCE = 30_000;

/**
 * Sends bytes and reads until `answers` whole answers have come or the connection is closed.
 *
 * @param url the server's
 * @param bytes what to send, as Latin-1
 * @param expected how many answers to wait for, and whether they have no body (HEAD)
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
      reject(new Error(`No whole answer to ${JSON.stringify(bytes.slice(0, 80))}: ${received}`));
    }, PATIENCE);
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
    // A refusal may come with a reset: what has been received before counts.
    socket.on("error", () => {}).on("close", end);
    socket.on("connect", () => socket.write(bytes, "latin1"));
  });
}

/** Counts the whole answers in a text and reads the last of them; 1xx are passed over. */
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
