/**
 * Tests the HTTP client for the node. The client parses responses even if they arrive byte by byte,
 * and reuses connections.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AddressBook, ServerAddress } from "../src/node/address-book.ts";
import { Connection, shareLookups, SocketClient } from "../src/node/connection.ts";
import { failureOf } from "../src/node/failures.ts";
import { type ResponseHead, ResponseReader, STALE, writeHead } from "../src/node/http1.ts";
import { passTime } from "./_clock.ts";
import { createRandom } from "./_random.ts";

const client = suite("the client for the node");

interface Read {
  status?: number;
  headers?: ResponseHead["headers"];
  text: string;
  /** True if the connection can be reused, or `undefined` if the response has not ended. */
  isKept?: boolean;
}

function read(answer: string, length = answer.length, method = "GET"): Read {
  const read: Read = { text: "" };
  const reader = new ResponseReader(method, {
    head: (head) => Object.assign(read, head),
    part: (bytes) => read.text += String.fromCharCode(...bytes),
    end: (isKept) => read.isKept = isKept,
  });
  for (let at = 0; at < answer.length; at += length) {
    const part = answer.slice(at, at + length);
    reader.push(Uint8Array.from(part, (character) => character.charCodeAt(0)));
  }
  reader.close();
  return read;
}

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";

