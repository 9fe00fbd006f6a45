// Installs the servers and the bundlers that the service is tested in (tests/hosts/package-lock.json),
// where they are not there yet.
import { fileURLToPath } from "node:url";
import { install } from "../_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing the servers and bundlers of other people that the service is tested in",
  "--ignore-scripts",
);
