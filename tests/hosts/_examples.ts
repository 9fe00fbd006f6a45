/**
 * The examples in `examples/`, and the ways to run them. A new example needs a row here and a
 * section in `docs/embedding-node.md` or `docs/embedding-fetch.md`.
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { BUN, DENO, ROOT } from "../_paths.ts";

export interface Example {
  readonly name: string;
  readonly file: string;
  readonly packages: readonly string[];
  readonly runtime: "node" | "deno" | "bun" | "workerd" | "next" | "next standalone";
  /**
   * True if the host passes all paths below the mount path to the service, and never shows its own
   * page.
   */
  readonly isLast?: boolean;
}

export const EXAMPLES: readonly Example[] = [
  { name: "node:http", file: "node-http.ts", packages: [], runtime: "node" },
  { name: "Express", file: "express.ts", packages: ["express"], runtime: "node" },
  {
    name: "Fastify with middie",
    file: "fastify.ts",
    packages: ["fastify", "@fastify/middie"],
    runtime: "node",
  },
  {
    name: "Fastify, catch-all",
    file: "fastify-route.ts",
    packages: ["fastify"],
    runtime: "node",
    isLast: true,
  },
  { name: "Koa", file: "koa.ts", packages: ["koa"], runtime: "node" },
  { name: "polka", file: "polka.ts", packages: ["polka"], runtime: "node" },
  { name: "Hono", file: "hono.ts", packages: ["hono", "@hono/node-server"], runtime: "node" },
  { name: "h3", file: "h3.ts", packages: ["h3"], runtime: "node" },
  { name: "itty-router", file: "itty-router.ts", packages: ["itty-router"], runtime: "node" },
  { name: "Elysia", file: "elysia.ts", packages: ["elysia"], runtime: "bun" },
  { name: "Deno.serve", file: "deno.ts", packages: [], runtime: "deno" },
  { name: "Bun.serve", file: "bun.ts", packages: [], runtime: "bun" },
  { name: "a worker", file: "worker.ts", packages: [], runtime: "workerd" },
  { name: "Next.js", file: "next.ts", packages: ["next"], runtime: "next", isLast: true },
  {
    name: "Next.js, standalone in an empty folder",
    file: "next.ts",
    packages: ["next"],
    runtime: "next standalone",
    isLast: true,
  },
];

const TSX = pathToFileURL(`${ROOT}node_modules/tsx/dist/loader.mjs`).href;

export const COMMANDS: Readonly<Record<"node" | "deno" | "bun", readonly string[]>> = {
  node: [process.execPath, "--import", TSX],
  deno: [DENO, "run", "--allow-net", "--allow-read", "--allow-env", "--node-modules-dir=manual"],
  bun: [BUN],
};
