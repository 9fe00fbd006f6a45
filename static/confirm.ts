/**
 * Asks the user to confirm a request that may change something. Shows the request and the current
 * node.
 */
import type { FormRequest } from "../src/explorer/form-request.ts";
import { showUnseen } from "../src/untrusted-text.ts";
import { fetchObject } from "./head.ts";
import { sizeOf } from "./result.ts";
import { base, element } from "./service.ts";

const KEYS = { name: "Node", software: "Software", network: "Network", chain_id: "Chain" } as const;

/** The longest time between the two clicks of a double click, in milliseconds. */
export const DOUBLE_CLICK_MS = 500;
/** The length above which a value, such as a file, is not shown in full. */
export const SHOWN_MAX = 100_000;
const START = 1000;

export const describeStart = (size: number, start: string): string =>
  `${sizeOf(size)}, which begin with\n${start.slice(0, START)}`;

const shorten = (value: string): string =>
  value.length > SHOWN_MAX ? describeStart(value.length, value) : value;

/** The node's identity; `undefined` if `/v1/info` could not be read. */
export type Identity = Readonly<Record<string, string>> | undefined;

export async function readIdentity(): Promise<Identity> {
  const info = await fetchObject(new URL("v1/info", base));
  const known = Object.keys(KEYS).filter((key) => info?.[key] !== undefined);
  const shown = (key: string) => showUnseen(String(info![key])).slice(0, 80);
  return info && Object.fromEntries(known.map((key) => [key, shown(key)]));
}

/**
 * Returns the reason for not sending a request, or an empty string if the user confirms the
 * request. Refuses without asking if the node is unknown, or if its chain has changed since the
 * form was opened.
 *
 * @param signal aborted if the user has stopped the request
 */
export async function confirm(
  atOpening: Promise<Identity> | undefined,
  title: string,
  { method, url }: Pick<FormRequest, "method" | "url">,
  values: readonly (readonly [name: string, value: string])[],
  parent: Element,
  signal?: AbortSignal,
): Promise<string> {
  const [before, now] = await Promise.all([atOpening, readIdentity()]);
  if (signal?.aborted) return "Not sent";
  if (!now) return "Not sent: the service does not report its current node";
  const changed = ["chain_id", "network"].find((key) =>
    before?.[key] !== undefined && before[key] !== now[key]
  );
  if (changed) {
    return `Not sent: the chain is now ${now[changed] ?? "unknown"}, but was ${before![changed]} ` +
      "when the form was opened. Reload the page to continue";
  }
  const ofNode = Object.entries(KEYS).map(([key, label]) => [label, now[key] ?? ""] as const);
  const rows = [...ofNode, ["Request", `${method} ${url}`] as const, ...values];
  const list = rows.filter(([, value]) => value !== "").flatMap(([name, value]) => {
    const textContent = shorten(value).replaceAll(/[^\n\t]+/g, showUnseen);
    return [
      element("dt", { textContent: name }),
      element("dd", {}, element("code", { textContent })),
    ];
  });
  const cancel = element("button", { textContent: "Cancel" });
  const send = element("button", { value: "send", className: "send", textContent: "Send" });
  const ariaLabel = `Send ${title}?`;
  const dialog = element(
    "dialog",
    { id: "confirm", ariaLabel },
    element("h2", { textContent: ariaLabel }),
    element("dl", {}, ...list),
    element("form", { method: "dialog", className: "actions" }, cancel, send),
  );
  parent.append(dialog);
  return await new Promise((resolve) => {
    const open = new AbortController();
    const onHidden = () => document.hidden && dialog.close();
    const onKey = (event: KeyboardEvent) => {
      // Ignores a key that was already held down when the dialog opened.
      if (event.repeat) event.preventDefault();
      // If key events reached Scalar's client, it would close or trap the focus.
      event.stopPropagation();
    };
    addEventListener("keydown", onKey, { capture: true, signal: open.signal });
    document.addEventListener("visibilitychange", onHidden, { signal: open.signal });
    dialog.addEventListener("close", () => {
      open.abort();
      dialog.remove();
      resolve(dialog.returnValue === "send" ? "" : "Not sent");
    });
    dialog.showModal();
    const shownAt = performance.now();
    // The second click on the button that opened the dialog is no answer.
    dialog.addEventListener("click", (event) => {
      if (event.timeStamp < shownAt + DOUBLE_CLICK_MS) event.preventDefault();
    });
    cancel.focus();
    onHidden();
  });
}
