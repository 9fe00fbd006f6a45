/**
 * Annotates a description with the policy: adds `x-call`, a sentence for people, and the token's
 * security scheme.
 *
 * @module
 */
import {
  createFreeName,
  isEqual,
  type Json,
  listOf,
  objectOf,
  setMember,
  textOf,
} from "../json/values.ts";
import {
  mapOperations,
  mapPathItems,
  operationsOf,
  type Parameter,
  TOKEN_SCHEME,
} from "../openapi/operations.ts";
import { listNodeOperations, nameOfNodeOperation } from "../openapi/callable-operations.ts";
import type { DescribedBy, NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
import { onlyUrl, THIS_SERVICE } from "../openapi/servers.ts";
import { inSlices, pause } from "../slices.ts";
import { SELF_PATH } from "../http/own-paths.ts";
import { describeValue } from "../untrusted-text.ts";
import {
  decide,
  type Permission,
  type PolicyEntry,
  type ResolvedForward,
  unsentParametersOf,
} from "./policy.ts";

export const CALL_MARK = "x-call";
/** The name of an operation of the node, as in settings. It must not be served. */
const NODE_NAME: unique symbol = Symbol("x-node-name");
/** Whether a setting would enable an operation. It must not be served either. */
const OPENABLE: unique symbol = Symbol("x-openable");
/** The parameters that are never sent to the node. They must not be served either. */
const UNSENT: unique symbol = Symbol("x-unsent");

const TOKEN = {
  type: "http",
  scheme: "bearer",
  description: "A client's token, for calls that need one. The token is valid for this " +
    "service only; the service itself adds the node's own credentials.",
};

/**
 * Removes the `security` of the node's operations, since our page must not ask for the node's
 * secret.
 *
 * @param ofNode the document with all operations of the node
 */
export async function annotateCalls(
  document: Json,
  forward: ResolvedForward | undefined,
  by: DescribedBy,
  ofNode: Json = document,
): Promise<{ readonly document: Json; readonly operations: readonly NodeOperation[] }> {
  // Not all operations of the node may be in the document: a host may have one at the same path.
  const operations = forward ? await listNodeOperations(ofNode, by) : [];
  await pause();
  const entries = forward ? decide(operations, forward) : [];
  const policy = new Map(entries.map((entry) => [entry.operation.name, entry]));
  const tokenScheme = createFreeName(
    new Set(Object.keys(objectOf(objectOf(document.components).securitySchemes))),
  )(TOKEN_SCHEME);
  const inherited = document.security;
  /** The schemes of the node's operations, which are not served. */
  const removedSchemes = new Set<string>();
  let isChanged = false;
  const tokenSecurity = [{ [tokenScheme]: [] }];
  const hasClients = forward !== undefined && forward.clients.length > 0;
  const change = (item: Json, path?: string) =>
    mapOperations(item, ({ method, operation }) => {
      const name = path === undefined
        ? undefined
        : nameOfNodeOperation(document, { path, item, method, operation });
      const { [CALL_MARK]: mark, security = inherited, ...rest } = operation;
      isChanged ||= name !== undefined || mark !== undefined;
      if (name === undefined) {
        const isSame = mark === undefined && security === operation.security;
        return isSame ? operation : { ...rest, ...security !== undefined && { security } };
      }
      const named = { ...rest, [NODE_NAME]: name };
      for (const scheme of schemesOf(security)) removedSchemes.add(scheme);
      const entry = policy.get(name);
      return entry ? withPermission(named, entry, tokenSecurity) : named;
    });
  const changed = await inSlices(mapPathItems(document, {
    paths: (item, path) =>
      hasClients && path === SELF_PATH && onlyUrl([objectOf(item.get)]) === THIS_SERVICE
        ? { get: { ...objectOf(item.get), security: tokenSecurity, [CALL_MARK]: "token" } }
        : change(item, path),
    webhooks: (item) => change(item),
  }));
  if (!isChanged) return { document, operations };
  const { security: _, ...rest } = changed;
  return {
    document: withSchemes(rest, removedSchemes, hasClients ? tokenScheme : undefined),
    operations,
  };
}

export const nodeNameOf = (operation: Json): string | undefined =>
  (operation as { [NODE_NAME]?: string })[NODE_NAME];

/** Returns the parameters of an operation that are sent, if the operation is called. */
export function sentParametersOf<T extends Pick<Parameter, "place" | "name">>(
  operation: Json,
  parameters: readonly T[],
): T[] {
  const { [UNSENT]: unsent = [] } = operation as { [UNSENT]?: readonly NodeParameter[] };
  return parameters.filter(({ place, name }) =>
    !unsent.some((one) => one.in === place && one.name === name)
  );
}

/** What the annotations of an operation say of its calls. */
interface CallNote {
  readonly permission: Permission;
  /** Empty if every client may call the operation. */
  readonly sentence: string;
  /** The rest of the description. */
  readonly description: string;
  /** True if the operation cannot be called now, but a setting would enable it. */
  readonly isOpenable: boolean;
}

export function callNoteOf(
  operation: Json,
): CallNote | undefined {
  const permission = operation[CALL_MARK];
  const description = textOf(operation.description) ?? "";
  const isOpenable = (operation as { [OPENABLE]?: boolean })[OPENABLE] === true;
  if (permission === "open") return { permission, sentence: "", description, isOpenable };
  if (permission !== "token" && permission !== "refused") return undefined;
  const [sentence = "", ...others] = description.split("\n\n");
  return { permission, sentence, description: others.join("\n\n"), isOpenable };
}

function withPermission(
  operation: Json,
  { operation: ofNode, permission, reason, isOpenable }: PolicyEntry,
  tokenSecurity: Json[],
) {
  // The permission is described first, because a long description is truncated at its end.
  const sentence = permission === "token"
    ? "Needs a client's token, which the operator gives."
    : permission === "refused"
    ? `Not forwarded: ${reason}.`
    : "";
  const unsent = permission === "refused" ? [] : unsentParametersOf(ofNode);
  const omission = unsent.length > 0 ? `Never taken from a call: ${listOfNames(unsent)}.` : "";
  const description = [sentence, omission, textOf(operation.description) ?? ""].filter(Boolean)
    .join("\n\n");
  const security = permission === "token" ? tokenSecurity : [];
  return {
    ...operation,
    ...description && { description },
    security,
    [CALL_MARK]: permission,
    [OPENABLE]: isOpenable,
    ...unsent.length > 0 && { [UNSENT]: unsent },
  };
}

const UNSENT_MAX = 10;

const listOfNames = (parameters: readonly NodeParameter[]): string =>
  parameters.slice(0, UNSENT_MAX).map(({ name }) => describeValue(name)).join(", ") +
  (parameters.length > UNSENT_MAX ? " and others" : "");

function withSchemes(document: Json, taken: ReadonlySet<string>, added: string | undefined): Json {
  const used = new Set([...namesUsed(document.paths), ...namesUsed(document.webhooks)]);
  const { securitySchemes, ...components } = objectOf(document.components);
  const left = Object.entries(objectOf(securitySchemes))
    .filter(([name]) => used.has(name) || !taken.has(name));
  const schemes: Json = {};
  for (const [name, scheme] of left) setMember(schemes, name, scheme);
  if (added !== undefined) schemes[added] = TOKEN;
  if (isEqual(schemes, objectOf(securitySchemes))) return document;
  const all = { ...components, ...Object.keys(schemes).length > 0 && { securitySchemes: schemes } };
  const { components: _, ...rest } = document;
  return { ...rest, ...Object.keys(all).length > 0 && { components: all } };
}

function namesUsed(items: unknown): string[] {
  return Object.values(objectOf(items)).flatMap((item) =>
    operationsOf(item).flatMap(({ operation: { security, callbacks } }) => [
      ...schemesOf(security),
      ...Object.values(objectOf(callbacks)).flatMap(namesUsed),
    ])
  );
}

const schemesOf = (security: unknown): string[] =>
  listOf(security).flatMap((requirement) => Object.keys(objectOf(requirement)));
