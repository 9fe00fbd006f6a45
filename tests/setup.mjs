// Installs the packages that only the tests need (tests/package-lock.json), unless they are installed already.
import { fileURLToPath } from "node:url";
import "./runtimes/setup.mjs";
import { install } from "./_install.mjs";

install(
  fileURLToPath(new URL(".", import.meta.url)),
  "Installing packages for the tests: workerd, Chromium, a linter, Anvil and hsd",
);
