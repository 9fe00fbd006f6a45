/** Constants of the tests that use `_large-server.ts`. */
import { CHOSEN_COMMANDS, serving } from "../_server.ts";

/**
 * The length of the content in bytes. The content does not fit into the buffers of a connection.
 */
export const LENGTH: number = 32 * 1024 * 1024;

export const LARGE: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(CHOSEN_COMMANDS).map(([runtime, command]) => [
    runtime,
    serving(command, "tests/raw/_large-server.ts"),
  ]),
);
