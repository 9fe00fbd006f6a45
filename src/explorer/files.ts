/**
 * Serves the files that the page loads: the icon, and the assets that the build packs into modules.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import type { Asset } from "../generated/assets.js";
import { compressedIn, unpack } from "../http/content-coding.ts";
import { acceptsGzip, represent, type Representation } from "../http/representation.ts";
import { onceFor } from "../json/values.ts";
import { lazy } from "../lazy.ts";
import { markup } from "./html.ts";
import { imageTypeOf } from "./page-settings.ts";

/**
 * The folder's name contains a digest of its files, so the file at a URL never changes (RFC 8246).
 */
const IMMUTABLE = "public, max-age=31536000, immutable";

export interface AssetFile {
  get(request: Pick<Request, "headers">): Promise<Representation>;
}

export type Assets = ReadonlyMap<string, AssetFile>;

export const createAssets = (assets: Readonly<Record<string, Asset>>): Assets =>
  new Map(Object.entries(assets).map(([path, asset]) => [path, createFile(asset)]));

/** All services in a process share the bytes. */
const assetContent = onceFor(({ importContent }: Asset) => ({
  plain: lazy(async () => (await unpack(await importContent())).identity),
  gzip: lazy(async () => compressedIn(await importContent())),
}));

/**
 * Creates a file in two representations. Nearly all clients accept gzip, so the other one, which
 * takes four times the memory, is made when a client asks for it.
 */
function createFile(asset: Asset): AssetFile {
  const content = assetContent(asset);
  const init = { type: "text/javascript; charset=utf-8", cache: IMMUTABLE };
  const plain = lazy(async () => represent({ identity: await content.plain.get() }, init));
  const gzip = lazy(async () => {
    const identity = await content.gzip.get();
    if (identity === undefined) return plain.get();
    return represent({ identity }, { ...init, headers: { "content-encoding": "gzip" } });
  });
  return { get: ({ headers }) => (acceptsGzip(headers) ? gzip : plain).get() };
}

/** Background colours on which white text has a contrast of at least 5 (WCAG 2.2, 1.4.3). */
export const COLOURS: readonly string[] =
  "#2456d6 #7139a8 #a3195b #b3261e #9a4a00 #5b6400 #0f7a3d #00697a".split(" ");

/** When an SVG is opened as a document, its scripts and links must do nothing. */
const POLICY = { "content-security-policy": "default-src 'none'; sandbox" };

export class Icons {
  readonly #own: string;
  readonly #logo: Uint8Array | undefined;
  readonly #logoTag: string | undefined;
  #last: { readonly name: string; readonly icon: Representation } | undefined;

  /** @param own the icon of a page without a name */
  constructor(own: string, logo?: Uint8Array) {
    this.#own = own;
    this.#logo = logo;
    this.#logoTag = logo && hash(logo).toString(36);
  }

  /** Returns a query string that differs for each icon, since browsers cache icons by URL. */
  queryOf(name: string): string {
    if (this.#logoTag !== undefined) return `?logo=${this.#logoTag}`;
    return name ? `?${new URLSearchParams({ name })}` : "?own";
  }

  /** Returns the name in a query string, or `undefined` if {@linkcode queryOf} did not make it. */
  nameIn(search: string): string | undefined {
    const query = new URLSearchParams(search);
    return query.has("own") ? "" : query.get("name") ?? undefined;
  }

  async get(name: string): Promise<Representation> {
    const logo = this.#logo;
    if (this.#last && (logo || this.#last.name === name)) return this.#last.icon;
    const type = logo && imageTypeOf(logo) || "image/svg+xml";
    const content = logo ? new Uint8Array(logo) : drawLetter(name) ?? this.#own;
    const cache = "public, max-age=86400";
    const icon = await represent(content, { type, cache, headers: POLICY });
    this.#last = { name, icon };
    return icon;
  }
}

export function drawLetter(name: string): string | undefined {
  const [letter] = /[\p{L}\p{N}]\p{M}{0,3}/u.exec(name.normalize("NFC")) ?? [];
  if (letter === undefined) return undefined;
  const upper = letter.toUpperCase();
  // The icon has room for one letter, but the upper case of "ß" is "SS".
  const shown = upper.length > letter.length ? letter : upper;
  const colour = COLOURS[hash(encodeText(name)) % COLOURS.length]!;
  const svg = markup`
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="8" fill="${colour}"/>
      <text x="16" y="23" font-family="system-ui, sans-serif" font-size="20" font-weight="600"
        text-anchor="middle" fill="#fff">${shown}</text>
    </svg>`;
  return `${svg}\n`;
}

function hash(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
