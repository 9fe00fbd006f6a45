/**
 * Shows values in messages.
 *
 * @module
 */
import { quote, shorten } from "../untrusted-text.ts";

/** Texts are shown as far as this. */
const SHOWN_MAX = 60;

/** A value in a message: a short text or number as it is written, of others what they are. */
export function show(value: unknown): string {
  if (typeof value === "string") return quote(shorten(value, SHOWN_MAX));
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date";
  if (value instanceof URL) return "a URL object";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    return tag === "Object" ? "an object" : `an object of the class ${tag}`;
  }
  return typeof value === "symbol" ? "a symbol" : String(value);
}
