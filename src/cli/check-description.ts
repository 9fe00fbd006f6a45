/**
 * The sections "Description" and "Calls" of the `nodeface check` report.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { reasonIn } from "../description/description.ts";
import { knowKind, type KnownKind, type SoftwareInfo } from "../description/known-interface.ts";
import { findMissing, mayAskMethods, type NodeInfo } from "../description/missing-methods.ts";
import { type Prepared, prepareDescription } from "../description/prepare.ts";
import { descriptionSourcesOf, sourceAt } from "../description/source.ts";
import { decide, isClosed } from "../gateway/policy.ts";
import {
  type ClientRights,
  type ForwardDiagnostic,
  lintNames,
  lintParameters,
  lintSettings,
  lintTokens,
  lintUnsent,
  rightsIn,
} from "../gateway/lint-settings.ts";
import { clauseOf } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import type { KindInterface } from "../kinds/interface.ts";
import { errorsFirst, formatDiagnostic } from "../openapi/diagnostics.ts";
import { type Offer, offered } from "../openapi/kind-document.ts";
import { isReserved } from "../openapi/drop-in.ts";
import { loadOwnDocument } from "../resources/open-description.ts";
import { excerpt, printable, quote } from "../untrusted-text.ts";
import type { Config } from "./read-config.ts";
import { formatTable, type ReportSection } from "./output.ts";

interface Described extends Partial<Pick<Prepared, "description">> {
  readonly sections: readonly ReportSection[];
}

const TITLE = "Description";

export async function describeDescription(
  { description, base, forward, ...config }: Config,
  node: Node,
  info: NodeInfo & SoftwareInfo,
): Promise<Described> {
  if (description === "none") return { sections: [] };
  const own = await loadOwnDocument();
  const options = { own, operations: [], forward, base, node: node.url };
  if (description !== undefined) {
    const source = await sourceAt(description, node);
    const read = await prepareDescription(source, {}, options);
    const isOfNode = source.by === "network" && source.file?.url.origin === originOf(node);
    const why = "The description is the configured one";
    return describeShown(read, why, { isOfNode });
  }
  const known = await knowKind(node);
  if (!known) return { sections: [] };
  const offer = await askOfferAndMissing(known, config.node, info).catch((error: Error) => error);
  const described = offer instanceof Error ? info : offer;
  const { ofNode, ofKind } = descriptionSourcesOf(node, known);
  let before = "";
  if (ofNode) {
    const { name } = ofNode;
    const prepared = await prepareDescription(ofNode, described, options);
    if (prepared.description) {
      const why = `The description is the node's own, at ${name}`;
      return describeShown(prepared, why, { isOfNode: true });
    }
    const reason = printable(reasonIn(prepared.diagnostics));
    before = `There is no description of the node at ${name}: ${reason}\n`;
  }
  if (!ofKind) return { sections: before === "" ? [] : [{ title: TITLE, text: before }] };
  const lacking = await lackingOf(known, offer);
  const why = `The description has the operations of the kind ${known.name}${lacking}`;
  return describeShown(await prepareDescription(ofKind, described, options), why, { before });
}

const originOf = (node: Node): string | undefined => node.url && new URL(node.url).origin;

async function lackingOf(known: KnownKind, offer: Offer | Error) {
  if (offer instanceof Error) {
    return `; cannot tell what this node lacks: it ${clauseOf(offer.message)}`;
  }
  const parts = await known.loadInterface();
  const names = ({ openrpc, openapi }: KindInterface) => [
    ...openrpc?.methods.map(({ name }) => name) ?? [],
    ...Object.keys(openapi?.paths ?? {}),
  ];
  const has = new Set(names(offered(parts, offer)));
  const { software, missing = [] } = offer;
  const lacking = names(offered(parts, { software })).filter((name) => !has.has(name));
  const isListed = known.kind.listing && offer.names;
  const why = isListed ? "does not list" : `lacks in version ${offer.version}`;
  return excepting(lacking, why) + excepting(missing.filter((name) => has.has(name)), "lacks");
}

const excepting = (names: readonly string[], why: string): string =>
  names.length === 0
    ? ""
    : `, except ${names.length} that this node ${why}: ${excerpt(names.join(", "), 400)}`;

async function askOfferAndMissing(
  known: KnownKind,
  nodeSettings: Config["node"],
  info: NodeInfo & SoftwareInfo,
): Promise<Offer> {
  const offer = await known.askOffer(info);
  const isListed = offer.names !== undefined && offer.before === undefined;
  if (info.status !== "ok" || isListed || !mayAskMethods(nodeSettings)) return offer;
  const questions = await known.questionsFor(offer, new LightSignal());
  return { ...offer, missing: questions && await findMissing(questions) };
}

function describeShown(
  { diagnostics, description }: Prepared,
  because: string,
  { before = "", isOfNode = false }: {
    before?: string;
    /** True if its author is that of the node, so that the operator cannot mend it. */
    isOfNode?: boolean;
  },
): Described {
  const all = errorsFirst(diagnostics);
  const lines = all.map((one) => `${one.level.padEnd(5)} ${formatDiagnostic(one)}\n`);
  const last = description
    ? `${because}\nThe description can be shown\n`
    : "The description cannot be shown\n";
  const troubles = description ? [] : ["the description cannot be shown"];
  const errors = all.filter(({ level }) => level === "error").length;
  const notes: string[] = [];
  if (errors > 0) {
    const count = `errors in the description: ${errors}`;
    if (isOfNode) notes.push(`${count}; the description is the node's own, so this is no error`);
    else troubles.push(count);
  }
  const findings = all.map(({ isFatal: _, reason: __, ...finding }) => finding);
  const section: ReportSection = {
    title: TITLE,
    text: [before, ...lines, last, ...notes.map((note) => `note  ${note}\n`)].join(""),
    troubles,
    notes,
    data: { description: { shown: !!description, ...description && { because }, findings } },
  };
  return { sections: [section], description };
}

