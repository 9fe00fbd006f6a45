/**
 * Annotates a description with the policy: adds `x-call`, a sentence for people, and the token's
 * security scheme.
 *
 * @module
 */
import {
  createFreeName,
  isEqual,
  type JsonObject,
  listOf,
  objectOf,
  setMember,
  textOf,
} from "../json/values.ts";
import { mapOperations, mapPathItems, operationsOf, TOKEN_SCHEME } from "../openapi/operations.ts";
import { listNodeOperations } from "../openapi/callable-operations.ts";
import { type Home, homeOf, onlyUrl, THIS_SERVICE } from "../openapi/home.ts";
import type { DescribedBy, NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
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
/** What the page needs to know of a call, beside what is served. */
const NOTE: unique symbol = Symbol("x-call-note");

/** A client asks with its token what it may call. */
const OF_SELF = { permission: "token", reason: "", isOpenable: false } as const;

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
  document: JsonObject,
  forward: ResolvedForward | undefined,
  by: DescribedBy,
  ofNode: JsonObject = document,
): Promise<{ readonly document: JsonObject; readonly operations: readonly NodeOperation[] }> {
  // Not all operations of the node may be in the document: a host may have one at the same path.
  const operations = forward ? await listNodeOperations(ofNode, by) : [];
  await pause();
  const entries = forward ? decide(operations, forward) : [];
  const policy = new Map(entries.map((entry) => [keyOf(entry.operation), entry]));
  const tokenScheme = createFreeName(
    new Set(Object.keys(objectOf(objectOf(document.components).securitySchemes))),
  )(TOKEN_SCHEME);
  const inherited = document.security;
  /** The schemes of the node's operations, which are not served. */
  const removedSchemes = new Set<string>();
  let isChanged = false;
  const tokenSecurity = [{ [tokenScheme]: [] }];
  const hasClients = forward !== undefined && forward.clients.length > 0;
  const change = (item: JsonObject) =>
    mapOperations(item, ({ operation }) => {
      const { [CALL_MARK]: mark, security = inherited, ...rest } = operation;
      const home = homeOf(operation);
      isChanged ||= home !== undefined || mark !== undefined;
      if (!home) {
        const isSame = mark === undefined && security === operation.security;
        return isSame ? operation : { ...rest, ...security !== undefined && { security } };
      }
      for (const scheme of schemesOf(security)) removedSchemes.add(scheme);
      const entry = policy.get(keyOf(home));
      return entry ? withPermission(rest, entry, entry.operation, tokenSecurity) : rest;
    });
  const changed = await inSlices(mapPathItems(document, {
    paths: (item, path) => {
      const isSelf = path === SELF_PATH && onlyUrl([objectOf(item.get)]) === THIS_SERVICE;
      if (!hasClients || !isSelf) return change(item);
      isChanged = true;
      return { get: withPermission(objectOf(item.get), OF_SELF, undefined, tokenSecurity) };
    },
    webhooks: change,
  }));
  if (!isChanged) return { document, operations };
  const { security: _, ...rest } = changed;
  return {
    document: withSchemes(rest, removedSchemes, hasClients ? tokenScheme : undefined),
    operations,
  };
}

/** A JSON-RPC method may have the name of another operation. */
const keyOf = ({ isMethod, name }: Home): string => `${isMethod} ${name}`;

interface CallNote {
  /** `undefined` while calls are switched off. */
  readonly permission?: Permission | undefined;
  /** Why not everybody may call the operation; empty if everybody may. */
  readonly sentence: string;
  /** The description without the sentence. */
  readonly description: string;
  /** True if the operation cannot be called now, but a setting would enable it. */
  readonly isOpenable: boolean;
  /** The parameters that are never sent to the node. */
  readonly unsent: readonly NodeParameter[];
}

export const callNoteOf = (operation: JsonObject): CallNote =>
  (operation as { [NOTE]?: CallNote })[NOTE] ?? {
    permission: operation[CALL_MARK] as Permission | undefined,
    ...withoutPermission(operation),
  };

const withoutPermission = (operation: JsonObject): CallNote => ({
  sentence: "",
  description: textOf(operation.description) ?? "",
  isOpenable: false,
  unsent: [],
});

function withPermission(
  operation: JsonObject,
  { permission, reason, isOpenable }: Pick<PolicyEntry, "permission" | "reason" | "isOpenable">,
  ofNode: NodeOperation | undefined,
  tokenSecurity: JsonObject[],
): JsonObject {
  // The permission is described first, because a long description is truncated at its end.
  const sentence = permission === "token"
    ? "Needs a client's token, which the operator gives."
    : permission === "refused"
    ? `Not forwarded: ${reason}.`
    : "";
  const unsent = ofNode && permission !== "refused" ? unsentParametersOf(ofNode) : [];
  const omission = unsent.length > 0 ? `Never taken from a call: ${listOfNames(unsent)}.` : "";
  const paragraphs = [omission, textOf(operation.description) ?? ""].filter(Boolean);
  const description = [sentence, ...paragraphs].filter(Boolean).join("\n\n");
  const note: CallNote = {
    permission,
    sentence,
    description: paragraphs.join("\n\n"),
    isOpenable,
    unsent,
  };
  return {
    ...operation,
    ...description && { description },
    security: permission === "token" ? tokenSecurity : [],
    [CALL_MARK]: permission,
    [NOTE]: note,
  };
}

const UNSENT_MAX = 10;

const listOfNames = (parameters: readonly NodeParameter[]): string =>
  parameters.slice(0, UNSENT_MAX).map(({ name }) => describeValue(name)).join(", ") +
  (parameters.length > UNSENT_MAX ? " and others" : "");

function withSchemes(
  document: JsonObject,
  taken: ReadonlySet<string>,
  added: string | undefined,
): JsonObject {
  const used = new Set([...namesUsed(document.paths), ...namesUsed(document.webhooks)]);
  const { securitySchemes, ...components } = objectOf(document.components);
  const left = Object.entries(objectOf(securitySchemes))
    .filter(([name]) => used.has(name) || !taken.has(name));
  const schemes: JsonObject = {};
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
