/**
 * A kind that adds to a built-in one: `extends` in its file. What it says lies over what the other one says, and its
 * operations stand beside or in place of those of the other one.
 *
 * @module
 */
import { isEqual, isObject, type Json, listOf, mapMembers, objectOf } from "../json/values.ts";
import type { OperationMarks } from "../kinds/interface.ts";
import type { Kind } from "../kinds/kind.ts";
import { operationsOf } from "../openapi/operations.ts";
import { describeValue } from "../untrusted-text.ts";
import type { Diagnostic, Path } from "./schema.ts";

/** The members whose members are laid over one another. */
const MERGED = ["detect", "static", "sources", "fields", "health"] as const;

/**
 * Lays an extension over the kind that it adds to.
 *
 * @param own as it is written: its parts may be wrong
 */
export function extendKind(base: Kind, own: Json): Json {
  const { aliases: _, written_from: __, tried: ___, ...inherited } = base;
  const whole: Json = { ...inherited, ...own };
  for (const key of MERGED) {
    if (base[key] || own[key]) whole[key] = { ...base[key], ...objectOf(own[key]) };
  }
  const rules = [...listOf(objectOf(own.health).rules), ...base.health.rules ?? []];
  whole.health = { ...objectOf(whole.health), ...rules.length > 0 && { rules } };
  // Its own auth is no reason to send a secret where the other one would send none.
  if (own.auth) whole.auth = { reads: base.auth?.reads, ...objectOf(own.auth) };
  for (const key of ["openrpc", "openapi"] as const) {
    if (own[key] && base[key]) whole[key] = extendPart(objectOf(base[key]), objectOf(own[key]));
  }
  return whole;
}

function extendPart(base: Json, own: Json): Json {
  const names = listOf(own.methods).map(nameOf);
  const left = listOf(base.methods).filter((method) => !names.includes(nameOf(method)));
  const paths: Json = { ...objectOf(base.paths) };
  for (const [path, item] of Object.entries(objectOf(own.paths))) {
    paths[path] = { ...objectOf(paths[path]), ...objectOf(item) };
  }
  const tags = [...listOf(base.tags), ...listOf(own.tags)];
  return {
    ...{ ...base, ...own, components: mergedComponents(base, own) },
    ...base.methods !== undefined && { methods: [...left, ...listOf(own.methods)] },
    ...base.paths !== undefined && { paths },
    ...tags.length > 0 && { tags },
  };
}

/** The components that operations of the extension may refer to. */
export function mergedComponents({ components: base }: Json, { components: own }: Json): Json {
  return {
    ...objectOf(base),
    ...mapMembers(
      objectOf(own),
      (member, key) => isObject(member) ? { ...objectOf(objectOf(base)[key]), ...member } : member,
    ),
  };
}

const nameOf = (method: unknown) => objectOf(method).name;

/** An operation that takes the place of another one. */
interface Replacement {
  readonly name: string;
  readonly path: Path;
  readonly now: Json;
  readonly before: Json;
}

function* replacementsIn(base: Kind, own: Json): Generator<Replacement> {
  const methods = new Map(base.openrpc?.methods.map((method) => [method.name as unknown, method]));
  for (const [at, method] of listOf(objectOf(own.openrpc).methods).entries()) {
    const now = objectOf(method);
    const before = methods.get(now.name) as Json | undefined;
    if (before) yield { name: String(now.name), path: ["openrpc", "methods", at], now, before };
  }
  for (const [path, item] of Object.entries(objectOf(objectOf(own.openapi).paths))) {
    const others = objectOf(base.openapi?.paths[path]);
    for (const { method, operation: now } of operationsOf(item)) {
      const key = method.toLowerCase();
      if (!isObject(others[key])) continue;
      // Parameters of the path item are parameters of each operation.
      const withShared = (operation: Json, of: Json) => ({ ...operation, shared: of.parameters });
      yield {
        ...{ name: String(now.operationId), path: ["openapi", "paths", path, key] },
        now: withShared(now, { ...others, ...objectOf(item) }),
        before: withShared(others[key], others),
      };
    }
  }
}

/** The accesses, that which opens most first. */
const ACCESSES: readonly unknown[] = ["read", "secret", "write"];

const RESTRICTING = ["x-cost", "x-streaming", "x-auth"] as const;

/** What an operation may be called with. */
const INPUT = ["params", "parameters", "shared", "requestBody"] as const;

/** Tells how an operation is open further than the one that it replaces; `undefined` where it is not. */
function howLooser({ now, before }: Replacement): string | undefined {
  const { "x-access": access } = before as unknown as OperationMarks;
  const steps = ACCESSES.indexOf(now["x-access"]) - ACCESSES.indexOf(access);
  if (steps < 0) return `is marked ${describeValue(now["x-access"])}, and was ${access}`;
  const dropped = RESTRICTING.find((mark) => before[mark] !== undefined && !now[mark]);
  if (dropped) return `has no ${dropped}, and had one`;
  // What reads for some values alone is no read for others.
  const isOther = steps === 0 && access === "read" &&
    INPUT.some((key) => !isEqual(now[key], before[key]));
  return isOther ? "is a read with other parameters than before" : undefined;
}

/** Names the operations that an extension opens further than its kind does, which `loosen` has to list. */
export function loosenings(base: Kind, own: Json): string[] {
  return [...replacementsIn(base, own)].flatMap((one) => {
    const how = howLooser(one);
    return how === undefined ? [] : [`${one.name} ${how}`];
  });
}

/** Finds what is wrong between an extension and the kind that it adds to. */
export function diagnosticsOfExtension(base: Kind, own: Json): Diagnostic[] {
  const listed = listOf(own.loosen);
  const found: Diagnostic[] = [];
  const used = new Set<unknown>();
  for (const one of replacementsIn(base, own)) {
    const how = howLooser(one);
    if (how === undefined) continue;
    used.add(one.name);
    const message = `${how}; if that is meant, write loosen: [${one.name}]`;
    if (!listed.includes(one.name)) found.push({ path: one.path, message, isKey: false });
  }
  for (const [at, name] of listed.entries()) {
    const message = `is ${describeValue(name)}, which is not opened further here`;
    if (!used.has(name)) found.push({ path: ["loosen", at], message, isKey: false });
  }
  const alike = (path: string) => path.replaceAll(/\{[^{}]*\}/g, "{}");
  const paths = Object.keys(base.openapi?.paths ?? {});
  for (const path of Object.keys(objectOf(objectOf(own.openapi).paths))) {
    const other = paths.find((known) => known !== path && alike(known) === alike(path));
    const message = `is the path ${other} of ${own.extends}; write it as there`;
    if (other) found.push({ path: ["openapi", "paths", path], message, isKey: true });
  }
  for (const [part, key] of [["openrpc", "path"], ["openapi", "servers"]] as const) {
    const message = `is that of ${own.extends}; leave it out`;
    const isOther = base[part] && objectOf(own[part])[key] !== undefined;
    if (isOther) found.push({ path: [part, key], message, isKey: true });
  }
  return found;
}
