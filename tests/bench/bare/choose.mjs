// What the bare servers have in common: which ready answer belongs to a request.
import { readFileSync } from "node:fs";

/**
 * Makes the choice between answers that were recorded.
 *
 * @param file the validator, the content and the head of a 304, by path and content coding
 * @param port the server's own, which requests name in `Host`
 * @param prepare converts a recorded response into what the server writes
 */
export function createChoice(file, port, prepare) {
  const recorded = JSON.parse(readFileSync(file, "utf8"));
  const prepared = ({ etag, full, notModified }) => ({
    etag,
    full: prepare(full),
    notModified: prepare(notModified),
  });
  const paths = new Map(recorded.map(({ path, identity, br }) => [
    path,
    { identity: prepared(identity), br: prepared(br) },
  ]));
  const missing = prepare({ status: 404, headers: [], body: "" });
  const authority = `127.0.0.1:${port}`;
  return (method, path, host, acceptEncoding, ifNoneMatch) => {
    const codings = method === "GET" && host === authority ? paths.get(path) : undefined;
    if (!codings) return missing;
    const { etag, full, notModified } = acceptEncoding?.includes("br")
      ? codings.br
      : codings.identity;
    return ifNoneMatch === etag ? notModified : full;
  };
}
