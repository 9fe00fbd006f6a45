/**
 * The part of the package `ws` that the adapters use.
 *
 * @module
 */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage } from "node:http";
  import type { Duplex } from "node:stream";

  interface Limits {
    readonly perMessageDeflate: boolean;
    readonly maxPayload: number;
    readonly maxFragments: number;
  }

  export default class WebSocket extends EventEmitter {
    constructor(
      url: URL | string,
      protocols?: readonly string[],
      options?: Partial<Limits> & {
        readonly headers?: Readonly<Record<string, string>>;
        readonly ca?: readonly string[] | undefined;
        readonly tls?: { readonly ca: readonly string[] } | undefined;
        readonly handshakeTimeout?: number;
      },
    );
    readonly bufferedAmount: number;
    readonly readyState: number;
    send(data: string | Uint8Array, options?: { readonly binary: boolean }): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code: number, reason: string): void;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(
      options: Partial<Limits> & {
        readonly noServer: true;
        readonly clientTracking?: false;
        readonly handleProtocols?: () => string | false;
      },
    );
    handleUpgrade(
      message: IncomingMessage,
      socket: Duplex,
      head: Uint8Array,
      callback: (client: WebSocket) => void,
    ): void;
  }
}
