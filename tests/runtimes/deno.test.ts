import { COMMANDS, start } from "../_server.ts";
import { runtimeSuite } from "./_suite.ts";

runtimeSuite("Deno", () => start(COMMANDS.Deno));
