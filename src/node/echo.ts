/**
 * Refuses responses that contain the secret that was sent to the node: some nodes repeat a request,
 * or show their settings.
 *
 * @module
 */
import { type Bytes, joinBytes } from "../bytes.ts";
import { ENTITIES } from "../untrusted-text.ts";
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
  (text) => text.replaceAll(/[<>&"']/g, (one) => ENTITIES[one]!),
];

const asUnicode = (text: string, characters: RegExp, isUpperCase = false) =>
  text.replaceAll(characters, (one) => {
    const code = one.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpperCase ? code.toUpperCase() : code}`;
  });

/** Decodes each byte to a character, so that positions in the text are positions of bytes. */
const latin1 = new TextDecoder("latin1");

/** Searches for several texts, each in all forms that a server may write. */
export class SecretSearch {
  readonly #forms: readonly string[];

  /** @param secrets printable ASCII */
  constructor(secrets: readonly string[]) {
    const long = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN);
    const forms = long.flatMap((secret) => ENCODINGS.map((encode) => encode(secret)));
    this.#forms = [...new Set(forms)];
  }

  isIn(text: string): boolean {
    return this.#forms.some((form) => text.includes(form));
  }

  /** Returns the position from which the rest may begin a secret, or else the length. */
  cut(text: string): number {
    let cut = text.length;
    for (const form of this.#forms) {
      for (let at = Math.max(0, text.length - form.length + 1); at < cut; at++) {
        if (form.startsWith(text.slice(at))) cut = at;
      }
    }
    return cut;
  }
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
      hint: "the node repeats requests or shows its settings; turn that off, or change the secret",
    });
  };
  if (secrets.isIn([...response.headers.values()].join("\n"))) refuse();
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
      const text = latin1.decode(bytes);
      if (secrets.isIn(text)) refuse();
      const cut = secrets.cut(text);
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
