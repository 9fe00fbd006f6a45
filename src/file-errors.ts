/**
 * Why a file cannot be read, in words.
 *
 * @module
 */

/** By the code of the system's error. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder",
};

/**
 * The reason of a failure to read a file, as the end of a sentence.
 *
 * @param error what the file system threw
 * @returns words for what is common, else the error's code; `undefined` where it has none
 */
export function reasonOfFileError(error: unknown): string | undefined {
  const { code } = error as { code?: string };
  return code && (REASONS[code] ?? code);
}
