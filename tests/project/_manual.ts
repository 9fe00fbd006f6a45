/**
 * Follows a page of the manual in a temporary folder: writes its files, runs its commands, and
 * compares their output.
 *
 * - `yaml`, `json` and `caddyfile` blocks are written to a file if their first line is a comment
 *   with the file name, or if the name follows the language, as in ```` ```yaml openapi.yaml ````.
 * - `console` blocks show each command after a `$`, and the command's output on the next lines. In
 *   this output, … matches any text.
 * - `sh` blocks have only commands, each of which must succeed.
 *
 * A block is skipped if the paragraph before it contains "not run by the manual's tests".
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import * as assert from "uvu/assert";
import { COMMANDS, type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";

/** A page may wrap these words. */
export const NOT_TRIED = /not\s+run\s+by\s+the\s+manual's\s+tests/;

export interface Block {
  /** `""` if the fence names no language. */
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
  readonly isLeftOut: boolean;
}

/** Blocks within a Markdown list lose their indentation. */
export function blocksOf(page: string): Block[] {
  const found = page.matchAll(/^( *)```([a-z]*)(?: (\S+))?\n([^]*?)^\1```$/gm);
  return [...found].map(({ index, 1: indent = "", 2: language = "", 3: name, 4: content = "" }) => {
    const text = content.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const before = page.slice(0, index).trimEnd();
    return {
      language,
      text,
      file: name ?? /^(?:#|\/\/) (\S+\.\w+)(?:$|:)/m.exec(text.split("\n")[0]!)?.[1],
      isLeftOut: NOT_TRIED.test(before.slice(before.lastIndexOf("\n\n") + 1)),
    };
  });
}

/** `printed` is `undefined` if the page shows no output. */
export interface Command {
  readonly command: string;
  readonly printed: string | undefined;
}

export function commandsOf({ language, text }: Pick<Block, "language" | "text">): Command[] {
  const parts = language === "console" ? text.split(/^\$ /m).slice(1) : text.split(COMMAND_END);
  return parts.map((part) => {
    const [, command = "", printed = ""] = ONE_COMMAND.exec(part) ?? [];
    return {
      command: withoutComment(command.replaceAll(/\s*\\\n\s*/g, " ")).trim(),
      printed: language === "console" ? printed.trimEnd() : undefined,
    };
  }).filter(({ command }) => command !== "");
}

/** A command may continue on further lines after a backslash or within quotes. */
const ONE_COMMAND = /^((?:\\\n|[^'"\n]|'[^']*'|"[^"]*")*)(?:\n([^]*))?$/;
const COMMAND_END = /(?<!\\)\n(?=(?:[^'"]*(?:'[^']*'|"[^"]*"))*[^'"]*$)/;

/**
 * The `#` of a comment is outside quotes, and is either the first character or preceded by white
 * space.
 */
const withoutComment = (command: string) =>
  command.replace(/^((?:'[^']*'|"[^"]*"|[^'"#]|(?<=\S)#)*?)(?:(?<=\s|^)#.*)$/s, "$1");

export interface Surroundings {
  /**
   * Maps an address in the page, such as `127.0.0.1:8545`, to the address that the test uses
   * instead.
   */
  readonly places?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The keys are paths in the temporary folder, which is also the home directory. */
  readonly files?: Readonly<Record<string, string>>;
  /** The command `nodeface`, which runs in the temporary folder. @default on Node */
  readonly nodeface?: readonly string[];
  /** @default every block that the page does not exclude */
  readonly isFollowed?: (block: Block) => boolean;
  /** Not called for commands that start a service. */
  readonly onPrinted?: (command: string, printed: string) => void;
}

export async function follow(
  page: string,
  {
    places = {},
    env = {},
    files = {},
    nodeface = COMMANDS.Node,
    isFollowed,
    onPrinted = () => {},
  }: Surroundings = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
  const services = new Map<string, Running>();
  const located = (text: string) => {
    const own = [...services].map(([port, { url }]) =>
      [`127.0.0.1:${port}`, new URL(url).host] as const
    );
    return [...Object.entries(places), ...own]
      .reduce((text, [there, here]) => text.replaceAll(there, here), text);
  };
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const surroundings = { HOME: folder, PATH: `${join(folder, "bin")}:${process.env.PATH}`, ...env };
  const launch = async (command: string) => {
    const { words, port } = serviceOf(located(command).replace(/^npm start( --)?/, "nodeface"));
    await services.get(port)?.stop();
    const service = await start([...nodeface, ...words], surroundings, { cwd: folder });
    services.set(port, service);
    if (words.some((word) => /^https?:/.test(word)) || words.includes("--config")) {
      // The service listens before it has detected the kind of the node and read its description.
      await until(async () => {
        const { paths } = await (await fetch(new URL("spec.json", service.url))).json();
        return Object.keys(paths).some((path) => !OWN.test(path));
      });
    }
  };
  try {
    await write("bin/nodeface", `#!/bin/sh\nexec ${nodeface.map(quoted).join(" ")} "$@"\n`);
    await chmod(join(folder, "bin/nodeface"), 0o755);
    for (const [path, text] of Object.entries(files)) await write(path, text);
    const isWanted = isFollowed ?? (({ isLeftOut }) => !isLeftOut);
    for (const block of blocksOf(page).filter(isWanted)) {
      if (block.file && block.language !== "console") await write(block.file, located(block.text));
      if (block.language !== "console" && block.language !== "sh") continue;
      for (const { command, printed } of commandsOf(block)) {
        if (isServing(command)) {
          await launch(command);
          continue;
        }
        const actual = await shell(located(command), folder, surroundings);
        assertPrinted(actual, printed && located(printed), command);
        onPrinted(command, actual);
      }
    }
  } finally {
    for (const service of services.values()) await service.stop();
    await rm(folder, { recursive: true });
  }
}

const OWN = /^\/(?:v1\/(?!node|rpc)|spec\.|\.well-known\/)/;

const isServing = (command: string) =>
  /^(?:npm start|nodeface(?! (?:check|kinds|init|probe)\b))(?!.* (?:--help|--version|-h|-V)\b)/
    .test(
      command,
    );

function serviceOf(command: string): { words: string[]; port: string } {
  const [, ...all] = command.split(/\s+/);
  const at = all.indexOf("--port");
  if (at < 0) return { words: all, port: "8080" };
  return { words: all.filter((_, i) => i !== at && i !== at + 1), port: all[at + 1]! };
}

const quoted = (word: string) => `'${word}'`;

const shell = (command: string, cwd: string, env: Record<string, string>) =>
  new Promise<string>((resolve, reject) => {
    execFile(
      "sh",
      ["-c", command.replaceAll(/\bcurl /g, "curl --silent ")],
      { cwd, env: { ...process.env, ...env } },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${command}\n${stdout}${stderr}`)) : resolve(stdout),
    );
  });

/** The page may show only some lines of the output of `check`. */
function assertPrinted(actual: string, printed: string | undefined, command: string): void {
  if (printed === undefined) return;
  if (/^nodeface check\b/.test(command)) {
    for (const line of printed.split("\n")) assert.match(actual, lineLike(line), command);
    return;
  }
  assert.match(actual.trimEnd(), new RegExp(`^${patternOf(printed)}$`), `${command}\n${actual}`);
}

const lineLike = (line: string) => new RegExp(`^${patternOf(line)}$`, "m");

const patternOf = (printed: string) =>
  printed.split("…").map((part) => part.replace(/[\\^$.|?+()[\]{}*]/g, "\\$&")).join("[^]*");
