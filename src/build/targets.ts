/**
 * The machines that executables are made for.
 *
 * @module
 */

/** One of them. */
export interface Target {
  /** What its file's name ends with. */
  name: string;
  /** What Bun calls it. */
  bun: string;
}

/** The file of a target. */
export const fileOf = ({ name }: Target): string => `nodeface-${name}`;

export const TARGETS: readonly Target[] = [
  { name: "linux-x64", bun: "bun-linux-x64" },
  { name: "linux-arm64", bun: "bun-linux-arm64" },
  { name: "linux-x64-musl", bun: "bun-linux-x64-musl" },
  { name: "linux-arm64-musl", bun: "bun-linux-arm64-musl" },
  { name: "macos-x64", bun: "bun-darwin-x64" },
  { name: "macos-arm64", bun: "bun-darwin-arm64" },
  { name: "windows-x64.exe", bun: "bun-windows-x64" },
];
