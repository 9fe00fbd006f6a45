/** Clients that write the bytes of a WebSocket connection (RFC 6455) themselves. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { dial } from "./_socket.ts";

export const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

export interface FrameOptions {
  readonly isLast?: boolean;
  /** The reserved bits, as a number below 8. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  readonly key?: Uint8Array;
  /** The number of bits of the length. @default the fewest */
  readonly form?: 7 | 16 | 64;
  /** @default the length of the content */
  readonly length?: bigint;
}

/** Returns the bytes of a frame (section 5.2). */
export function frame(
  opcode: number,
  content: Uint8Array | string,
  options: FrameOptions = {},
): Uint8Array {
  const bytes = Buffer.from(content);
  const { isLast = true, reserved = 0, isMasked = true, key = randomBytes(4) } = options;
  const { length = BigInt(bytes.length) } = options;
  const { form = length < 126n ? 7 : length < 65_536n ? 16 : 64 } = options;
  const first = Number(isLast) << 7 | reserved << 4 | opcode;
  const word = form === 7 ? Number(length) : form === 16 ? 126 : 127;
  const extended = Buffer.alloc(form === 7 ? 0 : form / 8);
  if (form === 16) extended.writeUInt16BE(Number(length));
  if (form === 64) extended.writeBigUInt64BE(length);
  const head = [Buffer.of(first, Number(isMasked) << 7 | word), extended];
  if (!isMasked) return Buffer.concat([...head, bytes]);
  const masked = bytes.map((byte, at) => byte ^ key[at % 4]!);
  return Buffer.concat([...head, key, masked]);
}

export const closing = (code: number, reason = ""): Uint8Array =>
  frame(CLOSE, Buffer.concat([Buffer.of(code >> 8, code & 255), Buffer.from(reason)]));

export const headOf = (url: string, more = ""): string =>
  `GET /v1/rpc HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\n` +
  "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${more}\r\n`;

export class RawClient {
  readonly socket: Socket;
  /** The head of the response to the handshake. */
  head = "";
  readonly frames: { readonly opcode: number; readonly content: Buffer }[] = [];
  hasEnded = false;
  #received: Buffer = Buffer.alloc(0);

  /** Resolves when the handshake has been responded to. */
  static async open(url: string, more = ""): Promise<RawClient> {
    const client = new RawClient(await dial(url));
    client.socket.write(headOf(url, more));
    while (client.head === "" && !client.hasEnded) {
      await Promise.race([once(client.socket, "data"), once(client.socket, "close")]);
    }
    return client;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (data: Buffer) => this.#take(data));
    socket.on("end", () => socket.end());
    socket.on("close", () => this.hasEnded = true);
  }

  /** The code with which the service has closed the connection; 1006 if it sent none. */
  get code(): number {
    const close = this.frames.find(({ opcode }) => opcode === CLOSE);
    if (!close) return 1006;
    return close.content.length < 2 ? 1005 : close.content.readUInt16BE();
  }

  get texts(): readonly string[] {
    return this.frames.filter(({ opcode }) => opcode === TEXT).map(({ content }) => `${content}`);
  }

  write(...parts: readonly Uint8Array[]): void {
    for (const part of parts) if (!this.socket.destroyed) this.socket.write(part);
  }

  #take(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data]);
    if (this.head === "") {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.head = this.#received.toString("latin1", 0, end);
      this.#received = this.#received.subarray(end + 4);
    }
    while (this.#received.length >= 2) {
      const word = this.#received[1]! & 127;
      const start = word < 126 ? 2 : word === 126 ? 4 : 10;
      if (this.#received.length < start) return;
      const length = word < 126
        ? word
        : word === 126
        ? this.#received.readUInt16BE(2)
        : Number(this.#received.readBigUInt64BE(2));
      if (this.#received.length < start + length) return;
      const content = this.#received.subarray(start, start + length);
      this.frames.push({ opcode: this.#received[0]! & 15, content });
      this.#received = this.#received.subarray(start + length);
    }
  }
}
