/**
 * Writes the heads of requests of HTTP/1.1 (RFC 9112, section 3).
 *
 * @module
 */

/** What the head of a request says. */
export interface RequestLine {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The length of the content in bytes; `undefined` where there is none. */
  readonly length: number | undefined;
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Writes a head, in Latin-1.
 *
 * @throws {TypeError} if a header would say something else than a name and a value
 */
export function writeHead({ method, url, headers, length }: RequestLine): string {
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError("A header is malformed");
    head += `${name}: ${value}\r\n`;
  }
  // Said also where there is none but the method expects some (RFC 9110, section 8.6).
  if (length !== undefined || /^(?:POST|PUT|PATCH)$/.test(method)) {
    head += `content-length: ${length ?? 0}\r\n`;
  }
  return `${head}connection: keep-alive\r\n\r\n`;
}
