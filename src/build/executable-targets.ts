/**
 * The platforms that executables are made for.
 *
 * @module
 */

/** A platform. */
export interface Target {
  /** The end of the executable's file name. */
  name: string;
  /** Bun's name for `--target`. */
  bun: string;
  /** `process.platform` (or `musl`) and `process.arch` of the machines that run it. */
  runsOn: string;
}

/** The file name of an executable. */
export const fileOf = ({ name }: Target): string => `nodeface-${name}`;

/** All platforms, in the order in which their executables are made. */
export const TARGETS: readonly Target[] = [
  { name: "linux-x64", bun: "bun-linux-x64", runsOn: "linux-x64" },
  { name: "linux-arm64", bun: "bun-linux-arm64", runsOn: "linux-arm64" },
  { name: "linux-x64-musl", bun: "bun-linux-x64-musl", runsOn: "musl-x64" },
  { name: "linux-arm64-musl", bun: "bun-linux-arm64-musl", runsOn: "musl-arm64" },
  { name: "macos-x64", bun: "bun-darwin-x64", runsOn: "darwin-x64" },
  { name: "macos-arm64", bun: "bun-darwin-arm64", runsOn: "darwin-arm64" },
  { name: "windows-x64.exe", bun: "bun-windows-x64", runsOn: "win32-x64" },
];
