import { COMMANDS, start } from "../_server.ts";
import { runtimeSuite } from "./_suite.ts";

runtimeSuite("Node", () => start(COMMANDS.Node));
