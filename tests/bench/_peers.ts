/** The explorers that are compared: their files, their page, and when they can be read and tried. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { ROOT } from "../_paths.ts";

/** An explorer. */
export interface Peer {
  name: string;
  /** The path of its page. */
  page: string;
  /** An expression that is true once an operation can be read. */
  readable: string;
  /** An expression that is true once an operation can be tried; `false` where none ever can. */
  ready: string;
}

const has = (selector: string, root = "document") =>
  `!!${root}?.querySelector(${JSON.stringify(selector)})?.getClientRects().length`;
const RAPIDOC = `document.querySelector("rapi-doc")?.shadowRoot`;

/** This explorer, which serves itself. */
export const OWN: Peer = {
  name: "Nodeface",
  page: "v1/spec",
  readable: has("#plain h3"),
  ready: has("html.mounted .show-api-client-button"),
};

/** The other explorers, each with its page as its own documentation has it. */
export const PEERS: readonly (Peer & { html: string })[] = [
  {
    name: "Scalar, ES modules",
    page: "scalar",
    readable: has(".show-api-client-button"),
    ready: has(".show-api-client-button"),
    html: `<div id="app"></div><script type="module">
      import { createApiReference } from "./scalar/standalone.esm.js";
      createApiReference("#app", { url: "spec.json", withDefaultFonts: false, telemetry: false,
        agent: { disabled: true }, mcp: { disabled: true }, showDeveloperTools: "never",
        hideClientButton: true });
    </script>`,
  },
  {
    name: "Swagger UI",
    page: "swagger-ui",
    readable: has(".opblock-summary-path"),
    ready: has(".opblock-summary-path"),
    html: `<link rel="stylesheet" href="./swagger-ui-dist/swagger-ui.css"><div id="app"></div>
    <script src="./swagger-ui-dist/swagger-ui-bundle.js"></script>
    <script>SwaggerUIBundle({ url: "spec.json", dom_id: "#app" })</script>`,
  },
  {
    name: "Redoc",
    page: "redoc",
    readable: has(`[data-section-id^="tag/"] h2`),
    ready: "false",
    html: `<redoc spec-url="spec.json" disable-google-font></redoc>
    <script src="./redoc/bundles/redoc.standalone.js"></script>`,
  },
  {
    name: "RapiDoc",
    page: "rapidoc",
    readable: has(".nav-bar-path", RAPIDOC),
    ready: has(".nav-bar-path", RAPIDOC),
    html: `<rapi-doc spec-url="spec.json" load-fonts="false"></rapi-doc>
    <script type="module" src="./rapidoc/dist/rapidoc-min.js"></script>`,
  },
];

/** Where the files of each package are. */
const PACKAGES: Readonly<Record<string, string>> = {
  scalar: `${ROOT}node_modules/@scalar/api-reference/dist/browser/`,
  "swagger-ui-dist": `${ROOT}tests/bench/node_modules/swagger-ui-dist/`,
  redoc: `${ROOT}tests/bench/node_modules/redoc/`,
  rapidoc: `${ROOT}tests/bench/node_modules/rapidoc/`,
};

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/**
 * Serves the other explorers, every answer in brotli at its best, encoded before it is measured.
 *
 * @param description the description they all show
 */
export async function servePeers(description: string): Promise<{ url: string; close(): void }> {
  const encoded = new Map<string, Promise<Buffer>>();
  const content = async (path: string) => {
    if (path === "/spec.json") return description;
    const peer = PEERS.find(({ page }) => `/${page}` === path);
    if (peer) return `<!DOCTYPE html><meta charset="utf-8"><title>x</title>${peer.html}`;
    const [, name = "", ...rest] = path.split("/");
    if (!PACKAGES[name]) throw new Error(`${path} is not known`);
    return await readFile(PACKAGES[name] + rest.join("/"));
  };
  const encode = (path: string) => {
    if (!encoded.has(path)) {
      encoded.set(path, content(path).then((bytes) => promisify(brotliCompress)(bytes)));
    }
    return encoded.get(path)!;
  };
  const server = createServer(async (request, answer) => {
    try {
      const path = new URL(request.url ?? "", "http://x").pathname;
      const bytes = await encode(path);
      const type = path === "/spec.json" ? "application/json" : TYPES[extname(path)] ?? "text/html";
      const changing = PEERS.some(({ page }) => `/${page}` === path) || path === "/spec.json";
      answer.writeHead(200, {
        "content-type": type,
        "content-encoding": "br",
        "cache-control": changing ? "no-cache" : "public, max-age=31536000, immutable",
      }).end(bytes);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}
