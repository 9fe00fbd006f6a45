/**
 * How the command is used, from the table of the settings.
 *
 * @module
 */
import { COMMAND } from "../settings/flags-and-variables.ts";
import type { About } from "../settings/schema-builders.ts";

/** Where what is said of a flag begins, and the longest line. */
const COLUMN = 18, LONGEST = 96;

/** What `nodeface --help` prints. */
export function usage(): string {
  const { url, ...flags } = COMMAND;
  return `Usage: nodeface [NODE_URL] [options]
       nodeface check [NODE_URL] [options]
       nodeface kinds [KIND]

Serves the explorer at /v1/spec, information about the node at /v1/info and the description
at /spec.json and /spec.yaml.

${
    row(
      "check",
      "ask the node once, print what /v1/info would say and what is wrong with the " +
        "description; exit 1 on trouble",
    )
  }${row("kinds", "list the kinds of node that are known, or print one as configuration")}
${row("NODE_URL", textOf(url))}${
    Object.values(flags).map((setting) => row(nameOf(setting), textOf(setting))).join("")
  }${row("-V, --version", "print the version")}${row("-h, --help", "print this text")}
Flags win over variables, variables over the configuration file.
`;
}

/** A flag with its argument; a switch has none. */
function nameOf({ flag, argument }: About): string {
  return argument === undefined ? `--${flag}` : `--${flag} ${argument}`;
}

/** What is said of a setting: its text, its default, its variables. */
function textOf({ text, default: usual, variables = [] }: About): string {
  const more = [
    ...usual === undefined ? [] : [`default ${usual}`],
    ...variables.length > 0 ? [`environment ${variables.join(" or ")}`] : [],
  ];
  return more.length > 0 ? `${text} (${more.join("; ")})` : text;
}

/** A name and what is said of it, in lines of their own column. */
function row(name: string, text: string): string {
  const lines = [""];
  for (const part of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] ? `${lines[last]} ${part}` : part;
    if (longer.length > LONGEST - COLUMN) lines.push(part);
    else lines[last] = longer;
  }
  const indent = " ".repeat(COLUMN);
  return `  ${name.padEnd(COLUMN - 2)}${lines.join(`\n${indent}`)}\n`;
}
