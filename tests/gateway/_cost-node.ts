/**
 * A hostile node, in its own process. The path or the JSON-RPC method selects the response:
 * `keys_30000` is a result of 30,000 kB in the shape `keys`. Responses below `/held/` wait while
 * the parent process holds them, and are reported when they have been sent.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { bomb, DESCRIPTIONS, EXPRESSIONS, SHAPES, TREE } from "./_cost-contents.ts";

let release: () => void;
let held = new Promise<void>((resolve) => release = resolve);
const made = new Map<string, string>();

function shaped(name: string): string | undefined {
  const [shape = "", size] = name.split("_");
  if (!SHAPES[shape]) return undefined;
  if (!made.has(name)) made.set(name, SHAPES[shape](Number(size) * 1000));
  return made.get(name);
}

interface Call {
  readonly id?: unknown;
  readonly method?: string;
}

function answer({ id = 1, method = "" }: Call): string {
  const [name, part] = method.split(".") as [string, string?];
  const value = shaped(name) ?? '"0x1"';
  const response = part === "error"
    ? `"error":{"code":-32000,"message":"no","data":${value}}`
    : part === "message"
    ? `"error":{"code":-32000,"message":${JSON.stringify(value)}}`
    : `"result":${value}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${response}}`;
}

function respond(name: string, body: string, response: ServerResponse): void {
  if (name === "interim") return sendInterim(response);
  if (name === "bomb.json") response.setHeader("content-encoding", "gzip");
  const [, text] = EXPRESSIONS[name] ?? [];
  if (name === "bomb.json") response.end(bomb());
  else if (DESCRIPTIONS[name]) response.end(DESCRIPTIONS[name]());
  else if (name === "tree") response.end(TREE());
  else if (text !== undefined) response.end(JSON.stringify({ isHere: true, x: text }));
  else if (name.startsWith("status-")) {
    response.end(`{"isHere":true,"x":${shaped(name.slice("status-".length))}}`);
  } else if (name === "" || name === "rpc") {
    const asked = JSON.parse(body || "{}") as Call | Call[];
    response.end(Array.isArray(asked) ? `[${asked.map(answer).join(",")}]` : answer(asked));
  } else response.setHeader("content-type", "application/json").end(shaped(name) ?? "{}");
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url!, "http://node");
  let body = "";
  for await (const part of request) body += part;
  if (pathname.startsWith("/held/")) {
    await held;
    // A stopped service may have left this request behind.
    if (request.socket.destroyed) return;
    response.on("close", () => process.send?.("sent"));
  }
  respond(pathname.split("/").at(-1)!, body, response);
});
// Making these results takes seconds, which must not count towards the time limit of a call.
["keys_30000", "keys_9000", "keys_7000", "logs_30000"].forEach(shaped);
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("message", (order: "hold" | "release") => {
  if (order === "release") release();
  else held = new Promise<void>((resolve) => release = resolve);
});
process.on("disconnect", () => process.exit());

function sendInterim({ socket }: ServerResponse): void {
  const part = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n".repeat(2000));
  const go = () => {
    while (!socket!.destroyed) if (!socket!.write(part)) return socket!.once("drain", go);
  };
  socket!.on("error", () => {});
  go();
}
