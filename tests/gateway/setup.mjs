// Installs the third-party clients with which the service is tested (tests/gateway/package-lock.json), unless they are
// already installed.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the clients of nodes that are pointed at the service",
  "--ignore-scripts",
);
