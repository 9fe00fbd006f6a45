/** The service of the examples: a node in TypeScript, with two operations. */
import { createNodeface, type NodefaceOptions } from "nodeface";

/** A worker has no environment variables. */
const env: Record<string, string | undefined> = globalThis.process?.env ?? {};
export const port = Number(env.PORT ?? 8080);
/** The path at which clients find the service; `""` is the root. */
export const prefix = env.PREFIX ?? "/node";

/** The host program's own authentication. GET, HEAD and OPTIONS are public. All other methods need a token. */
export function mayAsk(method = "GET", authorization?: string | null): boolean {
  return ["GET", "HEAD", "OPTIONS"].includes(method) || authorization === "Bearer secret";
}

const peers = new Map([["a1", { id: "a1", height: 40 }]]);
let height = 41;

const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
const answers = { "application/json": {} };

export const options: NodefaceOptions = {
  prefix,
  hosts: ["node.example"], // served in addition to loopback names and IP addresses
  description: env.DESCRIPTION, // the node's OpenAPI description, if it has one
  info: () => ({ name: "example", software: "exampled", height: height++, peers: peers.size }),
  operations: [
    {
      method: "GET",
      path: "/v1/peers/{id}",
      // An OpenAPI operation, shown in the explorer and in spec.json.
      operation: {
        operationId: "getPeer",
        tags: ["Node"],
        summary: "Get a peer",
        parameters,
        responses: {
          200: { description: "The peer", content: answers },
          404: { description: "Unknown peer" },
        },
      },
      handle(_request, { id = "" }) {
        const peer = peers.get(id);
        return peer
          ? Response.json(peer)
          : Response.json({ title: "Unknown peer" }, { status: 404 });
      },
    },
    {
      method: "PUT",
      path: "/v1/peers/{id}",
      operation: {
        operationId: "putPeer",
        tags: ["Node"],
        summary: "Set a peer's height",
        parameters,
        requestBody: { content: answers },
        responses: { 200: { description: "The peer", content: answers } },
      },
      async handle(request, { id = "" }) {
        const peer = { id, height: Number((await request.json()).height) };
        peers.set(id, peer);
        return Response.json(peer);
      },
    },
  ],
};

export const nodeface = createNodeface(options);
