// Installs the nodes with which the service is tested (tests/nodes/package-lock.json), unless they are already
// installed. Their native modules are not compiled, since all of these nodes keep their data in memory.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the nodes that the tests use",
  "--ignore-scripts",
);
