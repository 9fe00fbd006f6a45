/**
 * The usage of the command, which `--help` prints.
 *
 * @module
 */
import { CLI_OPTIONS, type CliOption } from "../settings/flags.ts";
import { wrap } from "./output.ts";

export type CommandName = "check" | "init" | "kinds" | "probe";

export const COMMANDS: Readonly<Record<CommandName, { arguments: string; text: string }>> = {
  check: {
    arguments: "[NODE_URL] [options] [--json | --offline]",
    text: "query the node once, print /v1/info and any errors in the configuration or the " +
      "description; exit 1 on trouble",
  },
  init: {
    arguments: "NODE_URL [options]",
    text: "query the node and write nodeface.yaml, or the file named by --config, with every " +
      "setting explained; the file must not exist yet",
  },
  kinds: {
    arguments: "[KIND [--file]]",
    text: "list the known kinds of node, or print one as configuration",
  },
  probe: {
    arguments: "[URL] [--accept LIST]",
    text: "ask a running service for the status of its node; exit 0 if it is ok, or one of LIST, " +
      "and 1 if not; the default of URL is http://127.0.0.1:8080, or the port in NODEFACE_PORT",
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

const COLUMN = 21, LONGEST = 96;

export function usage(): string {
  const { url, ...flags } = CLI_OPTIONS;
  const commands = Object.entries(COMMANDS);
  const synopses = commands.map(([name, { arguments: more }]) => `nodeface ${name} ${more}`);
  const rows = [
    ...commands.map(([name, { text }]) => row(name, text)),
    "\n",
    row("NODE_URL", textOf(url)),
    ...Object.values<CliOption>(flags).map((option) =>
      row(`--${option.flag} ${option.argument ?? ""}`, textOf(option))
    ),
    ...Object.entries(SWITCHES).map(([name, { short, text }]) =>
      row(short ? `-${short}, --${name}` : `--${name}`, text)
    ),
  ];
  return `Usage: nodeface [NODE_URL] [options]
       ${synopses.join("\n       ")}

Serves the explorer at /v1/spec, information about the node at /v1/info and the description
at /spec.json and /spec.yaml.

${rows.join("")}
Flags override variables, and variables override the configuration file.
`;
}

function textOf({ text, default: usual, variables = [] }: CliOption): string {
  const more = usual === undefined ? [] : [`default ${usual}`];
  if (variables.length > 0) more.push(`environment ${variables.join(" or ")}`);
  const start = text.charAt(0).toLowerCase() + text.slice(1);
  return `${start} (${more.join("; ")})`;
}

function row(name: string, text: string): string {
  const lines = wrap(text, LONGEST - COLUMN);
  const indent = " ".repeat(COLUMN);
  return `  ${name.padEnd(COLUMN - 2)}${lines.join(`\n${indent}`)}\n`;
}
