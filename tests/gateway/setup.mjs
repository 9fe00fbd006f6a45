// Installs the clients of nodes that are pointed at the service (tests/gateway/package-lock.json), where they are
// not there yet.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the clients of nodes that are pointed at the service",
  "--ignore-scripts",
);
