/** What is asked of the servers, and what Nodeface was seen to answer, for others to repeat. */
import type { RawAnswer } from "../load/exchange.ts";

/** A request that is measured. */
export interface Case {
  id: string;
  /** As tables have it. */
  name: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Whether `If-None-Match` names what the server has. */
  isKnown?: boolean;
  status: number;
  /** Whether a target is set for it. */
  isTarget?: boolean;
}

const GZIP = { "Accept-Encoding": "gzip" };

export const CASES: readonly Case[] = [
  {
    id: "info",
    name: "`/v1/info`",
    path: "/v1/info",
    headers: {},
    status: 200,
    isTarget: true,
  },
  {
    id: "spec-304",
    name: "`/spec.json`, 304",
    path: "/spec.json",
    headers: GZIP,
    isKnown: true,
    status: 304,
    isTarget: true,
  },
  { id: "spec", name: "`/spec.json`, gzip", path: "/spec.json", headers: GZIP, status: 200 },
  { id: "page", name: "`/v1/spec`, gzip", path: "/v1/spec", headers: GZIP, status: 200 },
];

/** An answer as the bare servers read it. */
export interface ReadyAnswer {
  status: number;
  headers: readonly (readonly [string, string])[];
  /** In base64. */
  body: string | null;
}

/** Headers that the runtime's own server adds. */
const ADDED = /^(date|connection|keep-alive)$/i;

/** What a bare server has to write so that it sends the same. */
export function readyAnswer({ status, headers, body }: RawAnswer): ReadyAnswer {
  return {
    status,
    headers: headers.filter(([name]) => !ADDED.test(name)),
    body: status === 304 ? null : body.toString("base64"),
  };
}

/** The bytes of an answer without the date. */
export function withoutDate({ bytes }: RawAnswer): string {
  return bytes.toString("latin1").replace(/\r\ndate:[^\r]*/i, "");
}

/** The status, the headers in any order and case, and the body, for servers that write differently. */
export function meaning({ status, headers, body }: RawAnswer): string {
  const fields = headers.filter(([name]) => !ADDED.test(name))
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`).sort();
  return [status, ...fields, body.toString("base64")].join("\n");
}
