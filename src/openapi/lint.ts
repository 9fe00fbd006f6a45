/**
 * Checks a description for what would keep it, or a part of it, from being shown and tried.
 *
 * @module
 */
import type { Files } from "./resolve-files.ts";
import { formatJson } from "../json/lossless.ts";
import { quote } from "../text.ts";
import type { Finding } from "./diagnostics.ts";
import { complain, type Complaint } from "./parse.ts";
import { operationsOf } from "./list-operations.ts";
import { isObject, objectOf } from "../json/values.ts";

/** The versions that are shown. */
const VERSION = /^3\.[012](?:\.|$)/;

/**
 * Everything that is wrong with a description. What is wrong with its references has been found already.
 *
 * @returns findings by file, the root first, and in the order of each text
 */
export function check(files: Files): Finding[] {
  const { root, members } = files;
  const findings: Finding[] = [];
  for (const member of members.values()) {
    const { source, complaints } = member;
    const isRoot = member === root;
    const all = [...complaints];
    if (isRoot && source.value !== undefined) all.push(...checkDocument(source.value));
    const found = [...source.findings, ...complain(source, all)]
      .map((finding) => isRoot ? finding : { ...finding, isFatal: false })
      .sort((a, b) => a.line - b.line || a.column - b.column);
    findings.push(...found);
  }
  return findings;
}

function* checkDocument(document: unknown): Generator<Complaint> {
  if (!isObject(document)) {
    return yield {
      path: [],
      message: "is no OpenAPI description, but a single value",
      isFatal: true,
    };
  }
  yield* checkVersion(document);
  // Of something else altogether, it is enough to say that it is that.
  if (document.openapi === undefined && document.swagger === undefined) return;
  const { info, paths } = document;
  if (!isObject(info)) yield { path: ["info"], message: 'the description has no "info"' };
  else {
    for (const key of ["title", "version"].filter((key) => !Object.hasOwn(info, key))) {
      yield { path: ["info"], message: `"info" has no ${quote(key)}` };
    }
  }
  const needsPaths = !["components", "webhooks"].some((key) => Object.hasOwn(document, key)) ||
    !/^3\.[12]/.test(String(document.openapi));
  if (paths === undefined && needsPaths) {
    yield { path: ["paths"], message: 'the description has no "paths", so no operation is shown' };
  } else if (paths !== undefined && !isObject(paths)) {
    yield { path: ["paths"], message: '"paths" must be an object; no operation is shown' };
  }
  yield* checkOperations(objectOf(paths));
}

function* checkVersion({ openapi, swagger }: Record<string, unknown>): Generator<Complaint> {
  if (swagger === "2.0" || (typeof openapi === "string" && VERSION.test(openapi))) return;
  const known = 'there are "openapi" 3.0, 3.1 and 3.2, and "swagger" 2.0, as strings';
  const path = [openapi === undefined && swagger !== undefined ? "swagger" : "openapi"];
  const message = openapi === undefined && swagger === undefined
    ? `says nowhere that it is an OpenAPI description; ${known}`
    : `${formatJson(openapi ?? swagger)} is no version that is known; ${known}`;
  yield { path, message, isFatal: true };
}

function* checkOperations(paths: Record<string, unknown>): Generator<Complaint> {
  const first = new Map<string, string>();
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith("/") && !path.startsWith("x-")) {
      yield {
        path: ["paths", path],
        message: `the path ${quote(path)} must begin with /`,
      };
    }
    for (const { method, path: keys, operation: { operationId } } of operationsOf(item)) {
      if (typeof operationId !== "string") continue;
      const at = `${method} ${path}`;
      const other = first.get(operationId);
      first.set(operationId, other ?? at);
      if (other === undefined) continue;
      yield {
        path: ["paths", path, ...keys, "operationId"],
        message: `the operationId ${quote(operationId)} is that of ${other} as well`,
      };
    }
  }
}
