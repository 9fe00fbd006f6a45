/**
 * Readers of a file besides those who are meant to be. Like `platform.ts` it goes out of web standards, and imports
 * modules of `node:` on demand.
 *
 * @module
 */
import { fileUrl } from "./platform.ts";

/** Permissions to read, of the group and of everybody else. */
const GROUP = 0o040, OTHERS = 0o004;

export interface Readers {
  readonly who: "every user of this machine" | "its group";
  /** The permissions as `chmod` takes them: `0644`. */
  readonly mode: string;
}

/**
 * Finds who may read a file that is to be secret. A file of another user that the group may read is as it should be:
 * that is how a node shares its cookie, and systemd a credential.
 *
 * @param path as for `readFile`
 * @returns `undefined` where nobody else may, or where it cannot be known, as on Windows
 */
export async function findReaders(path: string): Promise<Readers | undefined> {
  try {
    const { process } = globalThis;
    if (process.platform === "win32") return undefined;
    const { stat } = await import("node:fs/promises");
    const { mode, uid } = await stat(await fileUrl(path));
    const who = mode & OTHERS
      ? "every user of this machine"
      : mode & GROUP && uid === ownUser()
      ? "its group"
      : undefined;
    return who && { who, mode: (mode & 0o7777).toString(8).padStart(4, "0") };
  } catch {
    // What cannot be read is said elsewhere.
    return undefined;
  }
}

function ownUser(): number | undefined {
  try {
    return globalThis.process.getuid?.();
  } catch {
    // Deno may not be allowed to say.
    return undefined;
  }
}

/** Writes a warning about a file with a secret that others may read; `name` is the setting that names it. */
export async function warnOfReaders(name: string, path: string): Promise<string | undefined> {
  const readers = await findReaders(path);
  if (!readers) return undefined;
  const { who, mode } = readers;
  return `${name} ${path} can be read by ${who} (mode ${mode}); chmod 600 keeps it secret`;
}
