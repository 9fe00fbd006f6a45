// Chooses the recorded response to a request, for all bare servers.
import { readFileSync } from "node:fs";

/**
 * @param file the recorded ETags, full responses and 304 responses, by path and content coding
 * @param port the server's port, as in the `Host` header of requests
 * @param prepare converts a recorded response into the form that the server writes
 */
export function createChoice(file, port, prepare) {
  const recorded = JSON.parse(readFileSync(file, "utf8"));
  const prepared = ({ etag, full, notModified }) => ({
    etag,
    full: prepare(full),
    notModified: prepare(notModified),
  });
  const paths = new Map(recorded.map(({ path, identity, gzip }) => [
    path,
    { identity: prepared(identity), gzip: prepared(gzip) },
  ]));
  const missing = prepare({ status: 404, headers: [], body: "" });
  const authority = `127.0.0.1:${port}`;
  return (method, path, host, acceptEncoding, ifNoneMatch) => {
    const codings = method === "GET" && host === authority ? paths.get(path) : undefined;
    if (!codings) return missing;
    const { etag, full, notModified } = acceptEncoding?.includes("gzip")
      ? codings.gzip
      : codings.identity;
    return ifNoneMatch === etag ? notModified : full;
  };
}
