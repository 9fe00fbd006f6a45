/**
 * Finds the operations that a node might run in place of the one that a path is meant for. A path
 * is forwarded only if nobody gets by it what the rights to its operation do not include, however
 * the node reads the path:
 *
 * | a node that                                      | might run an operation, which matters if |
 * | ------------------------------------------------ | ---------------------------------------- |
 * | prefers the more specific template               | it has the same method                   |
 * | takes the template that it knows first           | it is handled in another way             |
 * | ignores case, encoding, or a slash at the end    | it is handled in another way             |
 * | takes the end of a path, as `.json`, as a format | it is handled in another way             |
 * | takes an encoded slash for a slash               | it is guarded more                       |
 * | also ignores the method                          | its permission is stricter               |
 *
 * @module
 */
import type { PathEntry } from "./path-entry.ts";
import type { PolicyEntry } from "./policy.ts";

/**
 * Finds what a node may run in place of `own`, in order: operations with its method (`same`), and
 * those that a node which ignores the method may run, since none at their path has it.
 */
export function runnableAmong<T extends Pick<PathEntry, "entry">>(
  others: readonly T[],
  own: PolicyEntry,
  pathOf: (other: T) => string,
): { readonly same: readonly T[]; readonly all: readonly T[] } {
  const hasMethod = ({ entry }: T) => entry.operation.method === own.operation.method;
  const same = others.filter(hasMethod);
  const paths = new Set(same.map(pathOf));
  return { same, all: others.filter((one) => hasMethod(one) || !paths.has(pathOf(one))) };
}

/** Tells whether it matters that the node runs `rival` in place of `own`. */
export type Differs = (own: PolicyEntry, rival: PolicyEntry) => boolean;

/** An operation with the same method always counts. */
export const ALWAYS: Differs = () => true;

const STRICTNESS = { open: 0, token: 1, refused: 2 } as const;

/**
 * Tells whether the node might run another operation instead of `own`, because the path template of
 * that one is more specific. An operation with another method counts if its permission is stricter.
 * One with the same method also counts if `differs` says so.
 *
 * @param candidates the operations that take the path, the most specific ones first
 */
export function hasRival(
  own: PathEntry,
  candidates: readonly PathEntry[],
  differs: Differs,
): boolean {
  const at = candidates.findIndex(({ rank }) => rank === own.rank);
  // If `own` does not take this spelling of the path, whoever does is a rival.
  const moreSpecific = at < 0 ? candidates : candidates.slice(0, at);
  // Of `/books/{id}` and `/{entity}/me`, some nodes take the one that they know first.
  const elsewhere = at < 0
    ? []
    : candidates.slice(at + 1).filter((one) => isLiteralElsewhere(one, own));
  return includesRival(own, moreSpecific, differs) ||
    includesRival(own, elsewhere, isHandledOtherwise);
}

function includesRival(own: PathEntry, others: readonly PathEntry[], differs: Differs): boolean {
  const { same, all } = runnableAmong(others, own.entry, ({ rank }) => rank);
  const isStricter = ({ entry: { permission } }: PathEntry) =>
    STRICTNESS[permission] > STRICTNESS[own.entry.permission];
  return all.some(isStricter) || same.some((one) => differs(own.entry, one.entry));
}

/** Tells whether an operation has a literal where `own` has a parameter. */
function isLiteralElsewhere({ template }: PathEntry, own: PathEntry): boolean {
  if (template.spanning + own.template.spanning > 0) return false;
  const segments = template.source.split("/");
  return own.template.source.split("/").some((segment, at) =>
    segment.includes("{}") && segments[at]?.includes("{}") === false
  );
}

/** Tells whether not everybody who may call `own` may call `rival` in the same way. */
export const isGuardedMore: Differs = (own, rival) =>
  rival.operation.isChecked ||
  (rival.permission !== "open" && own.clients.some((name) => !rival.clients.includes(name)));

/** Tells whether the rights to call `own` do not include those to call `rival`. */
export const needsMoreRights: Differs = (
  { operation: own },
  { operation: { access, isChecked } },
) =>
  (isChecked && !own.isChecked) ||
  (access !== "read" && (access !== undefined || own.access !== undefined));

/** Tells whether a call of `rival` is also handled differently. */
export const isHandledOtherwise: Differs = (own, rival) =>
  isGuardedMore(own, rival) || rival.operation.access !== own.operation.access ||
  (["isHeavy", "isStreaming", "isLongPoll"] as const)
    .some((mark) => rival.operation[mark] && !own.operation[mark]);
