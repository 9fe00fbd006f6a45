/**
 * The lines of `nodeface.yaml` that enable an operation. They keep what is enabled already, so that
 * they can replace the section `forward`.
 *
 * @module
 */
import { UNSEEN } from "../untrusted-text.ts";
import type { ShownOperation } from "./read-outline.ts";

type Listed = Pick<ShownOperation, "nodeName" | "call" | "marks" | "isOpenable">;

/** The names in `forward.open` and in `forward.clients`, as far as the permissions tell. */
export type Enabled = Readonly<Record<"open" | "token", readonly string[]>>;

/** The largest number of names that are repeated; a longer list is in the file, not on the page. */
const NAMES_MAX = 8;
const READS = "reads";

export function readEnabled(operations: readonly Listed[]): Enabled {
  const isRead = ({ marks }: Listed) => marks.includes("read");
  const reads = operations.filter((one) =>
    isRead(one) && (one.call !== "refused" || one.isOpenable)
  );
  const namesOf = (call: "open" | "token") => {
    const isWhole = reads.length > 0 && reads.every((one) => one.call === call);
    const others = operations.filter((one) => one.call === call && !(isWhole && isRead(one)));
    const names = others.flatMap(({ nodeName }) => nodeName ?? []);
    return isWhole ? [READS, ...names] : names;
  };
  return { open: namesOf("open"), token: namesOf("token") };
}

/** Returns an empty string if no setting enables the operation. */
export function writeOpening(
  { nodeName = "", marks, isOpenable }: Listed,
  enabled: Enabled,
): string {
  if (!isOpenable || nodeName.search(UNSEEN) >= 0) return "";
  const isRead = marks.includes("read");
  const needsToken = marks.includes("write") || marks.includes("sensitive");
  const open = needsToken ? enabled.open : [...enabled.open, isRead ? READS : nodeName];
  const token = needsToken ? [...enabled.token, nodeName] : enabled.token;
  const lines = [
    "# nodeface.yaml",
    "forward:",
    ...listed("  open", open),
    ...token.length === 0 ? [] : [
      "  clients:",
      "    - name: app",
      "      token_file: token # 32 characters or more",
      ...listed("      allow", token),
    ],
  ];
  return lines.join("\n");
}

function listed(key: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.length > NAMES_MAX ? names.slice(-1) : names;
  const rest = names.length > NAMES_MAX ? " # and the names that are listed already" : "";
  const isPlain = /^[A-Za-z][\w.]*$/;
  const list = shown.map((name) => isPlain.test(name) ? name : JSON.stringify(name)).join(", ");
  return [`${key}: [${list}]${rest}`];
}
