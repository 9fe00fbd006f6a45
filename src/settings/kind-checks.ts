/**
 * Checks that the parts of a kind fit together.
 *
 * @module
 */
import { linksOf, parseReference } from "../info/query-plan.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../json/values.ts";
import type { Source } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import { mistakeInExpression } from "../regular-expression.ts";
import { examplesIn } from "./kind-interface.ts";
import { explainSource, placesOf } from "./node-schema.ts";
import type { SettingDiagnostic, SettingPath } from "./schema.ts";

export function diagnosticsOfKind(kind: JsonObject): SettingDiagnostic[] {
  const found: SettingDiagnostic[] = [];
  const report: Report = (diagnostic) => found.push(diagnostic);
  checkPlaces(kind, report);
  checkExamples(kind, report);
  checkSecretFiles(kind, report);
  checkHealthFields(kind, report);
  return found;
}

type Report = (diagnostic: SettingDiagnostic) => void;

/** Checks that each place lies in a source of the kind. */
function checkPlaces(kind: JsonObject, report: Report): void {
  const sources = Object.entries(objectOf(kind.sources)).map(([name, source]) =>
    [name, objectOf(source)] as const
  );
  const names = sources.map(([name]) => name);
  const checkPlace = (place: unknown, path: SettingPath) => {
    const message = explainSource(place, names);
    if (message !== undefined) report({ path, message });
  };
  const checkKeys = (value: unknown, path: SettingPath) => {
    for (const place of Object.keys(objectOf(value))) {
      const message = explainSource(place, names);
      if (message !== undefined) report({ path: [...path, place], message, isKey: true });
    }
  };

  checkKeys(kind.detect, ["detect"]);
  const links = new Map(sources.map(([name, { get, ...others }]) => {
    const source = { ...others, ...typeof get === "string" && { get } } as Source;
    return [name, linksOf(source)];
  }));
  for (const [name, source] of sources) {
    const path = ["sources", name, "get" in source ? "get" : "params"];
    for (const place of links.get(name)!) checkPlace(place, path);
    if (leadsTo(name, links)) report({ path, message: "leads back to itself" });
  }
  for (const [key, field] of Object.entries(objectOf(kind.fields))) {
    for (const place of placesOf(field)) checkPlace(place, ["fields", key]);
  }
  const { rules, target, behind, reached } = objectOf(kind.health);
  for (const [at, rule] of listOf(rules).entries()) {
    const { when, reason } = objectOf(rule);
    const path = ["health", "rules", at];
    checkKeys(when, [...path, "when"]);
    for (const [, place] of (textOf(reason) ?? "").matchAll(/\{([^{}]*)\}/g)) {
      checkPlace(place, [...path, "reason"]);
    }
  }
  for (const place of [target].flat()) checkPlace(place, ["health", "target"]);
  checkPlace(behind, ["health", "behind"]);
  checkPlace(reached, ["health", "reached"]);
  for (const { path, place, pattern } of examplesIn(interfaceIn(kind))) {
    if (isWholeMatch(pattern)) checkPlace(place, [...path, "x-example-from"]);
  }
}

const interfaceIn = ({ openrpc, openapi }: JsonObject): JsonObject => ({ openrpc, openapi });

const isWholeMatch = (pattern: unknown): pattern is string =>
  typeof pattern === "string" && /^\^.*\$$/.test(pattern);

function checkExamples(kind: JsonObject, report: Report): void {
  for (const { path, pattern } of examplesIn(interfaceIn(kind))) {
    if (!isWholeMatch(pattern)) {
      const message = "has x-example-from, but no pattern that is anchored with ^ and $";
      report({ path, message, isKey: true });
      continue;
    }
    const mistake = mistakeInExpression(pattern);
    if (mistake) report({ path: [...path, "pattern"], message: `must be ${mistake}` });
  }
}

function checkSecretFiles(kind: JsonObject, report: Report): void {
  const { files, refusal } = objectOf(kind.auth);
  if (listOf(files).length === 0 || refusal) return;
  const message = "needs auth.refusal: without it, any node that refuses a call would get a secret";
  report({ path: ["auth", "files"], message, isKey: true });
}

/** Checks that the kind has the fields that its rules of health compare. */
function checkHealthFields(kind: JsonObject, report: Report): void {
  const fields = { ...objectOf(kind.fields), ...objectOf(kind.static) };
  const needField = (rule: unknown, path: SettingPath, ...keys: readonly string[]) => {
    if (rule === undefined || keys.some((key) => Object.hasOwn(fields, key))) return;
    const message = `needs the field ${keys.join(" or ")}`;
    report({ path: ["health", ...path], message, isKey: true });
  };
  const { target, complete, networks } = objectOf(kind.health);
  needField(complete, ["complete"], "progress");
  needField(target, ["target"], "height");
  for (const [name, network] of Object.entries(objectOf(networks))) {
    const { quiet, peers } = objectOf(network);
    const keys = name.endsWith(" *") ? ["software"] : ["chain_id", "network"];
    if (name !== "*") needField(network, ["networks", name], ...keys);
    needField(quiet, ["networks", name, "quiet"], "head_at", "height");
    needField(peers, ["networks", name, "peers"], "peers");
  }
}

function leadsTo(name: string, links: ReadonlyMap<string, readonly Reference[]>): boolean {
  const seen = new Set<string>();
  const next = (at: string) => (links.get(at) ?? []).map((place) => parseReference(place)[0]);
  for (const todo = next(name); todo.length > 0;) {
    const at = todo.pop()!;
    if (at === name) return true;
    if (!seen.has(at)) todo.push(...next(at));
    seen.add(at);
  }
  return false;
}
