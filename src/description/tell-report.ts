/**
 * Tells an operator what came of reading a description.
 *
 * @module
 */
import type { Log } from "../log.ts";
import { type Diagnostic, forLog, formatDiagnostic } from "../openapi/diagnostics.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";

/** What has become of a description that was read. */
export interface DescriptionReport {
  readonly diagnostics: readonly Diagnostic[];
  /** What is shown: the description, an older version of it, or this service's own alone. */
  readonly shown: "current" | "older" | "own";
  /** What is called at the node, where calls are forwarded and the description was read. */
  readonly operations?: readonly NodeOperation[] | undefined;
}

/** Tells what is wrong with a description, and what is shown in its place. */
export function tellReport({ diagnostics, shown }: DescriptionReport, log: Log): void {
  const code = "description";
  const { logged, more } = forLog(diagnostics);
  for (const finding of logged) {
    const level = finding.level === "error" ? "error" : "warn";
    log(formatDiagnostic(finding), { code, level, finding });
  }
  if (more > 0) {
    const what = `and ${more} more in the description; nodeface check shows all`;
    log(what, { code, level: "warn" });
  }
  const message = shown === "older"
    ? "the version of the description before is still shown"
    : "the node's description cannot be shown";
  if (shown !== "current") log(message, { code, level: "warn" });
}
