/**
 * The commands, and the flags without a value. `--help` is made of them and of `flags-and-variables.ts`.
 *
 * @module
 */

/** The name of a command besides serving. */
export type CommandName = "check" | "init" | "kinds";

/** What a command is called with, and what it does. */
interface AboutCommand {
  /** What follows its name. */
  readonly arguments: string;
  readonly text: string;
}

/** The commands besides serving. */
export const COMMANDS: Readonly<Record<CommandName, AboutCommand>> = {
  check: {
    arguments: "[NODE_URL] [options] [--json]",
    text: "ask the node once, print what /v1/info would say and what is wrong with the " +
      "description; exit 1 on trouble",
  },
  init: {
    arguments: "NODE_URL [options]",
    text: "ask the node and write nodeface.yaml, or the file of --config, which must not be " +
      "there yet: every setting with what it does",
  },
  kinds: {
    arguments: "[KIND]",
    text: "list the kinds of node that are known, or print one as configuration",
  },
};

/** The name of a flag without a value. */
export type SwitchName = "json" | "version" | "help";

/** What such a flag is called, and what it does. */
interface AboutSwitch {
  readonly flags: readonly string[];
  readonly text: string;
}

/** The flags without a value, with their short forms. */
export const SWITCHES: Readonly<Record<SwitchName, AboutSwitch>> = {
  json: { flags: ["--json"], text: "have check print one JSON object" },
  version: { flags: ["-V", "--version"], text: "print the version" },
  help: { flags: ["-h", "--help"], text: "print this text" },
};
