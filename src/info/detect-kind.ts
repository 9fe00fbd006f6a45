/**
 * Detects the kind of a node: every kind's question is asked, side by side.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import type { Kind, Reference } from "../kinds/kind.ts";
import { createCredentials } from "../node/credentials.ts";
import { SourceError } from "../node/failures.ts";
import type { Client } from "../node/client.ts";
import type { SecretPlace } from "../node/secrets.ts";
import { excerpt } from "../untrusted-text.ts";
import { type NodeStatus, statusOfError, statusOfSilence, worst } from "./status.ts";
import { match } from "./fields.ts";
import { parseReference, type PlannedSource } from "./query-plan.ts";
import { createQuery, settle } from "./sources.ts";

/** All questions together take no longer than this, in milliseconds. */
const TIMEOUT = 3000;

interface DetectOptions {
  readonly url: string;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly auth: SecretPlace | undefined;
  readonly client: Client;
  readonly signal: AbortSignal;
}

export type Detection =
  | { readonly kind: string; readonly because: string }
  | { readonly kind?: undefined; readonly status: NodeStatus };

type Trial =
  | { readonly name: string; readonly because: string }
  | { readonly name: string; readonly errors: readonly SourceError[] };

export async function detectKind(options: DetectOptions): Promise<Detection> {
  const { url, kinds, auth, client, signal } = options;

  const attempt = async (name: string, triesDefaults: boolean): Promise<Trial> => {
    const kind = kinds[name]!;
    const context = {
      url,
      client,
      credentials: createCredentials({
        ...{ nodeUrl: url, configured: auth, kind: name, kinds, triesDefaults },
      }),
    };
    const outcomes = await settle(createQuery(context)(questionsOf(kind), signal));
    const errors = [...outcomes.values()].flatMap((outcome) =>
      "error" in outcome ? [outcome.error] : []
    );
    const evidence: string[] = [];
    for (const [reference, pattern] of Object.entries(kind.detect)) {
      const [source, pointer] = parseReference(reference as Reference);
      const outcome = outcomes.get(source);
      const value = outcome && "taken" in outcome ? outcome.taken.get(pointer) : undefined;
      if (match(value, pattern) === undefined) return { name, errors };
      evidence.push(`${reference} is ${excerpt(formatJson(value))}`);
    }
    return { name, because: evidence.join(", ") };
  };

  const addsTo = (name: string, base: string) => name !== base && kinds[name]!.extends === base;
  const trials = await Promise.all(Object.keys(kinds).map((name) => attempt(name, false)));
  const all = trials.filter((trial) => "because" in trial);
  // A node of a kind that adds to another is of both.
  const found = all.filter(({ name: base }) => !all.some(({ name }) => addsTo(name, base)));
  const named = found.length === 0 ? looksLike(trials) : undefined;
  if (named !== undefined && !signal.aborted) {
    // Only now is a secret of this machine offered. Alone, its requests do not use up each other's
    // nonces either (RFC 7616).
    const extensions = Object.keys(kinds).filter((name) => addsTo(name, named));
    for (const name of [...extensions, named]) {
      const trial = await attempt(name, true);
      if ("because" in trial) return { kind: name, because: trial.because };
      if (name === named) return { status: statusOfUnknown(kinds, [trial]) };
    }
  }
  if (found.length === 1) return { kind: found[0]!.name, because: found[0]!.because };
  if (found.length > 1) {
    const hint = `set node.kind; it may be ${
      found.map(({ name, because }) => `${name} (${because})`).join(" or ")
    }`;
    const reason = `may be ${found.map(({ name }) => name).join(" or ")}`;
    return { status: { status: "degraded", code: "unknown_kind", reason, hint } };
  }
  return { status: statusOfUnknown(kinds, trials.filter((trial) => "errors" in trial)) };
}

/** Finds the one kind that the node's refusals show; `undefined` if they show none, or several. */
function looksLike(trials: readonly Trial[]): string | undefined {
  const names = trials.flatMap((trial) => "errors" in trial ? trial.errors : [])
    .map((error) => error.looksLike).filter((name) => name !== undefined);
  return new Set(names).size === 1 ? names[0] : undefined;
}

function statusOfUnknown(
  kinds: Readonly<Record<string, Kind>>,
  trials: readonly { name: string; errors: readonly SourceError[] }[],
): NodeStatus {
  const errors = trials.flatMap((trial) => trial.errors);
  const warming = trials.filter(({ name, errors }) =>
    errors.some(({ number }) =>
      number !== undefined && kinds[name]!.health.warming_up?.includes(number)
    )
  );
  if (warming.length === 1) {
    const reason = `is warming up, as ${warming[0]!.name} does`;
    return { status: "starting", code: "warming_up", reason };
  }
  const answered = trials.some(({ errors }) => errors.length === 0) ||
    errors.some(({ isAnswer }) => isAnswer);
  if (!answered && errors.length > 0) return statusOfSilence("unreachable", worst(errors));
  const refused = errors.filter(({ code }) => code !== "bad_answer" && code !== "wrong_kind");
  const refusal = refused.filter(({ isAnswer }) => isAnswer);
  if (refusal.length > 0) return statusOfError(worst(refusal));
  // A node that speaks TLS says so whatever it is asked.
  const common = errors.length > 0 ? worst(errors) : undefined;
  const isSaidByAll = common && !common.isAbsent &&
    trials.every(({ errors }) => errors.some(({ message }) => message === common.message));
  if (isSaidByAll) return statusOfError(common);
  return statusOfError(
    new SourceError("unknown_kind", "responds, but is not a kind of node that Nodeface knows", {
      hint: "set node.kind, or node.kind to none and say in info what is asked",
    }),
  );
}

function questionsOf({ detect, sources }: Kind): Map<string, PlannedSource> {
  const questions = new Map<string, PlannedSource>();
  for (const reference of Object.keys(detect)) {
    const [name, pointer] = parseReference(reference as Reference);
    const pointers = [...questions.get(name)?.pointers ?? [], pointer];
    const source = { ...sources[name]!, optional: false };
    questions.set(name, { source, pointers, ttl: 0, timeout: TIMEOUT, role: "required" });
  }
  return questions;
}
