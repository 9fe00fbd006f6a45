/**
 * The manual page `nodeface.1`, for `man` (roff, as in man-pages(7)), made from the usage.
 *
 * @module
 */
import {
  COMMANDS,
  EXIT_CODES,
  FLAGS,
  NODE_URL_TEXT,
  WHAT_IT_DOES,
  WHAT_WINS,
} from "../cli/usage.ts";

const SIGNALS = {
  SIGHUP:
    "Reads the configuration file again, if there is one. A file with errors is refused, and " +
    "logged. If the terminal of the service has been closed, ends the service.",
  SIGTERM: "Finishes the current responses, then ends. SIGINT does the same.",
};

const FILES = {
  "/etc/nodeface/nodeface.yaml":
    "The configuration of nodeface.service. nodeface@NAME.service reads /etc/nodeface/NAME.yaml.",
  "/etc/nodeface/environment": "Environment variables of nodeface.service.",
};

const EXAMPLES = {
  "nodeface http://127.0.0.1:8545": "Serves the face of this node at http://127.0.0.1:8080.",
  "nodeface check http://127.0.0.1:8545":
    "Shows what would be served, and which operations would be open to whom.",
  "nodeface init http://127.0.0.1:8545 --config /etc/nodeface/nodeface.yaml":
    "Writes a configuration with most settings explained.",
};

/** @param date when the version was made, such as `2026-11-27` */
export function manualPage(version: string, date: string): string {
  const commands = Object.entries(COMMANDS);
  const synopses = commands.map(([name, { arguments: more }]) =>
    `.br\n.B nodeface ${name}\n${escapeRoff(more)}\n`
  );
  const flags = FLAGS.map(({ name, short, argument, text }) => {
    const flag = `\\fB${escapeRoff(`--${name}`)}\\fR`;
    const names = short ? `\\fB${escapeRoff(`-${short}`)}\\fR, ${flag}` : flag;
    return `.TP\n${names}${argument ? ` \\fI${argument}\\fR` : ""}\n${sentence(text)}\n`;
  });
  return `.TH NODEFACE 1 "${date}" "Nodeface ${version}" "User Commands"
.SH NAME
nodeface \\- give a network node a REST face
.SH SYNOPSIS
.B nodeface
[NODE_URL] [options]
${synopses.join("")}.SH DESCRIPTION
${escapeRoff(WHAT_IT_DOES)}
It runs beside the node, and needs no configuration.
.SH COMMANDS
${list(commands.map(([name, { text }]) => [name, text]))}.SH OPTIONS
.TP
.I NODE_URL
${sentence(NODE_URL_TEXT)}
${flags.join("")}.PP
${escapeRoff(WHAT_WINS)}
.SH EXIT STATUS
${list(Object.entries(EXIT_CODES))}.SH SIGNALS
${list(Object.entries(SIGNALS))}.SH FILES
${list(Object.entries(FILES))}.SH EXAMPLES
${list(Object.entries(EXAMPLES))}`;
}

const list = (entries: readonly (readonly [name: string, text: string])[]): string =>
  entries.map(([name, text]) => `.TP\n.B ${escapeRoff(name)}\n${sentence(text)}\n`).join("");

const sentence = (text: string): string =>
  escapeRoff(text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, "."));

/** A hyphen that is typed as it is needs a backslash, and so does a dot that begins a line. */
const escapeRoff = (text: string): string =>
  text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^(?=[.'])/, "\\&");
