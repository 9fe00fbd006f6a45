/** How servers are started that answer all with one large content, see `_large-server.ts`. */
import { COMMANDS, serving } from "../_server.ts";

/** The length of the content in bytes: no connection takes it up without being read. */
export const LENGTH: number = 32 * 1024 * 1024;

/** The commands, by runtime. */
export const LARGE: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(COMMANDS).map(([runtime, command]) => [
    runtime,
    serving(command, "tests/raw/_large-server.ts"),
  ]),
);
