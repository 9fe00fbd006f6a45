/** Starts the service for the node of `_raw-node.ts` on any runtime, in its own process. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../_server.ts";
import { RELEASES } from "../raw/_servers.ts";
import { describeNode } from "./_raw-node.ts";

export interface Service {
  url: string;
  pid: number;
  stop(): Promise<unknown>;
}

const OPEN = ["reads", "POST /do/*", "GET /get/*"];

export type Settings = Readonly<Record<string, string | number>>;

const folder = mkdtempSync(join(tmpdir(), "nodeface-gateway-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export async function startService(
  command: readonly string[],
  node: string,
  settings: Settings = {},
): Promise<Service> {
  const description = join(folder, `${files}.json`);
  writeFileSync(description, describeNode(node));
  const config = join(folder, `${files++}.config.json`);
  const forward = { open: OPEN, ...settings };
  const about = { url: node, kind: "none" };
  writeFileSync(config, JSON.stringify({ node: about, description, forward }));
  return await start([...command, "--config", config]);
}

type Start = (node: string, settings?: Settings) => Promise<Service>;

export const SERVICES: ReadonlyMap<string, Start> = new Map(
  [...RELEASES].map(([name, command]): [string, Start] => [
    name,
    (node, settings) => startService(command, node, settings),
  ]),
);

export interface Got {
  status: number;
  length: number;
  text: string;
  /** True if the connection was closed before the response was complete. */
  isBroken: boolean;
}

export function ask(url: string, path: string, method = "GET", body = ""): Promise<Got> {
  return new Promise((resolve, reject) => {
    const socket = send(url, path, method, body).setEncoding("latin1");
    let text = "";
    const got = (isBroken: boolean) => {
      socket.destroy();
      const at = text.indexOf("\r\n\r\n") + 4;
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
      resolve({ status, isBroken, length: text.length - at, text: text.slice(at, at + 1000) });
    };
    socket.on("data", (part: string) => {
      text += part;
      if (isWhole(text)) got(false);
    });
    socket.on("close", () => got(true)).on("error", () => {});
    socket.setTimeout(60_000, () => reject(new Error(`no answer to ${path}`)));
  });
}

export function send(url: string, path: string, method = "GET", body = ""): Socket {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
  const content = body === ""
    ? ""
    : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${content}\r\n${body}`);
  return socket;
}

function isWhole(text: string): boolean {
  const at = text.indexOf("\r\n\r\n") + 4;
  if (at < 4) return false;
  const head = text.slice(0, at);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length - at >= Number(length);
  return /\r\ntransfer-encoding: *chunked/i.test(head) && text.endsWith("\r\n0\r\n\r\n");
}
