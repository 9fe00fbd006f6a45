/**
 * Refuses responses that contain the secret that was sent to the node: some nodes repeat a request,
 * or show their settings.
 *
 * @module
 */
import { type Bytes, joinBytes } from "../bytes.ts";
import { SourceError } from "./failures.ts";
import type { NodeResponse } from "./http1.ts";

/**
 * A response may contain a shorter text by chance. NIST SP 800-63B (section 5.1.1.1) demands at
 * least this length of a password.
 */
export const SECRET_LENGTH_MIN = 8;

/** How servers write a text into JSON, a URL or HTML. */
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll(/["\\]/g, "\\$&"),
  // PHP
  (text) => text.replaceAll(/["\\/]/g, "\\$&"),
  // Go
  (text) => asUnicode(text.replaceAll(/["\\]/g, "\\$&"), /[<>&]/g),
  // Gson
  (text) => asUnicode(text.replaceAll(/["\\]/g, "\\$&"), /[<>&'=]/g),
  // System.Text.Json
  (text) => asUnicode(text.replaceAll("\\", "\\\\"), /[<>&'"+`]/g, true),
  (text) => encodeURIComponent(text),
  (text) => text.replaceAll(/[<>&"']/g, (one) => HTML[one]!),
];

const HTML: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&#39;",
};

const asUnicode = (text: string, characters: RegExp, isUpperCase = false) =>
  text.replaceAll(characters, (one) => {
    const code = one.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpperCase ? code.toUpperCase() : code}`;
  });

const WINDOW_MAX = 255;
const encoder = new TextEncoder();

/** Searches for several texts at once as Boyer, Moore and Horspool do: most bytes are skipped. */
export class SecretSearch {
  readonly #forms: readonly Bytes[];
  /** The length of the beginning of each form that moves over the response. */
  readonly #window: number;
  /** For each byte, how far the window can move on if it ends with the byte. */
  readonly #skips: Uint8Array;
  /** For each byte, 1 if the window of a form ends with the byte. */
  readonly #ends = new Uint8Array(256);

  /** @param secrets printable ASCII */
  constructor(secrets: readonly string[]) {
    const long = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN);
    const texts = long.flatMap((secret) => ENCODINGS.map((encode) => encode(secret)));
    this.#forms = [...new Set(texts)].map((text) => encoder.encode(text));
    this.#window = Math.min(WINDOW_MAX, ...this.#forms.map(({ length }) => length));
    const last = this.#window - 1;
    this.#skips = new Uint8Array(256).fill(this.#window);
    for (const form of this.#forms) {
      this.#ends[form[last]!] = 1;
      for (let at = 0; at < last; at++) {
        this.#skips[form[at]!] = Math.min(this.#skips[form[at]!]!, last - at);
      }
    }
  }

  isIn(bytes: Bytes): boolean {
    if (this.#forms.length === 0) return false;
    const [skips, ends] = [this.#skips, this.#ends];
    const last = this.#window - 1;
    for (let end = last; end < bytes.length; end += skips[bytes[end]!]!) {
      if (ends[bytes[end]!] === 1 && this.#isAt(bytes, end - last)) return true;
    }
    return false;
  }

  #isAt(bytes: Bytes, start: number): boolean {
    for (const form of this.#forms) {
      if (start + form.length <= bytes.length && isSame(form, bytes, start)) return true;
    }
    return false;
  }

  /** Returns the position from which all remaining bytes may begin a secret, or else the length. */
  cut(bytes: Bytes): number {
    let cut = bytes.length;
    for (const form of this.#forms) {
      let at = bytes.indexOf(form[0]!, Math.max(0, bytes.length - form.length + 1));
      while (at >= 0 && at < cut && !isSame(form, bytes, at)) at = bytes.indexOf(form[0]!, at + 1);
      if (at >= 0 && at < cut) cut = at;
    }
    return cut;
  }
}

/** Compares up to the end of the shorter array. */
function isSame(form: Bytes, bytes: Bytes, start: number): boolean {
  const length = Math.min(form.length, bytes.length - start);
  for (let at = 0; at < length; at++) if (bytes[start + at] !== form[at]) return false;
  return true;
}

const NOTHING: Bytes = new Uint8Array();

/**
 * Returns the response with a `next` that rejects with a `SourceError` before it returns any byte
 * of a secret, even if the secret arrives in several parts.
 *
 * @throws {SourceError} if a header contains a secret
 */
export function withoutSecrets(response: NodeResponse, secrets: SecretSearch): NodeResponse {
  const refuse = () => {
    response.cancel();
    throw new SourceError("bad_answer", "sent a response that contains the service's credentials", {
      hint: "the node repeats requests or shows its settings; turn that off, or change node.auth",
    });
  };
  if (secrets.isIn(encoder.encode([...response.headers.values()].join("\n")))) refuse();
  /** The end of the previous part, if it may be the beginning of a secret. */
  let held = NOTHING;
  const next = async (): Promise<Bytes | undefined> => {
    for (;;) {
      const part = await response.next();
      if (!part) {
        const rest = held;
        held = NOTHING;
        return rest.length > 0 ? rest : undefined;
      }
      const bytes = held.length > 0 ? joinBytes([held, part]) : part;
      if (secrets.isIn(bytes)) refuse();
      const cut = secrets.cut(bytes);
      if (cut === bytes.length) {
        held = NOTHING;
        return bytes;
      }
      held = bytes.subarray(cut);
      if (cut > 0) return bytes.subarray(0, cut);
    }
  };
  return { ...response, next };
}
