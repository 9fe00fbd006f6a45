#!/usr/bin/env node
/**
 * The entry point of the command `nodeface`. `probe` runs every few seconds, so it loads nothing
 * of the service.
 *
 * @module
 */
// This import comes first, so that signals are handled while other modules load.
import "./cli/signals.ts";

const [, , first, ...others] = process.argv;
const isProbe = first === "probe" && !others.some((word) => /^(?:-h|--help)$/.test(word));
const { main } = isProbe ? await import("./cli/probe.ts") : await import("./cli/command.ts");

process.exit(await main());
