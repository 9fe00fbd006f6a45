/**
 * Reports a description that has been read: to the log, and to the program that serves it.
 *
 * @module
 */
import type { Log } from "../log.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Diagnostic, forLog, formatDiagnostic } from "../openapi/diagnostics.ts";

export interface DescriptionReport {
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The description that is shown: the node's current or previous description, or only the
   * service's own.
   */
  readonly shown: "current" | "older" | "own";
  /**
   * The operations that can be called at the node; `undefined` if the description cannot be shown.
   */
  readonly operations?: readonly NodeOperation[] | undefined;
}

export function logReport({ diagnostics, shown }: DescriptionReport, log: Log): void {
  const code = "description";
  const { logged, more } = forLog(diagnostics);
  for (const finding of logged) {
    const level = finding.level === "error" ? "error" : "warn";
    log(formatDiagnostic(finding), { code, level, finding });
  }
  const warn = (message: string) => log(message, { code, level: "warn" });
  if (more > 0) warn(`and ${more} more diagnostics of the description; nodeface check shows all`);
  if (shown === "older") warn("the previous version of the description is still shown");
  if (shown === "own") warn("the node's description cannot be shown");
}
