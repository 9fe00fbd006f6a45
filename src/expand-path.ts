/**
 * The names of folders that a path of the operator's may begin with: the home directory, or where systemd passes
 * credentials on.
 *
 * @module
 */

/** The variable that systemd sets for a unit with credentials (systemd.exec, section Credentials). */
export const CREDENTIALS_DIRECTORY = "CREDENTIALS_DIRECTORY";

const CREDENTIALS = /^\$(?:CREDENTIALS_DIRECTORY|\{CREDENTIALS_DIRECTORY\})(?=\/)/;
const HOME = /^~(?=\/)/;

/** Tells whether a path begins with one of them, so that it is relative to nothing else. */
export function isAnchored(path: string): boolean {
  return HOME.test(path) || CREDENTIALS.test(path);
}

/** Tells whether a path is that of a credential of systemd's. */
export function isCredential(path: string): boolean {
  return CREDENTIALS.test(path);
}

/**
 * The path with the folder in place of its name, as far as that is known.
 *
 * @param variable reads a variable of the environment
 */
export function expandPath(
  path: string,
  variable: (name: string) => string | undefined,
): string {
  const credentials = isCredential(path) ? variable(CREDENTIALS_DIRECTORY) : undefined;
  if (credentials) return path.replace(CREDENTIALS, () => credentials);
  const home = HOME.test(path) ? variable("HOME") ?? variable("USERPROFILE") : undefined;
  return home ? path.replace(HOME, () => home) : path;
}
