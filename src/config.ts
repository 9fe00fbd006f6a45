/**
 * What the command was told: flags before the environment, the environment before the defaults.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** What the command is to do. */
export interface Config {
  /** The host name or IP literal to listen on. */
  host: string;
  /** The port to listen on, 0 to 65535; 0 takes a free one. */
  port: number;
  /** Print the version and stop. */
  version: boolean;
  /** Print how the command is used and stop. */
  help: boolean;
}

/** An argument or a setting that is wrong; its message is one line for the operator. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** How the command is used. */
export const USAGE = `Usage: nodeface [--host HOST] [--port PORT]

Serves the explorer at /v1/spec, information at /v1/info and the description
at /spec.json and /spec.yaml.

  --host HOST   the address to listen on (default 127.0.0.1; environment HOST)
  --port PORT   the port to listen on (default 8080; 0 for a free one; environment PORT)
  --version     print the version
  --help        print this text
`;

const FLAGS = {
  host: { type: "string" },
  port: { type: "string" },
  version: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/**
 * Reads the command's arguments and environment.
 *
 * @param args the arguments after the command's name
 * @param env the environment: `HOST` and `PORT` are read
 * @throws {ConfigError} at the first argument that is unknown, doubled, without a value or wrong
 */
export function readConfig(args: string[], env: Record<string, string | undefined>): Config {
  const { tokens } = parseArgs({ args, options: FLAGS, strict: false, tokens: true });
  const given: Partial<Record<string, string>> = {};
  for (const token of tokens) {
    if (token.kind === "positional") {
      throw new ConfigError(`unexpected argument ${quote(token.value)}; see nodeface --help`);
    }
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    if (!Object.hasOwn(FLAGS, name) || !rawName.startsWith("--")) {
      throw new ConfigError(`unknown option ${quote(rawName)}; see nodeface --help`);
    }
    const wantsValue = FLAGS[name as keyof typeof FLAGS].type === "string";
    if (wantsValue && !value) {
      throw new ConfigError(`${rawName} needs a value; see nodeface --help`);
    }
    if (!wantsValue && value !== undefined) throw new ConfigError(`${rawName} takes no value`);
    if (name in given) throw new ConfigError(`${rawName} is given twice`);
    given[name] = value ?? "";
  }
  return {
    host: given.host ?? (env.HOST || "127.0.0.1"),
    port: port(given.port ?? (env.PORT || "8080"), given.port === undefined ? "PORT" : "--port"),
    version: "version" in given,
    help: "help" in given,
  };
}

function port(text: string, source: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new ConfigError(`${source} must be a whole number from 0 to 65535, not ${quote(text)}`);
}

const quote = (text: string) => JSON.stringify(text);
