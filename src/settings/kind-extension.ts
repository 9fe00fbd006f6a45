/**
 * Merges a kind with the built-in kind that it extends. The members and operations of the extension
 * are added to those of the base, or replace them.
 *
 * @module
 */
import {
  filled,
  isEqual,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  present,
  textOf,
} from "../json/values.ts";
import { isOlder, multiSegmentOf } from "../kinds/interface.ts";
import type { Kind } from "../kinds/kind.ts";
import { PathTemplate } from "../http/path-template.ts";
import { followReference, operationsOf } from "../openapi/operations.ts";
import { describeValue } from "../untrusted-text.ts";
import type { SettingDiagnostic, SettingPath } from "./schema.ts";

const MERGED = ["detect", "static", "sources", "fields", "health"] as const;

const NOT_INHERITED: ReadonlySet<string> = new Set(
  ["aliases", "written_from", "tried", "examples", "rpc_path"],
);

/** The extension `own` need not be valid. */
export function extendKind(base: Kind, own: JsonObject): JsonObject {
  const inherited = Object.entries(base).filter(([key]) => !NOT_INHERITED.has(key));
  const whole: JsonObject = { ...Object.fromEntries(inherited), ...own };
  for (const key of MERGED) {
    if (base[key] || own[key]) whole[key] = { ...base[key], ...objectOf(own[key]) };
  }
  const { rules: ownRules, networks: ownNetworks } = objectOf(own.health);
  const rules = filled([...listOf(ownRules), ...base.health.rules ?? []]);
  const networks = filled({ ...base.health.networks, ...objectOf(ownNetworks) });
  whole.health = { ...objectOf(whole.health), ...present({ rules, networks }) };
  // An extension that has its own `auth` still inherits `auth.reads` from its base.
  if (own.auth) whole.auth = { reads: base.auth?.reads, ...objectOf(own.auth) };
  for (const key of ["openrpc", "openapi"] as const) {
    if (own[key] && base[key]) whole[key] = extendPart(objectOf(base[key]), objectOf(own[key]));
  }
  return whole;
}

function extendPart(base: JsonObject, own: JsonObject): JsonObject {
  const paths: JsonObject = { ...objectOf(base.paths) };
  for (const [path, item] of Object.entries(objectOf(own.paths))) {
    paths[path] = { ...objectOf(paths[path]), ...objectOf(item) };
  }
  const tags = mergedByName(base.tags, own.tags);
  return {
    ...base,
    ...own,
    components: mergedComponents(base, own),
    ...base.methods !== undefined && { methods: mergedByName(base.methods, own.methods) },
    ...base.paths !== undefined && { paths },
    ...tags.length > 0 && { tags },
  };
}

export function mergedComponents(
  { components: base }: JsonObject,
  { components: own }: JsonObject,
): JsonObject {
  return {
    ...objectOf(base),
    ...mapMembers(
      objectOf(own),
      (member, key) => isObject(member) ? { ...objectOf(objectOf(base)[key]), ...member } : member,
    ),
  };
}

function mergedByName(base: unknown, own: unknown): unknown[] {
  const names = listOf(own).map(nameOf);
  return [...listOf(base).filter((one) => !names.includes(nameOf(one))), ...listOf(own)];
}

const nameOf = (value: unknown) => objectOf(value).name;

interface Loosening {
  readonly name: string;
  readonly path: SettingPath;
  readonly how: string;
}

/** An operation of an extension, and what takes such calls in its base. */
interface Compared {
  readonly name: unknown;
  readonly path: SettingPath;
  readonly now: JsonObject;
  readonly before: JsonObject;
}

/**
 * Finds the operations that an extension restricts less than its base does. The extension must list
 * these operations in `loosen`.
 */
export function looseningsIn(base: Kind, own: JsonObject): Loosening[] {
  const compared = [...comparedMethods(base, own), ...comparedOperations(base, own)];
  return compared.flatMap(({ name, path, now, before }) => {
    const how = howLooser(now, before);
    return how === undefined ? [] : [{ name: String(name), path, how }];
  });
}

function comparedMethods({ openrpc }: Kind, own: JsonObject): Compared[] {
  const known = new Map(openrpc?.methods.map((method) => [method.name as unknown, method]));
  return listOf(objectOf(own.openrpc).methods).flatMap((method, at) => {
    const name = nameOf(method);
    const path = ["openrpc", "methods", at];
    return known.has(name)
      ? [{ name, path, now: objectOf(method), before: objectOf(known.get(name)) }]
      : [];
  });
}

function comparedOperations(base: Kind, own: JsonObject): Compared[] {
  const part = objectOf(own.openapi);
  const components = mergedComponents(objectOf(base.openapi), part);
  const templateOf = (path: string, { parameters, shared }: JsonObject) => {
    const spanning = [...listOf(parameters), ...listOf(shared)]
      .map((value) => followReference({ components }, value))
      .filter((parameter) => multiSegmentOf(parameter) === true).map(({ name }) => name);
    return new PathTemplate(path, (name) => spanning.includes(name));
  };
  const [server] = [...listOf(part.servers), ...base.openapi?.servers ?? []].map(objectOf);
  const prefix = textOf(server?.url) ?? "";
  const rpcPath = base.openrpc && new PathTemplate(base.openrpc.path ?? "/");
  return changedOperations(base, part).flatMap(({ template, method, member, now }) => {
    const before = operationsAt(base, template, method, now, templateOf);
    // What is posted there may call any method. Some nodes that only have JSON-RPC take it at any
    // path.
    const mayBeRpc = rpcPath && method === "post" &&
      (!base.openapi || templateOf(prefix + template, now).overlaps(rpcPath));
    if (mayBeRpc) before.push({ ...now, "x-access": "write" });
    const path = ["openapi", "paths", template, member];
    return before.map((one) => ({ name: now.operationId, path, now, before: one }));
  });
}

