/**
 * Handles the requests of a connection to a `node:http` server one at a time.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { refusal } from "./shared.ts";

/**
 * The number of requests, and the bytes of their heads and content, that may wait on a connection
 * behind the one in front.
 */
const WAITING_MAX = 15, WAITING_BYTES_MAX = 65_536;
/** What the name and the value of a header field take besides their characters, in bytes. */
const FIELD_BYTES = 64;

/** The requests that wait, with the sizes of their heads. */
const waiting = new WeakMap<Socket, Map<IncomingMessage, number>>();

/**
 * Handles the requests of a connection one at a time: calls `handle` when all earlier requests have
 * their responses (RFC 9112, section 9.3.2), or never if the connection closes before that. A
 * request behind too many waiting ones is refused, and closes the connection.
 *
 * @param handle takes a function that makes the response if the request is refused
 */
export function handleInOrder(
  message: IncomingMessage,
  response: ServerResponse,
  handle: (refuse?: () => Response) => void,
): void {
  // `node:http` gives the socket to one response at a time, in the order of the requests.
  if (response.socket !== null) return handle();
  const { socket } = message;
  const earlier = waiting.get(socket) ?? new Map<IncomingMessage, number>();
  waiting.set(socket, earlier);
  const bytes = [...earlier].reduce(
    (sum, [{ readableLength }, head]) => sum + readableLength + head,
    0,
  );
  const isExcess = earlier.size >= WAITING_MAX || bytes > WAITING_BYTES_MAX;
  const { rawHeaders, url = "" } = message;
  const others = url.length + rawHeaders.length / 2 * FIELD_BYTES;
  earlier.set(message, rawHeaders.reduce((sum, { length }) => sum + length, others));
  response.once("socket", () => {
    earlier.delete(message);
    handle(isExcess ? refuseExcess : undefined);
  });
  if (!isExcess) return;
  response.shouldKeepAlive = false;
  stopParser(socket);
}

const refuseExcess = (): Response =>
  refusal(
    429,
    `At most ${WAITING_MAX + 1} requests of a connection may be unanswered, and at most ` +
      `${WAITING_BYTES_MAX / 1024} KiB of heads and content may wait`,
  );

/**
 * Stops the parser within a read from the socket, which may contain 1,500 requests. `node:http`
 * itself would parse all of them, and create a message and a response for each.
 */
function stopParser(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: OnIncoming | null } | null };
  if (!parser?.onIncoming) return void socket.destroy();
  parser.onIncoming = (message) => {
    message.upgrade = false;
    // The parser takes this value as an error.
    return -1;
  };
}

/**
 * The function that `node:http` calls with each parsed head. `upgrade` is true after `CONNECT` or
 * an Upgrade.
 */
type OnIncoming = (message: { upgrade: boolean | null }) => number;
