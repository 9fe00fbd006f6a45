/** Serves the pages of explorers, every answer in brotli at its best, encoded before it is measured. */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { ROOT } from "../../_paths.ts";
import { EXPLORERS } from "./explorers.ts";

const PEERS = `${ROOT}tests/bench/peers/node_modules/`;

/** Where the files of each package are. */
const PACKAGES: Readonly<Record<string, string>> = {
  scalar: `${ROOT}node_modules/@scalar/api-reference/dist/browser/`,
  "swagger-ui-dist": `${PEERS}swagger-ui-dist/`,
  redoc: `${PEERS}redoc/`,
  rapidoc: `${PEERS}rapidoc/`,
  elements: `${PEERS}@stoplight/elements/`,
};

/** Where encoded files are kept. */
const KEPT = `${ROOT}dist/bench/encoded/`;

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
};

/**
 * Serves the explorers that have a page.
 *
 * @param description the description they all show
 */
export async function serveExplorers(
  description: string,
): Promise<{ url: string; close(): void }> {
  const encoded = new Map<string, Promise<Encoded>>();
  const content = async (path: string) => {
    if (path === "/spec.json") return description;
    const found = EXPLORERS.find(({ page }) => `/${page}` === path);
    if (found) return `<!DOCTYPE html><meta charset="utf-8"><title>x</title>${found.html}`;
    const [, name = "", ...rest] = path.split("/");
    if (!PACKAGES[name]) throw new Error(`${path} is not known`);
    return await readFile(PACKAGES[name] + rest.join("/"));
  };
  const encode = (path: string) => {
    if (!encoded.has(path)) encoded.set(path, content(path).then(compress));
    return encoded.get(path)!;
  };
  const server = createServer(async (request, answer) => {
    try {
      const { pathname } = new URL(request.url ?? "", "http://x");
      const { bytes, etag } = await encode(pathname);
      if (request.headers["if-none-match"] === etag) return void answer.writeHead(304).end();
      answer.writeHead(200, {
        "content-type": TYPES[extname(pathname)] ?? "text/html",
        "content-encoding": "br",
        etag,
        "cache-control": /^\/[^/]+$/.test(pathname)
          ? "no-cache"
          : "public, max-age=31536000, immutable",
      }).end(bytes);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}

/** A file in brotli. */
interface Encoded {
  bytes: Buffer;
  etag: string;
}

/** Large files take seconds, so they are kept from one run to the next. */
async function compress(content: string | Buffer): Promise<Encoded> {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 32);
  const file = `${KEPT}${hash}.br`;
  const etag = `"${hash}"`;
  try {
    return { bytes: await readFile(file), etag };
  } catch {
    const bytes = await promisify(brotliCompress)(content);
    await mkdir(KEPT, { recursive: true });
    await writeFile(file, bytes);
    return { bytes, etag };
  }
}
