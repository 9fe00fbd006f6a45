/**
 * How the command is used, from the table of the settings.
 *
 * @module
 */
import { CLI_OPTIONS, COMMANDS, SWITCHES } from "../settings/command-line.ts";
import type { About } from "../settings/schema.ts";
import { wrap } from "./terminal.ts";

/** The column of what is said of a flag, and the longest line. */
const COLUMN = 18, LONGEST = 96;

/** The text of `nodeface --help`. */
export function usage(): string {
  const { url, ...flags } = CLI_OPTIONS;
  const commands = Object.entries(COMMANDS);
  const synopses = commands.map(([name, command]) =>
    `       nodeface ${name} ${command.arguments}\n`
  );
  const rows = [
    ...commands.map(([name, { text }]) => row(name, text)),
    "\n",
    row("NODE_URL", textOf(url)),
    ...Object.values(flags).map((setting) => row(nameOf(setting), textOf(setting))),
    ...Object.values(SWITCHES).map(({ flags, text }) => row(flags.join(", "), text)),
  ];
  return `Usage: nodeface [NODE_URL] [options]
${synopses.join("")}
Serves the explorer at /v1/spec, information about the node at /v1/info and the description
at /spec.json and /spec.yaml.

${rows.join("")}
Flags win over variables, variables over the configuration file.
`;
}

/** A flag with its argument; a switch has none. */
function nameOf({ flag, argument }: About): string {
  return argument === undefined ? `--${flag}` : `--${flag} ${argument}`;
}

/** Says of a setting its text, its default and its variables. */
function textOf({ text, default: usual, variables = [] }: About): string {
  const more = [
    ...usual === undefined ? [] : [`default ${usual}`],
    ...variables.length > 0 ? [`environment ${variables.join(" or ")}`] : [],
  ];
  return more.length > 0 ? `${text} (${more.join("; ")})` : text;
}

/** A name and what is said of it, in lines of their own column. */
function row(name: string, text: string): string {
  const lines = wrap(text, LONGEST - COLUMN);
  const indent = " ".repeat(COLUMN);
  return `  ${name.padEnd(COLUMN - 2)}${lines.join(`\n${indent}`)}\n`;
}
