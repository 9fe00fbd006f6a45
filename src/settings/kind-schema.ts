/**
 * The schema of a kind of node, whether it is built in or defined by an operator or a host.
 *
 * @module
 */
import * as v from "valibot";
import { FORWARD_DEFAULTS } from "../gateway/policy.ts";
import { LAG, SYNC_PAUSE } from "../info/evidence.ts";
import { KIND_STATUS_CODES } from "../info/status.ts";
import { CALLS_MAX } from "../node/json-rpc.ts";
import { objectOf } from "../json/values.ts";
import type { Kind, KindAuth, KindHealth, NetworkRules } from "../kinds/kind.ts";
import type { DerivedKeys, Listing } from "../kinds/parts.ts";
import { KIND_ALIASES, KIND_NAMES } from "../generated/kind-names.js";
import { diagnosticsOfKind } from "./kind-checks.ts";
import { diagnosticsOfExtension, extendKind } from "./kind-extension.ts";
import { diagnosticsOfInterface, INTERFACE_SETTINGS } from "./kind-interface.ts";
import { authFile, FIELD, NODE_SOURCE, REFERENCES } from "./node-schema.ts";
import {
  anyOf,
  BOOLEAN,
  choice,
  described,
  filledList,
  filledMap,
  issuePath,
  json,
  map,
  NUMBER,
  object,
  oneOf,
  optional,
  type Schema,
  type SettingsOf,
  text,
  typed,
  wholeNumber,
} from "./schema.ts";
import {
  AGE,
  EXPRESSION,
  FILE,
  HEADER,
  HISTORY_KEY,
  INFO_KEY,
  KIND_NAME,
  LINE,
  NODE_URL,
  PATH,
  REASON,
  REFERENCE_TEXT,
  SOURCE_NAME,
  WEB_URL,
} from "./texts.ts";

const TESTS = "{ not: EXPRESSION }, { above: NUMBER } or { below: NUMBER }";

const TEST = anyOf([
  EXPRESSION,
  v.null("null"),
  oneOf({
    not: {
      not: described(
        EXPRESSION,
        "True if the value is a text, a number, true or false, and does not match",
      ),
    },
    above: { above: described(NUMBER, "True if the value is greater than this number") },
    below: { below: described(NUMBER, "True if the value is less than this number") },
  }),
], `a regular expression, null, ${TESTS}`);

const RULE = object({
  when: described(
    filledMap(REFERENCE_TEXT, typed("Test", TEST), "places, each with a test"),
    `A test for each place: a regular expression, null (the value is missing), ${TESTS}. ` +
      "The rule applies if all tests pass. A test fails if its source has no response",
    {
      example: "{ 'status#/leader': null }",
    },
  ),
  code: described(typed("KindStatusCode", choice(KIND_STATUS_CODES)), "The value of status_code", {
    example: "no_leader",
  }),
  reason: described(
    REASON,
    "The text of status_reason, a clause. {source#/pointer} is replaced by the value at that place",
    {
      example: "etcd has no leader",
    },
  ),
});

const NETWORK_RULES: SettingsOf<NetworkRules> = {
  name: optional(LINE, "The name of the network for people", { example: "Ethereum mainnet" }),
  quiet: optional(
    AGE,
    "The longest normal time between two blocks. " +
      "A synced node whose last block is older is stalled",
    {
      example: "3h",
    },
  ),
  peers: optional(
    wholeNumber(1),
    "The minimum number of peers. A node with fewer peers has the status_code no_peers",
    {
      example: "1",
    },
  ),
  private: optional(
    BOOLEAN,
    "True for a network such as regtest, whose blocks the node makes itself when it is told to. " +
      "Neither synced, progress nor a rule with the code syncing counts there",
    {
      default: "false",
      example: "true",
    },
  ),
};

const HEALTH: SettingsOf<Omit<KindHealth, "ok">> = {
  warming_up: optional(
    v.array(wholeNumber(), "a list of whole numbers"),
    "JSON-RPC error codes or HTTP statuses that a starting node returns",
    {
      example: "[-28]",
    },
  ),
  warming_up_text: optional(
    EXPRESSION,
    "A regular expression for the text with which a starting node refuses HTTP requests, or " +
      "which it sends instead of JSON",
    {
      example: "is not ready",
    },
  ),
  rules: optional(
    v.array(typed("HealthRule", RULE), "a list of rules"),
    "Rules for the status. The first matching rule applies",
  ),
  complete: optional(NUMBER, "The minimum progress of a node that is in sync", {
    example: "1",
  }),
  target: optional(
    REFERENCES,
    "The highest block that the node or its peers know of (decimal or 0x). " +
      "If several places are listed, the highest number is used",
    {
      example: "chain#/headers",
    },
  ),
  behind: optional(
    REFERENCE_TEXT,
    "The number of blocks that a syncing node lacks, for estimates of the remaining time",
    {
      example: "chain#/behind",
    },
  ),
  reached: optional(
    REFERENCE_TEXT,
    "The highest block that a syncing node has. Estimates need it if the node's height does not " +
      "grow",
    {
      example: "chain#/downloaded",
    },
  ),
  lag: optional(
    wholeNumber(0),
    "The maximum number of blocks that a synced node may be behind the target",
    {
      default: String(LAG),
    },
  ),
  sync_ignores: optional(
    v.array(REFERENCE_TEXT, "a list of places"),
    "Members of `synced` that change even if the node makes no progress, such as the blocks of " +
      "another chain",
    {
      example: "[chain#/seen]",
    },
  ),
  sync_pause: optional(
    AGE,
    "The longest time that a sync may go on without progress, since in some of its stages " +
      "nothing moves",
    {
      default: SYNC_PAUSE,
      example: "24h",
    },
  ),
  networks: optional(
    map(LINE, typed("NetworkRules", object(NETWORK_RULES))),
    "Limits by network. A key is a software with any network (anvil *), a chain_id, " +
      "a software and its network (Satoshi main), a network, or * for all other networks",
    {
      example: "{ main: { quiet: 3h, peers: 1 } }",
    },
  ),
};

