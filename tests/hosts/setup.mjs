// Installs the servers and bundlers of tests/hosts/package-lock.json, unless they are already installed.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the third-party servers and bundlers",
  "--ignore-scripts",
);
