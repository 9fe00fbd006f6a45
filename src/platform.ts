/**
 * The one module that reaches past web standards on behalf of the portable code: it reads the
 * files this package carries, and encodes brotli, which `CompressionStream` does not offer
 * everywhere. Bundles for places without a disk pass a {@linkcode Platform} of their own.
 *
 * @module
 */

/** What `createNodeface` needs from the machine it runs on. */
export interface Platform {
  /**
   * Reads one of this package's own files.
   *
   * @param path its path from the package's root, such as `spec/openapi.yaml`; never taken from a
   * request
   * @returns the file's bytes; rejects where there is no such file
   */
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Encodes bytes as brotli (RFC 7932); left out where the runtime has no encoder. */
  brotli?(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** The files of the operator; left out where there is no disk. */
  disk?: Disk;
}

/** Reads the files that an operator names; never one that a request names. */
export interface Disk {
  /** The URL of a path, relative to where the service was started. */
  urlOf(path: string): Promise<URL>;
  /**
   * Looks at a file; rejects where there is none.
   *
   * @returns its own URL, after links; its size in bytes; and a text that changes with its content
   */
  find(url: URL): Promise<{ url: URL; size: number; stamp: string }>;
  /** Reads a file. */
  read(url: URL): Promise<Uint8Array<ArrayBuffer>>;
}

type Bytes = Uint8Array<ArrayBuffer>;

declare const Deno: { readFile(url: URL): Promise<Bytes> } | undefined;
declare const Bun: { file(url: URL): { bytes(): Promise<Bytes> } } | undefined;

/** The disk and the compression library of Node, Deno or Bun; nothing is loaded before it is used. */
export const platform: Platform = {
  async read(path) {
    const url = new URL(`../${path}`, import.meta.url);
    // Their own ways are there; the module of Node takes longer to load than all else at the start.
    if (typeof Deno !== "undefined") return await Deno.readFile(url);
    if (typeof Bun !== "undefined") return await Bun.file(url).bytes();
    const { readFile } = await import("node:fs/promises");
    return new Uint8Array(await readFile(url));
  },
  async brotli(bytes) {
    const { constants, createBrotliCompress } = await import("node:zlib");
    // The usual window makes a description of 10 MB no smaller, and takes four times the memory.
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LGWIN]: 18,
    };
    const encoder = createBrotliCompress({ params });
    const encoded: Uint8Array[] = [];
    encoder.on("data", (chunk: Uint8Array) => encoded.push(chunk));
    const ended = new Promise((resolve, reject) => encoder.on("end", resolve).on("error", reject));
    encoder.end(bytes);
    await ended;
    return new Uint8Array(await new Blob(encoded as BlobPart[]).arrayBuffer());
  },
  disk: {
    async urlOf(path) {
      return (await import("node:url")).pathToFileURL(path);
    },
    async find(url) {
      const { realpath, stat } = await import("node:fs/promises");
      const { fileURLToPath, pathToFileURL } = await import("node:url");
      const path = await realpath(fileURLToPath(url));
      const found = await stat(path);
      if (!found.isFile()) throw new Error("it is no file");
      const { size, mtimeMs, ino } = found;
      return { url: pathToFileURL(path), size, stamp: `${mtimeMs}-${ino}-${size}` };
    },
    async read(url) {
      const { readFile } = await import("node:fs/promises");
      // A buffer of its own, as large as the file.
      return await readFile(url) as Uint8Array<ArrayBuffer>;
    },
  },
};
