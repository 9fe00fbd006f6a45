/**
 * The usage of the command, which `--help` prints.
 *
 * @module
 */
import { CLI_OPTIONS, type CliOption } from "../settings/flags.ts";
import { partsOfSchema } from "../settings/schema.ts";
import { wrap } from "./output.ts";

export type CommandName = "check" | "init" | "kinds" | "probe";

export const COMMANDS: Readonly<Record<CommandName, { arguments: string; text: string }>> = {
  check: {
    arguments: "[NODE_URL] [options] [--json] [--offline]",
    text: "query the node once, print /v1/info and any errors in the configuration or the " +
      "description; exit 1 on trouble",
  },
  init: {
    arguments: "NODE_URL [options]",
    text: "query the node and write nodeface.yaml, or the file named by --config, with most " +
      "settings explained; the file must not exist yet",
  },
  kinds: {
    arguments: "[KIND [--file]]",
    text: "list the known kinds of node, or print one as configuration",
  },
  probe: {
    arguments: "[URL] [--accept LIST]",
    text: "ask a running service for the status of its node; exit 0 if it is in LIST (default " +
      "ok), and 1 if not; the default of URL is http://127.0.0.1:8080, changed by NODEFACE_HOST " +
      "and NODEFACE_PORT or PORT",
  },
};

export type SwitchName = "json" | "offline" | "file" | "version" | "help";

export const SWITCHES: Readonly<Record<SwitchName, { short?: string; text: string }>> = {
  json: { text: "print one JSON object (with check)" },
  offline: { text: "check the configuration alone, and query nothing (with check)" },
  file: { text: "print the whole file of a kind, as a basis for your own kind (with kinds)" },
  version: { short: "V", text: "print the version" },
  help: { short: "h", text: "print this text" },
};

/** A flag, as `--help`, the manual page and the completions list it. */
export interface Flag {
  name: string;
  short?: string | undefined;
  /** The placeholder for its value. */
  argument?: string | undefined;
  text: string;
  /** The only values that it takes. */
  words?: readonly string[] | undefined;
}

const { url, ...settings } = CLI_OPTIONS;

export const NODE_URL_TEXT: string = describeOption(url);

export const FLAGS: readonly Flag[] = [
  ...Object.values<CliOption>(settings).map((option) => ({
    name: option.flag!,
    argument: option.argument,
    text: describeOption(option),
    words: partsOfSchema(option.schema).words,
  })),
  ...Object.entries(SWITCHES).map(([name, { short, text }]) => ({ name, short, text })),
];

const COLUMN = 21, LONGEST = 96;

export const EXIT_CODES: Readonly<Record<number, string>> = {
  0: "success; remarks, such as faults in the node's own description, are not errors",
  1: "the configuration has an error, the service could not run, check found an error, or probe " +
    "found a node that is not well",
  2: "wrong use: an unknown option, a wrong value of an option, or a missing argument",
};

export const WHAT_IT_DOES: string =
  "Serves the explorer at /v1/spec, information about the node at " +
  "/v1/info and the description at /spec.json and /spec.yaml.";
export const WHAT_WINS: string =
  "Flags override variables, and variables override the configuration file.";

export function usage(): string {
  const commands = Object.entries(COMMANDS);
  const synopses = commands.map(([name, { arguments: more }]) => `nodeface ${name} ${more}`);
  const rows = [
    ...commands.map(([name, { text }]) => row(name, text)),
    "\n",
    row("NODE_URL", NODE_URL_TEXT),
    ...FLAGS.map(({ name, short, argument = "", text }) =>
      row(short ? `-${short}, --${name}` : `--${name} ${argument}`, text)
    ),
  ];
  return `Usage: nodeface [NODE_URL] [options]
       ${synopses.join("\n       ")}

${wrap(WHAT_IT_DOES, LONGEST - 4).join("\n")}

${rows.join("")}
${WHAT_WINS}

Exit codes:
${Object.entries(EXIT_CODES).map(([code, text]) => row(code, text)).join("")}`;
}

function describeOption({ text, default: usual, variables }: CliOption): string {
  const standard = usual === undefined ? "" : `default ${usual}; `;
  const start = text.charAt(0).toLowerCase() + text.slice(1);
  return `${start} (${standard}environment ${variables.join(" or ")})`;
}

function row(name: string, text: string): string {
  const lines = wrap(text, LONGEST - COLUMN);
  const indent = " ".repeat(COLUMN);
  return `  ${name.padEnd(COLUMN - 2)}${lines.join(`\n${indent}`)}\n`;
}
