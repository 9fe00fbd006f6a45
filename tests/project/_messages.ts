/** The texts in the source that are said to somebody. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";

/**
 * The texts of some files that read like a message: two words or more. Of a template, each part between two
 * values is one.
 *
 * @param paths files, and folders with all that is below them, from the root
 * @returns the texts, by the file that has them
 */
export function textsOf(paths: readonly string[]): Map<string, string[]> {
  const files = paths.flatMap((path) =>
    path.endsWith(".ts")
      ? [path]
      : readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => `${path}/${name}`)
  );
  return new Map(
    files.map((file) => {
      const literals = literalsOf(readFileSync(join(ROOT, file), "utf8"));
      return [file, [...new Set(literals.map(trim).filter(isMessage))]];
    }),
  );
}

const trim = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** Words and what stands between them; an import, a selector or a line of code is none. */
const isMessage = (text: string) => /[a-z]{2,},? [a-z]{2,}|[a-z]{3,}, [a-z]/i.test(text);

/** The literals of a program, in the order of the file; a template gives each of its parts. */
export function literalsOf(code: string): string[] {
  const found: string[] = [];
  let at = 0;

  /** Reads on from `at` to a closing brace that nothing here has opened, or to the end. */
  const readCode = (): void => {
    let open = 0;
    let before = "";
    while (at < code.length) {
      const [token] = TOKEN.exec(code.slice(at))!;
      if (token === "`") {
        at++;
        readTemplate();
        before = "`";
        continue;
      }
      if (token === "/" && /^$|[(,=:[!&|?{};+>]$|\breturn$/.test(before)) {
        at += REGULAR_EXPRESSION.exec(code.slice(at))![0].length;
        before = "/";
        continue;
      }
      if (token === "}" && open-- === 0) return;
      if (token === "{") open++;
      if (/^["']/.test(token)) found.push(unescape(token.slice(1, -1)));
      at += token.length;
      if (!/^(\s|\/[/*])/.test(token)) before = token;
    }
  };

  /** Reads on from behind the first backtick of a template to behind the last. */
  const readTemplate = (): void => {
    while (at < code.length) {
      const [part] = /^(?:[^`\\$]|\\[^]|\$(?!\{))*/.exec(code.slice(at))!;
      found.push(unescape(part));
      at += part.length;
      const isEnd = code[at] === "`";
      at += isEnd ? 1 : 2;
      if (isEnd) return;
      readCode();
      at++;
    }
  };

  readCode();
  return found;
}

const TOKEN = /^(?:\s+|\/\*[^]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$]+|[^])/;
const REGULAR_EXPRESSION = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/;

const unescape = (text: string) => text.replaceAll(/\\(.)/g, (_, of) => of === "n" ? "\n" : of);
