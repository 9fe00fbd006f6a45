/**
 * JSON Pointer (RFC 6901), such as `/paths/~1pets/get`.
 *
 * @module
 */
import { decodePercent } from "../percent-decode.ts";
import type { Path } from "./values.ts";

/** Parses a pointer; `undefined` if it is malformed (RFC 6901, section 3). */
export function parsePointer(pointer: string): Path | undefined {
  if ((pointer !== "" && !pointer.startsWith("/")) || /~(?![01])/.test(pointer)) return undefined;
  return pointer.split("/").slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes a path as a pointer. */
export function formatPointer(path: Path): string {
  return path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The value at a path; `undefined` if there is none (RFC 6901, section 4). */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    if (!Object.hasOwn(current, key)) return undefined;
    // `length` is a property of a list, not an item.
    if (Array.isArray(current) && !/^\d+$/.test(key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** The value at a pointer; `undefined` if there is none or the pointer is malformed. */
export function resolvePointer(value: unknown, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path && valueAt(value, path);
}

/**
 * Parses a pointer in a URI fragment (RFC 6901, section 6).
 *
 * @param fragment a percent-encoded pointer without the `#`
 * @returns `undefined` if it is malformed
 */
export function parseFragment(fragment: string): Path | undefined {
  // Decoding each token by itself accepts `%2F` for a slash in a key, which some tools write.
  const tokens = fragment.split("/").map((token) => decodePercent(token).replaceAll("/", "~1"));
  return parsePointer(tokens.join("/"));
}

/** The value at a pointer in a URI fragment; `undefined` if there is none or it is malformed. */
export function resolveFragment(value: unknown, fragment: string): unknown {
  const path = parseFragment(fragment);
  return path && valueAt(value, path);
}
