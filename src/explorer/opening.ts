/**
 * The lines of `nodeface.yaml` that enable an operation. They keep what everybody may call. Which
 * client may call what is not the page's to tell, so the lines leave existing clients as they are.
 *
 * @module
 */
import { onceFor } from "../json/values.ts";
import { UNSEEN } from "../untrusted-text.ts";
import { markup, type Part } from "./html.ts";
import { operationsOfOutline, type Outline, type ShownOperation } from "./read-outline.ts";
import { COPY } from "./render-form.ts";

type Listed = Pick<ShownOperation, "nodeName" | "call" | "access" | "isOpenable">;

export interface Enabled {
  /** The names in `forward.open`, as far as the permissions tell. */
  readonly open: readonly string[];
  /** Whether a client's token enables operations. */
  readonly hasClients: boolean;
}

/** The largest number of names that are repeated; a longer list is in the file, not on the page. */
const NAMES_MAX = 8;
const READS = "reads";

export function readEnabled(operations: readonly Listed[]): Enabled {
  const isRead = ({ access }: Listed) => access === "read";
  const reads = operations.filter((one) =>
    one.nodeName !== undefined && isRead(one) && (one.call !== "refused" || one.isOpenable)
  );
  const isWhole = reads.length > 0 && reads.every(({ call }) => call === "open");
  const others = operations.filter((one) => one.call === "open" && !(isWhole && isRead(one)));
  // An operation stands under each of its tags.
  const names = new Set(others.flatMap(({ nodeName }) => nodeName ?? []));
  return {
    open: isWhole ? [READS, ...names] : [...names],
    hasClients: operations.some(({ call }) => call === "token"),
  };
}

/** The page has it in its head, in its notes and at each level of detail. */
export const enabledIn: (outline: Outline) => Enabled = onceFor((outline) =>
  readEnabled(operationsOfOutline(outline))
);

/** Renders the lines, if a setting enables the operation. */
export function renderOpening(operation: ShownOperation, enabled: Enabled): Part {
  const lines = writeOpening(operation, enabled);
  return lines && markup`<div class="command"><pre><code>${lines}</code></pre>${COPY}</div>`;
}

/** Returns an empty string if no setting enables the operation. */
export function writeOpening(
  { nodeName = "", access, isOpenable }: Listed,
  enabled: Enabled,
): string {
  if (!isOpenable || nodeName.search(UNSEEN) >= 0) return "";
  const needsToken = access === "write" || access === "secret";
  const open = needsToken ? enabled.open : [...enabled.open, access === "read" ? READS : nodeName];
  const clients = needsToken
    ? clientsWith(nodeName, enabled)
    : enabled.hasClients
    ? ["  # clients: as they are"]
    : [];
  return ["# nodeface.yaml", "forward:", ...listed("  open", open), ...clients].join("\n");
}

function clientsWith(name: string, { hasClients }: Enabled): string[] {
  const [allow] = listed("allow", [name]);
  return hasClients ? ["  clients:", "    # In the client that may call it:", `    - ${allow}`] : [
    "  clients:",
    "    - name: app",
    "      token_file: token # 32 characters or more",
    `      ${allow}`,
  ];
}

function listed(key: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.length > NAMES_MAX ? names.slice(-1) : names;
  const rest = names.length > NAMES_MAX ? " # and the names that are listed already" : "";
  const isPlain = /^[A-Za-z][\w.]*$/;
  const list = shown.map((name) => isPlain.test(name) ? name : JSON.stringify(name)).join(", ");
  return [`${key}: [${list}]${rest}`];
}
