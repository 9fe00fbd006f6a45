// Installs the nodes that the service is started beside (tests/nodes/package-lock.json), where they are not there yet.
// Their native parts are not compiled: all of them keep their data in memory.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the nodes that the service is started beside",
  "--ignore-scripts",
);