interface ChangedOperation {
  readonly template: string;
  readonly method: string;
  /** The key in the path item that changes the operation. */
  readonly member: string;
  /** The operation, with the parameters of its path item in `shared`. */
  readonly now: JsonObject;
}

function changedOperations({ openapi }: Kind, part: JsonObject): ChangedOperation[] {
  return Object.entries(objectOf(part.paths)).flatMap(([template, value]) => {
    const item = objectOf(value), inherited = openapi?.paths[template];
    // If the item has `parameters`, they are those of the inherited operations, too.
    const changed = item.parameters === undefined ? item : { ...inherited, ...item };
    // A path item without `parameters` inherits the parameters of the same path in the base kind.
    const { parameters: shared = inherited?.parameters } = item;
    return operationsOf(changed).map(({ keys, operation }) => {
      const method = keys[0]!;
      const member = Object.hasOwn(item, method) ? method : "parameters";
      return { template, method, member, now: { ...operation, shared } };
    });
  });
}

/**
 * Lists the base kind's operations at the same path. If there are none at that path, lists the
 * operations that a new operation at `path` could take calls from: their templates overlap `path`
 * and are not more specific.
 */
function operationsAt(
  base: Kind,
  path: string,
  method: string,
  now: JsonObject,
  templateOf: (path: string, operation: JsonObject) => PathTemplate,
): JsonObject[] {
  const own = templateOf(path, now);
  const found = Object.entries(base.openapi?.paths ?? {}).flatMap(([template, item]) => {
    const known = item[method];
    if (!isObject(known)) return [];
    const operation = { ...known, shared: item.parameters };
    return [{ template: templateOf(template, operation), operation }];
  });
  const same = found.filter(({ template }) => template.folded === own.folded);
  if (same.length > 0) return same.map(({ operation }) => operation);
  const input = Object.fromEntries(INPUT.map((key) => [key, now[key]]));
  return found.filter(({ template }) => own.rank <= template.rank && own.overlaps(template))
    .map(({ operation }) => ({ ...operation, ...input }));
}

/** Values of `x-access`, sorted from least to most restricted. */
const ACCESSES: readonly unknown[] = ["read", "secret", "write"];
const RESTRICTING = ["x-cost", "x-streaming", "x-checked"];
const INPUT = ["params", "parameters", "shared", "requestBody"];
function howLooser(now: JsonObject, before: JsonObject): string | undefined {
  const [is, was] = [now["x-access"], before["x-access"]];
  const steps = ACCESSES.indexOf(is) - ACCESSES.indexOf(was);
  if (steps < 0) {
    return `is marked ${describeValue(is)}, but the known kind marks such calls as ${was}`;
  }
  const dropped = RESTRICTING.find((mark) => before[mark] !== undefined && !now[mark]);
  if (dropped) return `no longer has ${dropped}`;
  if (is === "read") {
    const { "x-software": owners, "x-since": since } = before;
    const all = listOf(now["x-software"]);
    const isForOthers = owners !== undefined &&
      (all.length === 0 || all.some((name) => !listOf(owners).includes(name)));
    if (isForOthers) return 'is marked "read", but also of other software than in the base kind';
    const isEarlier = since !== undefined && isOlder(textOf(now["x-since"]) ?? "0", textOf(since));
    if (isEarlier) return 'is marked "read", but of earlier versions than in the base kind';
  }
  // A method may be read-only for some parameters but not for others.
  const isOther = is === "read" && INPUT.some((key) => !isEqual(now[key], before[key]));
  return isOther
    ? 'is marked "read", but its parameters differ from those in the base kind'
    : undefined;
}

function replacedComponents(base: Kind, own: JsonObject): SettingPath[] {
  return (["openrpc", "openapi"] as const).flatMap((part) =>
    Object.entries(objectOf(objectOf(own[part]).components)).flatMap(([group, members]) => {
      const known = objectOf(objectOf(base[part]?.components)[group]);
      return Object.entries(objectOf(members))
        .filter(([name, member]) => Object.hasOwn(known, name) && !isEqual(known[name], member))
        .map(([name]) => [part, "components", group, name]);
    })
  );
}

export function diagnosticsOfExtension(base: Kind, own: JsonObject): SettingDiagnostic[] {
  const found: SettingDiagnostic[] = [];
  const listed = listOf(own.loosen);
  const loosened = looseningsIn(base, own);
  for (const { name, path, how } of loosened) {
    if (listed.includes(name)) continue;
    const message = `${how}; if that is intended, write loosen: [${name}]`;
    found.push({ path, message });
  }
  for (const [at, name] of listed.entries()) {
    if (loosened.some((one) => one.name === name)) continue;
    const message = `is ${
      describeValue(name)
    }, but this kind does not make that operation less restricted`;
    found.push({ path: ["loosen", at], message });
  }
  for (const path of replacedComponents(base, own)) {
    found.push({ path, message: `is already in ${own.extends}; choose another name`, isKey: true });
  }
  for (const path of [["openrpc", "path"], ["openapi", "servers"]] as const) {
    const [part, key] = path;
    if (!base[part] || objectOf(own[part])[key] === undefined) continue;
    found.push({ path, message: `is inherited from ${own.extends}; remove it`, isKey: true });
  }
  return found;
}
