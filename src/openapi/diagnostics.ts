/**
 * What is wrong with a description, and where.
 *
 * @module
 */

/** One thing that is wrong with a description. */
export interface Finding {
  /** The file as the description names it: never a path of this machine. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** What is wrong and what would be right, without a period. */
  readonly message: string;
  /** Whether the document cannot be shown because of it. */
  readonly isFatal: boolean;
  /** An error is what users run into, a note is worth knowing. */
  readonly level: "error" | "note";
}

/** What is wrong at an offset of one file. */
export interface Problem {
  readonly offset: number;
  readonly message: string;
  readonly isFatal: boolean;
  /** Whether users run into it, be the document shown or not. @default isFatal */
  readonly isError?: boolean | undefined;
}

/** A finding as one line: `openapi.yaml:12:5 the reference leads nowhere`. */
export function formatFinding({ file, line, column, message }: Finding): string {
  return `${file}:${line}:${column} ${message}`;
}

/**
 * Gives problems of one file their lines and columns.
 *
 * @param file what the file is called
 * @param text what is in it
 * @param problems in any order
 * @returns the findings in the order of the text
 */
export function findingsOf(file: string, text: string, problems: readonly Problem[]): Finding[] {
  let line = 1, start = 0;
  return [...problems].sort((a, b) => a.offset - b.offset).map((problem) => {
    const { offset, message, isFatal, isError = isFatal } = problem;
    for (let end = text.indexOf("\n", start); end !== -1 && end < offset;) {
      line++;
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    const level = isError ? "error" : "note";
    return { file, line, column: offset - start + 1, message, isFatal, level };
  });
}