const CALL = {
  jsonrpc: described(LINE, "The name of the method"),
  path: optional(PATH, "The path below the node's URL to which the call is posted", {
    default: "the node's URL itself",
  }),
};

const NAMES = {
  names: optional(
    EXPRESSION,
    "A regular expression whose first group matches a name in the response",
  ),
  except: optional(EXPRESSION, "A regular expression for names to omit"),
  tree: optional(
    object({
      name: described(LINE, "The member that holds a name"),
      children: described(LINE, "The member that holds the list of children"),
    }),
    'The members to read if the response is a JSON tree. Set either "names" or "tree". ' +
      "The name of a method is its path from the root, such as block/get",
  ),
  before: optional(
    LINE,
    "The separator between the group and the rest of a method name, if the response lists groups",
  ),
};

const NODE_PATH = described(PATH, "A path below the node's URL");

const LISTING = v.pipe(
  oneOf({
    jsonrpc: { ...CALL, ...NAMES },
    get: { get: NODE_PATH, ...NAMES },
    post: { post: NODE_PATH, json: optional(json, "The JSON to post"), ...NAMES },
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const keys = ["names", "tree"].filter((key) => key in dataset.value);
    if (keys.length !== 1) addIssue({ message: 'must have either "names" or "tree"' });
  }),
) as Schema<unknown> as Schema<Listing>;

const WEBSOCKET = object({
  path: optional(PATH, "The path below the node's URL"),
  port_offset: optional(wholeNumber(1, 1000), "The difference to the port of the node's URL"),
  connections: optional(
    wholeNumber(1, 256),
    "The number of WebSocket connections that the service may make. " +
      "It must leave some of the node's connections to calls and queries",
    { default: "256" },
  ),
});

const WALLETS = text('a path such as "/wallet/"', /^\/(?:[\w-][\w.-]*\/)+$/);

const OPERATIONS: SettingsOf<
  Pick<Kind, "description" | "listing" | "concurrency" | "batch_max" | "websocket" | "wallets">
> = {
  concurrency: optional(
    wholeNumber(1, 1000),
    "The number of calls that the node can handle at once",
    {
      default: String(FORWARD_DEFAULTS.concurrency),
      example: "8",
    },
  ),
  batch_max: optional(
    wholeNumber(1),
    "The number of calls that the node gets in one JSON-RPC batch; 1 if it takes no batches",
    {
      default: String(CALLS_MAX),
      example: "10",
    },
  ),
  websocket: optional(
    typed("WebSocketPlace", WEBSOCKET),
    "Where the node takes WebSocket connections",
    { default: "where it takes JSON-RPC" },
  ),
  wallets: optional(
    WALLETS,
    "What is before the name of a wallet in a path at which the node takes JSON-RPC for it",
    { example: "/wallet/" },
  ),
  description: optional(
    anyOf(
      [typed("`/${string}`", PATH), typed("MethodCall", object(CALL))],
      "a path, or a method as in { jsonrpc: rpc.discover }",
    ),
    "The place of the node's own description: a path below its URL that returns OpenAPI or " +
      "Swagger, or a JSON-RPC method that returns OpenRPC",
  ),
  listing: optional(
    typed("Listing", LISTING),
    "The request that lists the node's operations, " +
      "and a rule to find their names in the response. " +
      "If the kind has JSON-RPC methods, the names are method names; " +
      "otherwise, they are paths without the leading slash. " +
      "Those that are not listed are omitted",
  ),
};

/** The name of a built-in kind. */
export const KNOWN_KIND: Schema<string> = choice(
  KIND_NAMES,
  "a known kind (see nodeface kinds)",
  KIND_ALIASES,
);

const EXTENSION: SettingsOf<Pick<Kind, "extends" | "loosen">> = {
  extends: optional(
    typed("string", KNOWN_KIND),
    "The known kind that this kind extends, only in an operator's files. " +
      "All other keys are then optional. " +
      "Methods, paths and other members are added to the known kind, " +
      "or replace its members of the same name",
  ),
  loosen: optional(
    v.array(LINE, "a list of operations"),
    "The operations, by method or operationId, " +
      "that are less restricted in this file than in the known kind. " +
      "For example, a write operation becomes a read operation, " +
      "or a read operation gets other parameters",
  ),
};