const NAMES_MAX = 20;
const CALL_WORDS = { open: "allowed", token: "needs a token", refused: "refused" } as const;

/** Reports what the service logs about its clients and addresses when it starts. */
export async function lintForward(config: Config): Promise<ForwardDiagnostic[]> {
  const { forward } = config;
  return forward ? [...await lintTokens(forward), ...await lintSettings(forward, config)] : [];
}

export async function describeCalls(
  config: Config,
  described: Described,
  node: Node,
): Promise<ReportSection[]> {
  const { forward, node: nodeSettings } = config;
  if (!forward) return [];
  const { operations = [], isBuiltIn = false } = described.description ?? {};
  const known = await knowKind(node);
  const { auth } = known?.kind ?? {};
  const diagnostics = [
    ...await lintForward(config),
    // Without a description, `lintNames` would report every operation name as unknown.
    ...described.description ? lintNames(operations, forward, known?.kind) : [],
    ...isBuiltIn ? [] : lintParameters(operations, forward).slice(0, NAMES_MAX),
    ...lintUnsent(operations, forward),
    ...nodeSettings.auth && auth?.reads === "none" ? [READS_WITHOUT_AUTH] : [],
  ];
  const messagesOf = (of: ForwardDiagnostic["level"]) =>
    diagnostics.filter(({ level }) => level === of).map(({ message }) => message);
  const lines = diagnostics.map(({ level, message }) =>
    `${level === "error" ? "error" : "note "} ${message}\n`
  );
  const root = forward.at_root ? { isBuiltIn, rpcPath: await node.rpcPath() } : undefined;
  const rights = rightsIn(operations, forward);
  const rows = decide(operations, forward).map(({ operation, permission, reason }) => ({
    operation: operation.name,
    mark: operation.access ?? "-",
    call: CALL_WORDS[permission],
    address: permission === "refused" ? "-" : shownPath(operation, root),
    why: reason,
  }));
  const table = rows.length === 0
    ? `Nothing can be called: ${whyNothing(config, described, node.kind)}\n`
    : formatTable([
      Object.keys(rows[0]!).map((key) => key.toUpperCase()),
      ...rows.map((row) => Object.values(row)),
    ]) + hintElsewhere(described);
  return [{
    title: "Calls",
    text: [...lines, table, hint(operations)].join(""),
    troubles: messagesOf("error"),
    notes: [...messagesOf("warn"), hintElsewhere(described).trimEnd()].filter(Boolean),
    data: { calls: rows, clients: rights.map(dataOf) },
  }, ...describeClients(rights)];
}

