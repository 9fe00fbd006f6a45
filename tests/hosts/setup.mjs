// Installs the servers and bundlers with which the service is tested (tests/hosts/package-lock.json), unless they are
// already installed.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the servers and bundlers of other people that the service is tested in",
  "--ignore-scripts",
);
