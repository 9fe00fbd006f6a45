/**
 * The status codes this service answers with, and their reason phrases (RFC 9110, section 15).
 *
 * @module
 */
export const REASONS = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  307: "Temporary Redirect",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  412: "Precondition Failed",
  414: "URI Too Long",
  421: "Misdirected Request",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
} as const;

/** A status this service answers with. */
export type Status = keyof typeof REASONS;