const dataOf = ({ name, operations }: ClientRights) => ({
  name,
  operations: operations.map(({ name }) => name),
  writes_and_secrets: operations.filter(isClosed).map(({ name }) => name),
});

/** Names first what changes something or reveals private data. */
function describeClients(clients: readonly ClientRights[]): ReportSection[] {
  if (clients.length === 0) return [];
  const lines = clients.map(({ name, operations }) => {
    const named = [
      ...operations.filter(isClosed).map((one) => `${one.name} (${one.access})`),
      ...operations.filter((one) => !isClosed(one)).map(({ name }) => name),
    ];
    const more = named.length - NAMES_MAX;
    if (more > 0) named.splice(NAMES_MAX, more, `${more} more`);
    return printable(`${name} may call ${["what everybody may", ...named].join(", ")}`) + "\n";
  });
  return [{ title: "Clients", text: lines.join("") }];
}

/**
 * Returns the path at which clients call an operation.
 *
 * @param root `undefined` if the service does not have the node's own paths
 */
function shownPath(
  { isMethod, path }: NodeOperation,
  root?: { readonly isBuiltIn: boolean; readonly rpcPath: string },
): string {
  if (isMethod) return root ? root.rpcPath || "/" : "/v1/rpc";
  return root && !isReserved(path, root.isBuiltIn) ? path : `/v1/node${path}`;
}

const READS_WITHOUT_AUTH: ForwardDiagnostic = {
  level: "warn",
  message:
    "read operations are called without node.auth, so that responses contain no private data",
};

function whyNothing(
  { description }: Config,
  described: Described,
  kind: string | undefined,
): string {
  if (!described.description) {
    if (description === "none") return 'description is "none"; unset it, or name a description';
    if (description !== undefined) return "the description cannot be shown; see above";
    return kind === undefined
      ? 'the node\'s kind is unknown (see "Kind"); to list calls nevertheless, set ' +
        "node.kind or description"
      : "the node has no description; set node.kind or description";
  }
  const { elsewhere } = described.description;
  if (elsewhere.length === 0) return "the description has no operations";
  const list = elsewhere.map((url) => `\n  ${printable(url)}`).join("");
  return `the description names servers other than the node:${list}\n` +
    "These servers belong to single paths or operations. Remove them there, or " +
    "replace them with:\n  servers: [{ url: / }]";
}

function hintElsewhere({ description }: Described): string {
  const { elsewhere = [] } = description ?? {};
  return elsewhere.length === 0
    ? ""
    : printable(`Other operations are not forwarded: their servers are ${elsewhere.join(", ")}`) +
      "\n";
}

function hint(operations: readonly NodeOperation[]): string {
  const unmarked = operations.filter((one) => !one.access && canBeOpened(one));
  if (unmarked.length === 0) return "";
  const reads = unmarked.filter(({ method }) => method === "GET");
  const intro = `${unmarked.length} operations have no access mark.`;
  // Without any mark, nobody has read the description to tell reads from secrets.
  if (operations.every(({ access }) => !access)) {
    return `${intro} Before you allow one, read what it returns and what it changes: even a GET ` +
      `may reveal keys. Then put it under forward.open if everybody may call it, or else under ` +
      `forward.clients\n`;
  }
  if (reads.length === 0) {
    return `${intro} Put read-only ones under forward.open, and the others under forward.clients\n`;
  }
  const names = reads.slice(0, NAMES_MAX).map(({ name }) => `      - ${quote(name)}\n`);
  const more = reads.length - NAMES_MAX;
  if (more > 0) names.push(`      # and ${more} more GET operations\n`);
  return `${intro} To allow some, copy these lines, but delete the operations that change ` +
    `something or reveal secrets:\n` +
    `  forward:\n    open:\n      - reads\n${names.join("")}`;
}

function canBeOpened(operation: NodeOperation): boolean {
  const open = { reads: false, names: [operation.name] };
  const [entry] = decide([operation], { open, clients: [] });
  return entry!.permission === "open";
}
