// Installs the third-party clients of tests/gateway/package-lock.json, unless they are already installed.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the third-party clients",
  "--ignore-scripts",
);