const WHOLE: readonly [answer: string, text: string, isKept: boolean, method?: string][] = [
  [`${OK}Content-Length: 2\r\n\r\nok`, "ok", true],
  [`${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`, "ok", true],
  [`${OK}Content-Length: 0\r\n\r\n`, "", true],
  ["HTTP/1.1 200\r\ncontent-length:2 \r\n\r\nok", "ok", true],
  [`${OK}Content-Length: 2\r\nConnection: close\r\n\r\nok`, "ok", false],
  [`${OK}Content-Length: 2\r\nConnection: TE, Close\r\n\r\nok`, "ok", false],
  ["HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false],
  [`${OK}\r\nuntil the end`, "until the end", false],
  [`${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, "ok", true],
  [
    `${OK}${CHUNKED}\r\n2;a="b"\r\nok\r\n00A\r\n0123456789\r\n0\r\nX: y\r\n\r\n`,
    "ok0123456789",
    true,
  ],
  [`${OK}${CHUNKED}\r\n2;a;b=c;d="\\" ;\xe4"\r\nok\r\n0;e\r\nX:\r\nY: \t\xe4 \r\n\r\n`, "ok", true],
  ["HTTP/1.1 200 \t\xe4~\r\nX:\t\xe4 ~\t\r\nContent-Length:\t2 \r\n\r\nok", "ok", true],
  [`${OK}Content-Length: 5\r\n\r\n`, "", false, "HEAD"],
  ["HTTP/1.1 204 No Content\r\n\r\n", "", true],
  ["HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", false],
  [`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, "ok", true],
];

for (const [answer, text, isKept, method] of WHOLE) {
  client(`parses ${JSON.stringify(answer.slice(0, 60))}, in parts of any length`, () => {
    for (let length = 1; length <= answer.length; length++) {
      const got = read(answer, length, method);
      assert.is(got.text, text, `parts of ${length}`);
      assert.is(got.isKept, isKept, `parts of ${length}`);
    }
  });
}

const CUT = [
  "",
  "HTTP/1.1 20",
  `${OK}Content-Length: 3\r\n\r\nok`,
  `${OK}${CHUNKED}\r\n3\r\nok`,
  `${OK}${CHUNKED}\r\n2\r\nok\r\n`,
  `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n`,
  `${OK}Content-Len`,
];

for (const answer of CUT) {
  client(`treats ${JSON.stringify(answer)} as an incomplete response`, () => {
    assert.is(read(answer).isKept, undefined);
  });
}

const REFUSED = [
  `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
  `${OK}Content-Length: 2, 3\r\n\r\nok`,
  `${OK}Content-Length: +2\r\n\r\nok`,
  `${OK}Content-Length: 0x2\r\n\r\nok`,
  `${OK}Content-Length: -2\r\n\r\nok`,
  `${OK}Content-Length: \r\n\r\nok`,
  `${OK}Content-Length: 2\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`,
  `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`,
  `${OK}Transfer-Encoding: identity\r\n\r\n`,
  `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n`,
  `HTTP/1.0 100 Continue\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
  `HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
  `${OK}${CHUNKED}\r\nzz\r\n`,
  `${OK}${CHUNKED}\r\n-1\r\n`,
  `${OK}${CHUNKED}\r\n2\r\nokay\r\n0\r\n\r\n`,
  `${OK}${CHUNKED}\r\n 2\r\nok\r\n0\r\n\r\n`,
  `${OK}${CHUNKED}\r\n1000000000000000\r\n`,
  "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
  `${OK}X: a\r\n folded\r\n\r\n`,
  `${OK}X : a\r\n\r\n`,
  `${OK}: a\r\n\r\n`,
  `${OK}X: a\0b\r\n\r\n`,
  `${OK}X: a\rb\r\n\r\n`,
  ...[..."\x01\x08\x0b\x0c\x1b\x1f\x7f"].flatMap((control) => [
    `${OK}X: a${control}b\r\nContent-Length: 0\r\n\r\n`,
    `HTTP/1.1 200 O${control}K\r\nContent-Length: 0\r\n\r\n`,
    `${OK}${CHUNKED}\r\n2;a="${control}"\r\nok\r\n0\r\n\r\n`,
    `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nX: ${control}\r\n\r\n`,
  ]),
  // `String.trim` treats U+00A0 as white space, but HTTP does not.
  `${OK}Content-Length: 2\xa0\r\n\r\nok`,
  ...["2 ", "2\t", "2 ;a", "2\t;a", "2; a", "2;a =b", "2;a= b", "2;", "2;;a", "2;a=", "2;=b"]
    .concat(
      '2;a="',
      '2;a="b',
      '2;a="b"c',
      '2;a="\\"',
      '2;"a"',
      "2;a=b,c",
      "2;a\xe4",
      "2 a",
      "2x",
      "0x2",
    )
    .concat("+2", "", ";a", "2,", "2_0", "\xb2", "0000000000002")
    .map((size) => `${OK}${CHUNKED}\r\n${size}\r\nok\r\n0\r\n\r\n`),
  ...["no field", "HTTP/1.1 200 OK", ": a", "X : a", " X: a", "X\xe4: a", "X: a\rb", "X", "\0"]
    .concat("Content-Length: 2", "transfer-encoding: chunked")
    .map((trailer) => `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n${trailer}\r\n\r\n`),
  "HTTP/2 200 OK\r\n\r\n",
  "HTTP/1.1 99 No\r\n\r\n",
  "HTTP/1.1 099 No\r\n\r\n",
  "HTTP/1.1 600 No\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
  ...["Content-Length: 0", "Content-Length: 3", CHUNKED.trim()].map((field) =>
    `HTTP/1.1 100 Continue\r\n${field}\r\n\r\n${OK}Content-Length: 0\r\n\r\n`
  ),
  "SSH-2.0-OpenSSH\r\n",
  `\r\n${OK}\r\n`,
  `${OK}Content-Length: 2\r\n\r\nok${OK}`,
];

for (const answer of REFUSED) {
  client(`refuses ${JSON.stringify(answer.slice(0, 60))}, in parts of any length`, () => {
    for (const length of [1, 2, 3, 7, 64, answer.length]) {
      let code: unknown;
      try {
        read(answer, length);
      } catch (error) {
        ({ code } = error as { code?: unknown });
      }
      assert.is(code, "HPE_INVALID", `parts of ${length}`);
    }
  });
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const LINKS = `HTTP/1.1 103 Early Hints\r\n${"Link: </a>\r\n".repeat(300)}\r\n`;
const EMPTY = `${OK}Content-Length: 0\r\n\r\n`;
const LONG_HEAD = "sent more than 16 KiB of headers";
const LONG_CHUNKS = "sent more than 16 KiB of chunk extensions or trailers";

/** Each response is well-formed, but has too much beside its content. */
const EXCESSIVE: readonly [what: string, answer: string, message: string][] = [
  [
    "11 interim responses",
    CONTINUE.repeat(11) + EMPTY,
    "sent more than 10 interim responses (1xx) before its response",
  ],
  ["long interim responses", LINKS.repeat(5) + EMPTY, LONG_HEAD],
  [
    "a head that is too long together with the interim response before it",
    `${LINKS}${OK}${"X: a\r\n".repeat(2200)}\r\n`,
    LONG_HEAD,
  ],
  ["an endless status line", `HTTP/1.1 200 ${"a".repeat(17_000)}`, LONG_HEAD],
  ["an endless header", `${OK}X: ${"a".repeat(17_000)}`, LONG_HEAD],
  ["endless headers", `${OK}${"X: a\r\n".repeat(3000)}`, LONG_HEAD],
  ["endless trailers", `${OK}${CHUNKED}\r\n0\r\n${"X: a\r\n".repeat(3000)}`, LONG_CHUNKS],
  [
    "endless chunk extensions",
    `${OK}${CHUNKED}\r\n${`1;${"a".repeat(99)}\r\na\r\n`.repeat(170)}`,
    LONG_CHUNKS,
  ],
  [
    "the error of a stream whose status has been sent",
    `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nX-Stream-Error: block was not found\r\n\r\n`,
    "sent an error after the start of its response",
  ],
];

for (const [what, answer, message] of EXCESSIVE) {
  client(`refuses ${what}, in parts of any length`, () => {
    for (const length of [1, 7, 999, answer.length]) {
      assert.throws(() => read(answer, length), (error: Error) => error.message === message);
    }
  });
}

client("ten interim responses may come before a response", () => {
  const { status, isKept } = read(CONTINUE.repeat(10) + EMPTY, 50);
  assert.equal([status, isKept], [200, true]);
});

client("the socket is closed as soon as a node sends too many interim responses", async () => {
  const { socket, exchange } = exchanging(CONTINUE.repeat(11));
  let message = "";
  await exchange().catch((error: Error) => ({ message } = error));
  assert.match(message, "interim responses");
  assert.ok(socket.destroyed);
});

client("random chunks are parsed with the same result in one piece and byte by byte", () => {
  const random = createRandom(7);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const outcomeOf = (answer: string, length?: number) => {
    try {
      return JSON.stringify(read(answer, length));
    } catch (error) {
      return String(error);
    }
  };
  let refused = 0;
  for (let i = 0; i < 300; i++) {
    let answer = `${OK}${CHUNKED}\r\n`;
    for (let left = random() * 60; left > 0; left--) {
      const size = Math.floor(pick([3, 20, 270])! * random());
      const digits = pick(["", "", "0", "00"]) + size.toString(16);
      const line = size === 0 ? "1" : pick([digits, digits.toUpperCase()]);
      answer += `${line}${pick(["", "", "", ";a"])}\r\n${
        "a\r\n1".repeat(99).slice(0, size || 1)
      }\r\n`;
    }
    answer += "0\r\n\r\n";
    if (i % 3 === 0) {
      const at = 60 + Math.floor(random() * (answer.length - 60));
      answer = answer.slice(0, at) + pick(["\r", "\n", "0", "x", " ", "\0"]) + answer.slice(at + 1);
    }
    const outcome = outcomeOf(answer, 1);
    refused += Number(outcome.startsWith("Error"));
    assert.is(outcomeOf(answer), outcome, answer);
    assert.is(outcomeOf(answer, 700), outcome, answer);
  }
  assert.ok(refused >= 10, `${refused} refused`);
});

client("any number of chunks is parsed; only the total length of extensions is limited", () => {
  for (const size of ["1", "01", "001", "0000001", "000000000001"]) {
    const chunks = `${size}\r\na\r\n`.repeat(20_000);
    const { text, isKept } = read(`${OK}${CHUNKED}\r\n${chunks}0\r\n\r\n`, 999);
    assert.is(text.length, 20_000);
    assert.ok(isKept);
  }
});

client("headers are found in any letter case, and repeated headers are joined", () => {
  const { headers } = read(`${OK}X-A: 1\r\nx-a: 2\r\nX-B:\t b\xa0 \t\r\nContent-Length: 0\r\n\r\n`);
  assert.is(headers!.get("X-a"), "1, 2");
  assert.is(headers!.get("x-b"), "b\xa0");
  assert.is(headers!.get("x-c"), null);
});

const request = (headers: Record<string, string>) => ({
  method: "GET",
  url: new URL("http://node.example:8080/a%20b?c=d#e"),
  headers,
  body: undefined,
});

client("a request has the host, path and query of its URL, and the content length", () => {
  assert.is(
    writeHead(request({ accept: "*/*" })),
    "GET /a%20b?c=d HTTP/1.1\r\nhost: node.example:8080\r\naccept: */*\r\n" +
      "connection: keep-alive\r\n\r\n",
  );
  assert.match(writeHead({ ...request({}), method: "POST" }), /\r\ncontent-length: 0\r\n/);
  assert.match(writeHead({ ...request({}), body: new Uint8Array(7) }), /\r\ncontent-length: 7\r\n/);
});

client("a header name or value that could become two headers is refused", () => {
  for (
    const [name, value] of [["a", "b\r\nc: d"], ["a", "b\n"], ["a\r\nb", "c"], ["a", "\u0100"]]
  ) {
    assert.throws(() => writeHead(request({ [name!]: value! })), /malformed/);
  }
});

/**
 * The server responds with the number of the connection. Later, the server sends a response that
 * nobody requested.
 */
class Talkative extends Duplex {
  readonly number: number;
  #isUsed = false;

  constructor(number: number) {
    super();
    this.number = number;
  }

  override _read() {}

  override _write(_: unknown, __: unknown, done: () => void) {
    this.push(`${OK}Content-Length: 1\r\n\r\n${this.number}`);
    done();
  }

  /**
   * Simulates Deno, which reads bytes that arrive on an idle connection only after `ref` is called.
   */
  ref() {
    if (this.#isUsed) this.push(`${OK}Content-Length: 1\r\n\r\n0`);
    this.#isUsed = true;
  }

  unref() {}
  setNoDelay() {}
  setTimeout() {}
}

for (const isSentOnce of [false, true]) {
  const kind = isSentOnce ? "must be sent only once" : "may be repeated";
  client(`an unsolicited response is not used for a request that ${kind}`, async () => {
    let connections = 0;
    const open = () => new Talkative(++connections) as unknown as Socket;
    const sockets = new SocketClient(open);
    const connectionKey = {};
    const ask = async () => {
      const url = new URL("http://node.example/");
      const { signal } = new AbortController();
      const request = { method: "GET", url, headers: {}, body: undefined, signal };
      const answer = await sockets.send({
        ...request,
        isSentOnce,
        connectionKey: isSentOnce ? connectionKey : undefined,
      });
      return new TextDecoder().decode(await answer.next());
    };
    assert.is(await ask(), "1");
    assert.is(await ask(), "2");
  });
}

class Answering extends Duplex {
  readonly #answers: string[];

  constructor(...answers: string[]) {
    super();
    this.#answers = answers;
  }

  override _read() {}

  override _write(_: unknown, __: unknown, done: () => void) {
    this.emit("written");
    this.push(this.#answers.shift());
    done();
  }

  ref() {}
  unref() {}
  setNoDelay() {}
  setTimeout() {}
}

for (const [status, end] of [[200, "closes"], [401, "stays open"], [403, "stays open"]] as const) {
  client(`after ${status}, the connection of a request that is sent once ${end}`, async () => {
    const socket = new Answering(`HTTP/1.1 ${status} x\r\nContent-Length: 1\r\n\r\n1`);
    const sockets = new SocketClient(() => socket as unknown as Socket);
    const answer = await sockets.send({
      method: "POST",
      url: new URL("http://node.example/"),
      headers: {},
      body: undefined,
      signal: new AbortController().signal,
      isSentOnce: true,
      connectionKey: {},
    });
    while (await answer.next());
    assert.is(socket.destroyed, end === "closes");
  });
}

/** A server at an address, which responds with the address. */
class Addressed extends Answering {
  connecting = true;
  readonly remoteAddress: string;

  /** @param asked gets the address whenever a request is sent to it */
  constructor(address: string, asked: string[]) {
    const answer = `${OK}Content-Length: 1\r\n\r\n${address}`;
    super(answer, answer, answer);
    this.remoteAddress = address;
    this.on("written", () => asked.push(address));
    setImmediate(() => {
      this.connecting = false;
      this.emit("connect");
    });
  }
}

class Refusing extends Answering {
  connecting = true;

  constructor() {
    super();
    setImmediate(() => this.emit("error", Object.assign(new Error(), { code: "ECONNREFUSED" })));
  }
}

function beside(isPinned = false) {
  const held = { address: "a", down: "" };
  const asked: string[] = [];
  const open = (_: URL, address = held.address) =>
    (address === held.down ? new Refusing() : new Addressed(address, asked)) as unknown as Socket;
  const url = new URL("http://node.example/");
  const addresses = new AddressBook(isPinned);
  const server = addresses.of(url);
  const sockets = new SocketClient(open, addresses);
  const ask = async (connectionKey = {}) => {
    const { losses } = server;
    const answer = await sockets.send({
      ...{ method: "GET", url, headers: {}, body: undefined },
      signal: new AbortController().signal,
      isSentOnce: false,
      connectionKey,
      isStale: () => server.losses !== losses,
    });
    return new TextDecoder().decode(await answer.next());
  };
  return { held, server, asked, ask };
}

client("nothing is sent to a new address of a name before the node there is verified", async () => {
  const { held, server, asked, ask } = beside();
  const connectionKey = {};
  assert.equal([await ask(connectionKey), await ask(connectionKey)], ["a", "a"]);
  held.address = "b";
  assert.is(await ask(connectionKey), "a");
  const error = await ask().catch((error: unknown) => error);
  assert.is(error, STALE);
  assert.not(asked.includes("b"));
  assert.is(server.losses, 1);
  assert.is(await ask(connectionKey), "b", "a connection to the former address was used");
  assert.is(server.losses, 1);
});

client("a name is looked up again each minute", async () => {
  const { held, ask } = beside();
  const connectionKey = {};
  assert.is(await ask(connectionKey), "a");
  held.address = "b";
  passTime(59_000);
  assert.is(await ask(connectionKey), "a");
  passTime(2000);
  assert.is(await ask(connectionKey).catch((error: unknown) => error), STALE);
  assert.is(await ask(connectionKey), "b");
});

client("while a node is expected, only one of the addresses of its name is used", async () => {
  const { held, server, ask } = beside(true);
  assert.is(await ask(), "a");
  held.address = "b";
  assert.equal([await ask(), await ask()], ["a", "a"]);
  passTime(61_000);
  assert.is(await ask().catch((error: unknown) => error), STALE);
  held.address = "a";
  assert.equal([await ask(), await ask()], ["b", "b"]);
  assert.is(server.losses, 1);
});

client("if the address that is used is down, another one is verified and used", async () => {
  const { held, server, ask } = beside(true);
  assert.is(await ask(), "a");
  Object.assign(held, { address: "b", down: "a" });
  for (const _ of ["the address is down", "another address"]) {
    assert.is(await ask().catch((error: unknown) => error), STALE);
  }
  assert.is(await ask(), "b");
  assert.is(server.losses, 2);
});

client("a request that cannot be sent leaves no connection open", async () => {
  const opened: Socket[] = [];
  const url = new URL("http://node.example/");
  const addresses = new AddressBook();
  const open = () => {
    const socket = new Answering(`${OK}Content-Length: 0\r\n\r\n`) as unknown as Socket;
    opened.push(socket);
    return socket;
  };
  const sockets = new SocketClient(open, addresses);
  const controller = new AbortController();
  const send = (headers = {}) =>
    sockets.send({
      ...{ method: "GET", url, headers, body: undefined },
      signal: controller.signal,
      isSentOnce: false,
      connectionKey: undefined,
    });
  await send({ "a b": "" }).then(() => assert.unreachable(), () => {});
  await send();
  const aborted = send();
  controller.abort();
  await aborted.then(() => assert.unreachable(), () => {});
  assert.equal(opened.map(({ destroyed }) => destroyed), [true, true]);
  assert.is(addresses.of(url).losses, 0);
});

const exchanging = (...answers: string[]) => {
  const socket = new Answering(...answers) as unknown as Socket;
  const connection = new Connection(socket, 1000, [], { server: new ServerAddress(false) });
  const exchange = () =>
    connection.exchange({
      ...{ method: "GET", url: new URL("http://node.example/"), headers: {}, body: undefined },
      signal: new AbortController().signal,
      isSentOnce: false,
    });
  return { socket, exchange };
};

client(
  "an error of TLS after the handshake may come after the request was carried out",
  async () => {
    const failureCode = async (isSecured: boolean, code: string) => {
      const { socket, exchange } = exchanging("");
      socket.emit("connect");
      if (isSecured) socket.emit("secureConnect");
      const exchanged = exchange();
      socket.emit("error", Object.assign(new Error(code), { code }));
      return failureOf(await exchanged.catch((error: unknown) => error)).code;
    };
    const broken = "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC";
    assert.is(await failureCode(true, broken), "reset");
    assert.is(await failureCode(false, broken), "tls");
    assert.is(await failureCode(true, "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"), "tls");
  },
);

client("a name is looked up once for all who wait for its address", () => {
  const found: (() => void)[] = [];
  const lookup = shareLookups((_, __, callback) =>
    void found.push(() => callback(null, "192.0.2.1", 4))
  );
  const told: string[] = [];
  const look = (name: string) =>
    lookup(name, { family: 4 }, (_, address) => void told.push(`${name} ${address}`));
  ["a", "a", "b"].forEach(look);
  assert.is(found.length, 2);
  found[0]!();
  assert.equal(told, ["a 192.0.2.1", "a 192.0.2.1"]);
  look("a");
  assert.is(found.length, 3);
});

client("a connection that loses its route may have sent the request", async () => {
  const { socket, exchange } = exchanging("");
  socket.emit("connect");
  const exchanged = exchange();
  socket.emit("error", Object.assign(new Error("read EHOSTUNREACH"), { code: "EHOSTUNREACH" }));
  assert.is(failureOf(await exchanged.catch((error: unknown) => error)).code, "reset");
});

for (const size of ["1", "000000000001"]) {
  client(`chunks of ${size} byte are joined, and all bytes received are counted`, async () => {
    const count = 20_000;
    const text = `${OK}${CHUNKED}\r\n${`${size}\r\na\r\n`.repeat(count)}0\r\n\r\n`;
    const { exchange } = exchanging(text);
    const answer = await exchange();
    let length = 0;
    let parts = 0;
    for (let part = await answer.next(); part; part = await answer.next()) {
      length += part.byteLength;
      parts++;
    }
    assert.equal([length, answer.received(), parts], [count, text.length, 1]);
  });
}

client("the size of a chunk may begin with zeros, and have up to 12 digits", () => {
  for (const size of ["00ff", "0100", "0000000000101", "fff"].map((size) => size.slice(-12))) {
    const content = "a".repeat(parseInt(size, 16));
    const answer = `${OK}${CHUNKED}\r\n${size}\r\n${content}\r\n0\r\n\r\n`;
    for (const length of [1, 300, answer.length]) assert.is(read(answer, length).text, content);
  }
});

client("a socket stays paused when the end of the previous response is read", async () => {
  const long = `${OK}Content-Length: 200000\r\n\r\n${"a".repeat(100_000)}`;
  const { socket, exchange } = exchanging(`${OK}Content-Length: 1\r\n\r\n1`, long);
  const first = await exchange();
  await exchange();
  assert.ok(socket.isPaused());
  assert.is((await first.next())!.byteLength, 1);
  assert.ok(socket.isPaused());
});

client("a socket stays paused until the waiting bytes have been read", async () => {
  const { socket, exchange } = exchanging(
    `${OK}Content-Length: 2000000\r\n\r\n${"a".repeat(1_000_000)}`,
  );
  const response = await exchange();
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(socket.isPaused());
  for (let length = 0; length < 1_000_000;) length += (await response.next())!.byteLength;
  assert.not.ok(socket.isPaused());
});

client.run();
