/**
 * JSON Pointer (RFC 6901): paths through a JSON value as text, such as `/paths/~1pets/get`.
 *
 * @module
 */
import type { Path } from "./values.ts";

/**
 * Reads a pointer.
 *
 * @param pointer such as `/a/0/b~1c`; the empty one means the whole value
 * @returns the keys and indices; `undefined` where it is no pointer (RFC 6901, section 3)
 */
export function parsePointer(pointer: string): Path | undefined {
  if ((pointer !== "" && !pointer.startsWith("/")) || /~(?![01])/.test(pointer)) return undefined;
  return pointer.split("/").slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes the keys and indices that lead to a value as a pointer. */
export function formatPointer(path: Path): string {
  return path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The value at the end of a path; `undefined` where there is none (RFC 6901, section 4). */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    if (!Object.hasOwn(current, key)) return undefined;
    // A list has members that are no items, such as `length`.
    if (Array.isArray(current) && !/^\d+$/.test(key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** The value that a pointer leads to; `undefined` where there is none, or where it is no pointer. */
export function resolvePointer(value: unknown, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path && valueAt(value, path);
}

/**
 * The value that the fragment of a URI leads to (RFC 6901, section 6).
 *
 * @param fragment a pointer, percent-encoded, without the `#`
 * @returns `undefined` where there is no value, or where it is no pointer
 */
export function resolveFragment(value: unknown, fragment: string): unknown {
  // Each token is decoded by itself: some tools write `%2F`, not `~1`, for a slash within a key.
  const tokens = fragment.split("/").map((token) => decodePercent(token).replaceAll("/", "~1"));
  return resolvePointer(value, tokens.join("/"));
}

/** Percent-decodes a text as UTF-8; gives it as it is where that is not possible. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
