// Installs the third-party clients that the tests use with the service (tests/gateway/package-lock.json), unless they
// are installed already.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the clients of nodes that are pointed at the service",
  "--ignore-scripts",
);
