/**
 * What is different where a person reads along: colours, and lines that change.
 *
 * @module
 */
import type { Environment } from "./arguments-and-environment.ts";

/** What an output is good for. */
export interface Terminal {
  /** Whether a line may be changed after it was written. */
  readonly isTerminal: boolean;
  readonly hasColors: boolean;
}

/** The descriptors of the outputs. */
const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/**
 * Looks at an output. `NO_COLOR` with any text takes the colours away (no-color.org).
 *
 * @param env the environment
 */
export async function lookAtTerminal(
  name: keyof typeof DESCRIPTORS,
  env: Environment,
): Promise<Terminal> {
  const { isatty } = await import("node:tty");
  const isTerminal = isatty(DESCRIPTORS[name]) && env.TERM !== "dumb";
  return { isTerminal, hasColors: isTerminal && !env.NO_COLOR };
}

const BOLD = 1, RED = 31, GREEN = 32, YELLOW = 33;

/** What is coloured in a report, at the start of a line (ECMA-48, SGR). */
const COLORS: readonly (readonly [pattern: RegExp, color: number])[] = [
  [/^# .+$/gm, BOLD],
  [/^(?:error\b|- .+$)/gm, RED],
  [/^note\b/gm, YELLOW],
  [/^All is well$/gm, GREEN],
];

/** Colours a report. */
export function color(report: string): string {
  return COLORS.reduce(
    (text, [pattern, color]) => text.replaceAll(pattern, `\x1b[${color}m$&\x1b[0m`),
    report,
  );
}
