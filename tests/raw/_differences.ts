/**
 * The cases in which the runtimes send different responses, because a runtime's own parser or
 * server responds.
 */

export interface Difference {
  /** The name of a runtime, or its beginning: `Node` stands for all releases of Node. */
  runtime: string;
  reason: string;
  /**
   * The statuses that the runtime sends, keyed by the name of the case. The rest of the response is
   * not compared.
   */
  cases: Readonly<Record<string, number | "closed">>;
}

const all = (status: number | "closed", ...names: string[]): Record<string, number | "closed"> =>
  Object.fromEntries(names.map((name) => [name, status]));

const GARBAGE = ["the preface of HTTP/2", "a TLS hello", "nonsense"];
const BAD_FIELDS = ["a header line without a colon", "a NUL in a header", "a bare CR in a header"];
const BAD_FRAMING = ["two lengths", "a negative length", "a length in words"];
const BAD_CHUNKS = [
  "a chunk without a length, then a request",
  "chunks with bare line feeds, then a request",
];
const LONG_EXTENSION = "a chunk with an extension of 20 kB, then a request";
const THEN_GARBAGE = [
  "a request, then garbage",
  "two requests, then garbage",
  "an unknown path, two known paths, then garbage",
];
const RAW_TARGETS = ["a target in UTF-8", "a target in Latin-1"];
const HOSTS = [
  "a b",
  "h/x?y",
  "localhost/",
  "user@localhost",
  "a\\b",
  "a<b>",
  "localhost, localhost",
];

export const DIFFERENCES: readonly Difference[] = [
  ...["Node", "Deno"].map((runtime) => ({
    runtime,
    reason:
      "its parser drops bytes after an Upgrade in the same packet, so the connection is closed",
    cases: all(200, "an Upgrade, then a request"),
  })),
  {
    runtime: "Deno",
    reason: "its parser ignores a chunk extension of any length",
    cases: all(200, LONG_EXTENSION),
  },
  {
    runtime: "Bun",
    reason: "its parser refuses the request with an empty response, without problem details",
    cases: {
      ...all(
        400,
        ...GARBAGE,
        ...BAD_FIELDS,
        ...BAD_FRAMING,
        ...BAD_CHUNKS,
        "a list of equal lengths",
        "HTTP/1.1 without a Host",
        "no target",
      ),
      ...all(400, "a space before the colon", "a folded header line", "a length and chunks"),
      ...all(400, "chunked is not the last coding", "CONNECT", "a target without a slash"),
      ...all(400, "absolute form with another scheme", ...THEN_GARBAGE),
      ...all(431, "a target of 70 kB", "a header of 70 kB"),
      ...all(505, "no version", "HTTP/2.0 in the request line"),
    },
  },
  {
    runtime: "Bun",
    reason: "its parser refuses requests that others accept, or refuses them with another status",
    cases: {
      ...all(400, "OPTIONS *", "an empty line before the request"),
      ...all(400, "chunks in HTTP/1.0", "trailers, then a request"),
      ...all(413, LONG_EXTENSION),
      ...all(431, "Host after 2000 other header fields"),
      ...all(505, "a space in the target", "HTTP/9.9"),
    },
  },
  {
    runtime: "Bun",
    reason: "its parser accepts requests that RFC 9112 does not allow",
    cases: {
      ...all(200, "a query in UTF-8"),
      ...all(404, ...RAW_TARGETS),
      ...all(405, "two equal lengths"),
    },
  },
  ...["Bun", "workerd"].map((runtime) => ({
    runtime,
    reason: "it reads the next request only after the response, so requests cannot pile up",
    cases: all(200, "1000 requests at once"),
  })),
  {
    runtime: "Bun",
    reason: "it closes an HTTP/1.0 connection after the first response",
    cases: all(200, "two requests on an HTTP/1.0 connection"),
  },
  {
    runtime: "Bun",
    reason: "it closes the connection after a method that it does not know, and calls no function",
    cases: all("closed", "an unknown method", "a method in lower case"),
  },
  {
    runtime: "Bun",
    reason: "it takes a backslash in a path for a slash, so the service cannot see it",
    cases: all(200, "a backslash in the path"),
  },
  {
    runtime: "Bun",
    reason:
      "it replaces the host in an absolute-form target with Host, so the service cannot see it",
    cases: all(
      200,
      "absolute form with another host",
      "absolute form, truncated address",
      "absolute form, excessive port",
      "absolute form without a host",
    ),
  },
  {
    runtime: "workerd",
    reason: "it cannot create a URL with such a Host, and fails before the worker runs",
    cases: all(
      500,
      ...[...HOSTS, "%zz", "#", "loc%61lhost"].map((host) => `Host: ${JSON.stringify(host)}`),
      "two Host lines",
    ),
  },
  {
    runtime: "workerd",
    reason: "it accepts only origin-form targets, and fails before the worker runs",
    cases: {
      ...all(500, "absolute form", "absolute form with another host"),
      ...all(500, "absolute form, truncated address", "absolute form, excessive port"),
      ...all(500, "absolute form without a host", "absolute form, another Host"),
      ...all(
        500,
        "absolute form with another scheme",
        "a target without a slash",
        "OPTIONS *",
        "CONNECT",
      ),
    },
  },
  {
    runtime: "workerd",
    reason: "it fails before the worker runs, because it does not understand the framing",
    cases: all(
      500,
      ...BAD_FRAMING,
      "two equal lengths",
      "a list of equal lengths",
      "chunked is not the last coding",
    ),
  },
  {
    runtime: "workerd",
    reason: "it does not know the method, and ignores the rest of the request",
    cases: all(
      501,
      "an unknown method",
      "a method in lower case",
      "an empty line before the request",
      ...GARBAGE,
      ...THEN_GARBAGE,
      "trailers, then a request",
    ),
  },
  {
    runtime: "workerd",
    reason: "it refuses the request with its own text; even HTTP/1.0 requests need a Host",
    cases: {
      ...all(
        400,
        "HTTP/1.0 without a Host",
        "HTTP/1.1 without a Host",
        "an empty Host",
        "no version",
      ),
      ...all(400, "no target", ...BAD_FIELDS),
    },
  },
  {
    runtime: "workerd",
    reason: "its parser accepts requests that RFC 9112 does not allow, and very long heads",
    cases: {
      ...all(200, "HTTP/2.0 in the request line", "HTTP/9.9", "a space before the colon"),
      ...all(200, "a folded header line", "a header of 70 kB", "a query in UTF-8"),
      ...all(200, "chunks with bare line feeds, then a request"),
      ...all(404, "a space in the target", ...RAW_TARGETS),
      ...all(405, "a length and chunks"),
      ...all(414, "a target of 70 kB"),
    },
  },
  {
    runtime: "workerd",
    reason: "it stops reading at long or malformed content that the service does not read",
    cases: all(
      405,
      "content of 200 kB, then a request",
      "a chunk with an extension, then a request",
      LONG_EXTENSION,
      "a chunk without a length, then a request",
    ),
  },
];
