/**
 * The access log: one line a request, without addresses or queries.
 *
 * @module
 */
import type { AnswerRecord } from "../adapters/shared.ts";
import { parseTarget } from "../http/request.ts";

/** The forms that a line may have. */
export type AccessLogForm = "text" | "json";

/** Stands for what is not known. */
const UNKNOWN = "-";

/** What a method is made of (RFC 9110, section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Writes the line of one request, with its line break. Nothing that a client sends begins a line of its
 * own: a path is percent-encoded, and what is no token is not shown as a method.
 *
 * @example
 * ```
 * 2026-01-02T03:04:05.678Z GET /v1/info 200 0.4
 * 2026-01-02T03:04:06.789Z GET /spec.json 200 1204.1 aborted
 * 2026-01-02T03:04:07.890Z - - 400 0.1
 * ```
 *
 * @param time when the response ended
 */
export function formatAccess(
  { method = UNKNOWN, url, status, outcome, milliseconds }: AnswerRecord,
  form: AccessLogForm,
  time: Date = new Date(),
): string {
  const entry = {
    time: time.toISOString(),
    method: TOKEN.test(method) ? method : UNKNOWN,
    path: (url !== undefined && parseTarget(url)?.pathname) || UNKNOWN,
    status: status ?? UNKNOWN,
    ms: Math.round(milliseconds * 10) / 10,
    ...(outcome !== "sent" && { outcome }),
  };
  return form === "json" ? `${JSON.stringify(entry)}\n` : `${Object.values(entry).join(" ")}\n`;
}
