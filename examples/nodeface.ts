/** A service for a node written in TypeScript: live info and an operation, mounted under /node. */
import { createNodeface } from "nodeface";

const peers = new Map([["a1", { id: "a1", height: 40 }]]);
let height = 41;

export const nodeface = createNodeface({
  prefix: "/node",
  info: () => ({ name: "example", software: "exampled", height: height++, peers: peers.size }),
  operations: [
    {
      method: "GET",
      path: "/v1/peers/{id}",
      // An OpenAPI operation: it is in the explorer and in /node/spec.json.
      operation: {
        operationId: "getPeer",
        tags: ["Node"],
        summary: "Get a peer",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: {
          200: { description: "The peer", content: { "application/json": {} } },
          404: { description: "There is no such peer" },
        },
      },
      handle(_request, { id }) {
        const peer = peers.get(id ?? "");
        return peer
          ? Response.json(peer)
          : Response.json({ title: "No such peer" }, { status: 404 });
      },
    },
  ],
});
