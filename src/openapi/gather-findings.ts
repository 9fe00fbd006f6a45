/**
 * Says what is wrong with a description: with each of its files, and with all of it.
 *
 * @module
 */
import type { Files } from "./resolve-files.ts";
import { formatJson } from "../json/lossless.ts";
import { excerpt } from "../untrusted-text.ts";
import { type Finding, untold } from "./diagnostics.ts";
import { complain, type Complaint } from "./parse.ts";
import { isObject, textOf } from "../json/values.ts";

/** The versions that are shown; in YAML they may be numbers. */
const VERSION = /^3(?:\.[012](?:\.|$)|$)/;
const OPENRPC_VERSION = /^1(?:\.|$)/;

/**
 * Everything that is wrong with a description: each file's own, and what was found on the way.
 *
 * @returns findings by file, the root first, and in the order of each text
 */
export function check({ root, members }: Files): Finding[] {
  const findings: Finding[] = [];
  for (const { source, complaints } of members.values()) {
    const isRoot = source === root.source;
    const own = isRoot && source.value !== undefined ? checkVersion(source.value) : undefined;
    // Of something else altogether, it is enough to say that it is that.
    const all = own ? [own] : complaints.list();
    const found = [...source.findings, ...complain(source, all)]
      .sort((a, b) => a.line - b.line || a.column - b.column);
    for (const finding of found) {
      findings.push(isRoot ? finding : { ...finding, isFatal: false });
    }
    if (complaints.untold > 0) findings.push(untold(source.name, complaints.untold));
  }
  return findings;
}

function checkVersion(document: unknown): Complaint | undefined {
  if (!isObject(document)) {
    const message = "is no OpenAPI or OpenRPC description, but a single value";
    return { path: [], message, isFatal: true };
  }
  const { openapi, swagger, openrpc } = document;
  if (openapi === undefined && swagger === undefined && openrpc !== undefined) {
    if (OPENRPC_VERSION.test(textOf(openrpc) ?? "")) return undefined;
    const message = `${excerpt(formatJson(openrpc))} is no version that is known; ` +
      'there is "openrpc" 1, as in "1.3.2"';
    return { path: ["openrpc"], message, isFatal: true };
  }
  if (/^2(?:\.0)?$/.test(textOf(swagger) ?? "") || VERSION.test(textOf(openapi) ?? "")) {
    return undefined;
  }
  const known = 'there are "openapi" 3.0, 3.1 and 3.2, "swagger" 2.0 and "openrpc" 1, as strings';
  const path = [openapi === undefined && swagger !== undefined ? "swagger" : "openapi"];
  const message = openapi === undefined && swagger === undefined
    ? `says nowhere that it is an OpenAPI or OpenRPC description; ${known}`
    : `${excerpt(formatJson(openapi ?? swagger))} is no version that is known; ${known}`;
  return { path, message, isFatal: true };
}