const authSettings = (path: Schema<string>): SettingsOf<KindAuth> => ({
  refusal: optional(
    object({
      header: described(HEADER, "A header of the 401 or 403 response"),
      pattern: described(EXPRESSION, "A regular expression for the header's value"),
    }),
    "The response with which the node refuses access. " +
      "Secrets from auth.files are sent only after this response",
  ),
  files: optional(
    v.array(authFile(path), "a list of files"),
    "The files in which nodes of this kind store their secret for programs of the same user. " +
      "Each entry is written like node.auth",
  ),
  reads: optional(
    choice(["none"]),
    'If "none", read operations are called without the secret. ' +
      "With the secret, the node would return private data",
  ),
  example: optional(authFile(path), "An example of node.auth, for nodes without secret files"),
});

/** @param requiredInKind makes a setting that a complete kind needs */
const infoSettings = (
  requiredInKind: typeof described,
): SettingsOf<Pick<Kind, "static" | "sources" | "fields" | "health" | "history">> => ({
  static: optional(map(INFO_KEY, json), "Keys to add, each with a constant value"),
  sources: requiredInKind(map(SOURCE_NAME, typed("Source", NODE_SOURCE)), "The sources by name"),
  fields: requiredInKind(
    map(INFO_KEY, FIELD),
    "The keys of the info, each with the place of its value",
  ),
  health: requiredInKind(
    typed(
      "KindHealth",
      object({
        ok: requiredInKind(LINE, "A clause that describes a node whose status is ok", {
          example: "it has a leader and raises no alarm",
        }),
        ...HEALTH,
      }),
    ),
    "The rules for the status",
  ),
  history: optional(
    v.pipe(v.array(HISTORY_KEY, "a list of keys"), v.maxLength(4, "at most 4 keys")) as Schema<
      string[]
    >,
    "The keys of the info that /v1/history records, at most four",
    {
      default: "[height, peers]",
    },
  ),
});

/**
 * @param path the schema of the path of a file with a secret
 * @param base the built-in kind that the kind extends
 */
export function kindSchema(path: Schema<string> = FILE, base?: Kind): Schema<Kind> {
  // In an extension, every setting is optional: an omitted setting is inherited from the base.
  const requiredInKind = base ? optional as typeof described : described;
  const kind: SettingsOf<Omit<Kind, keyof DerivedKeys>> = {
    title: requiredInKind(LINE, "The display name of the kind"),
    url: requiredInKind(NODE_URL, "The usual URL of nodes of this kind, for display only"),
    aliases: optional(
      v.array(KIND_NAME, "a list of names"),
      "Other names for the kind: names of programs and networks",
    ),
    precedes: optional(
      v.array(KIND_NAME, "a list of names"),
      "Kinds whose interface a node of this kind may have, too; this kind is chosen then",
    ),
    ...OPERATIONS,
    detect: requiredInKind(
      filledMap(REFERENCE_TEXT, EXPRESSION, "places, each with a regular expression"),
      "Places in the node's responses, each with a regular expression. All must match",
    ),
    auth: optional(
      typed("KindAuth", object(authSettings(path))),
      "How the node refuses access, and where it stores its secret",
    ),
    ...infoSettings(requiredInKind),
    written_from: optional(
      filledList(WEB_URL, "a list of URLs"),
      "The source of the operations: URLs of files or folders at a fixed version",
    ),
    tried: optional(
      LINE,
      "The software and version with which the read operations were tested, such as hsd 8.0.0",
    ),
    ...INTERFACE_SETTINGS,
    ...EXTENSION,
  };
  return v.pipe(
    object(kind) as Schema<Kind>,
    v.rawCheck(({ dataset: { value, issues = [] }, addIssue }) => {
      const keyOf = (path: readonly unknown[]) => JSON.stringify(path);
      const reported = new Set(issues.map(({ path = [] }) => keyOf(path.map(({ key }) => key))));
      const own = objectOf(value);
      const found = [
        ...diagnosticsOfKind(base ? extendKind(base, own) : own),
        ...diagnosticsOfInterface(value, base).filter(({ path }) => !reported.has(keyOf(path))),
      ];
      if (base) found.push(...diagnosticsOfExtension(base, own));
      else if (own.extends !== undefined) {
        const message = "is only allowed in an operator's files";
        found.push({ path: ["extends"], message, isKey: true });
      }
      for (const { path, message, isKey } of found) {
        addIssue({ message, path: issuePath(value, path, isKey) });
      }
    }),
  );
}

/**
 * Removes `auth.files`, since a kind that is not built in could use this key to send any file to
 * any node.
 */
export function withoutSecretFiles(kind: Kind): Kind {
  const { files, ...auth } = kind.auth ?? {};
  return files ? { ...kind, auth: { example: files[0], ...auth } } : kind;
}
