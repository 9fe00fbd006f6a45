/**
 * Detects the kind of a node. Requests the evidence for all known kinds at the same time.
 *
 * @module
 */
import type { LightSignal } from "../abort-signal.ts";
import { formatJson } from "../json/lossless.ts";
import type { Kind, Kinds } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import { isBusy, mainFailure, SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { excerpt } from "../untrusted-text.ts";
import { isWarmingUpError } from "./evidence.ts";
import { match } from "./fields.ts";
import { parseReference, type PlannedSource } from "./query-plan.ts";
import { querySources, settle } from "./sources.ts";
import { type NodeStatus, REMEDIES, statusOfError } from "./status.ts";

/** The shortest timeout of a detection request, in milliseconds. */
const TIMEOUT_MS = 3000;

export type Detection =
  | {
    readonly kind: string;
    readonly because: string;
    readonly status?: undefined;
    readonly isBusy?: undefined;
  }
  | {
    readonly kind?: undefined;
    readonly status: NodeStatus;
    /** True if the node has too much to do. */
    readonly isBusy?: boolean;
  };

interface Match {
  readonly name: string;
  readonly because: string;
}

interface Mismatch {
  readonly name: string;
  readonly errors: readonly SourceError[];
}

/** Does not set the kind of `node`. */
export async function detectKind(node: Node, signal: LightSignal): Promise<Detection> {
  const kinds = await node.kinds.get();
  const trials = await Promise.all(
    Object.entries(kinds).map(([name, kind]) => tryKind(node, name, kind, "none", signal)),
  );
  const found = withoutGeneral(trials.filter((trial) => "because" in trial), kinds);
  if (found.length > 1) return { status: statusOfSeveral(found) };
  const [only] = found;
  if (only) return { kind: only.name, because: only.because };
  const failed = trials.filter((trial) => "errors" in trial);
  const errors = failed.flatMap(({ errors }) => errors);
  const [named, another] = new Set(errors.flatMap(({ looksLike }) => looksLike ?? []));
  if (named !== undefined && another === undefined && !signal.aborted) {
    return await tryWithSecrets(node, named, kinds, signal);
  }
  return {
    status: statusOfUnknown(kinds, failed),
    // A single 503 may be that of a proxy before a node that is away.
    isBusy: errors.some(({ number }) => number === 429) ||
      failed.every(({ errors }) =>
        errors.some(({ code, number }) => code === "bad_answer" && isBusy(number))
      ),
  };
}

/** @param filesOf the kind whose default secret files may be tried */
async function tryKind(
  node: Node,
  name: string,
  kind: Kind,
  filesOf: string,
  signal: LightSignal,
): Promise<Match | Mismatch> {
  const questions = detectionSources(kind, Math.max(TIMEOUT_MS, node.timeout));
  const outcomes = await settle(querySources(node, questions, { signal, filesOf }));
  const evidence: string[] = [];
  for (const [reference, pattern] of Object.entries(kind.detect)) {
    const [source, pointer] = parseReference(reference as Reference);
    const outcome = outcomes.get(source);
    const value = outcome && "values" in outcome ? outcome.values.get(pointer) : undefined;
    if (match(value, pattern) === undefined) {
      const failed = [...outcomes.values()].filter((outcome) => "error" in outcome);
      return { name, errors: failed.map(({ error }) => error) };
    }
    evidence.push(`${reference} is ${excerpt(formatJson(value))}`);
  }
  return { name, because: evidence.join(", ") };
}

/**
 * Tries a kind with the secrets in its default files, which no other step of the detection sends.
 * The kind and its extensions are tried one at a time, since concurrent requests would use up
 * nonces (RFC 7616).
 */
async function tryWithSecrets(
  node: Node,
  name: string,
  kinds: Kinds,
  signal: LightSignal,
): Promise<Detection> {
  const extensions = Object.keys(kinds).filter((other) => extendsKind(kinds, other, name));
  let failed: readonly Mismatch[] = [];
  for (const one of [...extensions, name]) {
    const trial = await tryKind(node, one, kinds[one]!, one, signal);
    if ("because" in trial) return { kind: one, because: trial.because };
    failed = [trial];
  }
  return { status: statusOfUnknown(kinds, failed) };
}

const extendsKind = (kinds: Kinds, name: string, base: string): boolean =>
  name !== base && kinds[name]!.extends === base;

/** Of a kind and its extension, keeps the extension, and of two others the one that precedes. */
function withoutGeneral(found: readonly Match[], kinds: Kinds): readonly Match[] {
  const comesBefore = (name: string, other: string) =>
    extendsKind(kinds, name, other) || kinds[name]!.precedes?.includes(other);
  return found.filter(({ name: other }) => !found.some(({ name }) => comesBefore(name, other)));
}

function statusOfSeveral(found: readonly Match[]): NodeStatus {
  const reasons = found.map(({ name, because }) => `${name} (${because})`);
  const hint = `set node.kind; it may be ${reasons.join(" or ")}`;
  const reason = `may be ${found.map(({ name }) => name).join(" or ")}`;
  return { status: "degraded", code: "unknown_kind", reason, hint };
}

function statusOfUnknown(
  kinds: Kinds,
  trials: readonly Mismatch[],
): NodeStatus {
  const errors = trials.flatMap((trial) => trial.errors);
  const warming = trials.filter(({ name, errors }) =>
    errors.some((error) => isWarmingUpError(error, kinds[name]!.health))
  );
  if (warming.length > 0) {
    const names = warming.map(({ name }) => name).join(" or ");
    const reason = `is warming up, and responds like ${names}`;
    return { status: "starting", code: "warming_up", reason };
  }
  const hasResponded = trials.some(({ errors }) => errors.length === 0) ||
    errors.some(({ isResponse }) => isResponse);
  if (!hasResponded && errors.length > 0) return statusOfError(mainFailure(errors), "unreachable");
  const refusals = errors.filter(({ code, isResponse }) =>
    isResponse && code !== "bad_answer" && code !== "wrong_kind"
  );
  if (refusals.length > 0) return statusOfError(mainFailure(refusals));
  const common = errors.find(({ message, isAbsent }) =>
    !isAbsent && trials.every(({ errors }) => errors.some((error) => error.message === message))
  );
  if (common && !common.isOtherKind) {
    // What has no HTTP status comes from another program than the node, or from another port.
    const hint = common.number === undefined ? REMEDIES.unknown_kind : undefined;
    return { ...statusOfError(common), hint: common.hint ?? hint };
  }
  const reason = common?.message ?? "responds, but is not a kind of node that Nodeface knows";
  const details = { hint: REMEDIES.unknown_kind, isQuoting: common?.isQuoting ?? false };
  return statusOfError(new SourceError("unknown_kind", reason, details));
}

function detectionSources({ detect, sources }: Kind, timeout: number): Map<string, PlannedSource> {
  const questions = new Map<string, PlannedSource>();
  for (const reference of Object.keys(detect)) {
    const [name, pointer] = parseReference(reference as Reference);
    const pointers = [...questions.get(name)?.pointers ?? [], pointer];
    const source = { ...sources[name]!, optional: false };
    questions.set(name, { source, pointers, ttl: 0, timeout, role: "required" });
  }
  return questions;
}
