import process from "node:process";
import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

export default defineConfig({
  root: process.cwd(),
  input: { path: process.env.KUBB_INPUT },
  output: { path: "made", clean: true, format: false, lint: false },
  plugins: [
    pluginOas({ generators: [], validate: false }),
    pluginTs(),
    pluginClient({ client: "fetch", bundle: true }),
  ],
});
