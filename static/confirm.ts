/** Asks to confirm a request that may change something; shows the request and the current node. */
import { type FormRequest, showUnseen } from "../src/explorer/form-request.ts";
import { isObject } from "../src/json/values.ts";
import { base, element } from "./service.ts";

/** The keys of the info that identify a node, with their labels. */
const KEYS = { name: "Node", software: "Software", network: "Network", chain_id: "Chain" } as const;

/** `undefined` if `/v1/info` could not be read. */
export type Identity = Readonly<Record<string, string>> | undefined;

export async function readIdentity(): Promise<Identity> {
  try {
    const response = await fetch(new URL("v1/info", base), { cache: "no-store" });
    const info: unknown = await response.json();
    if (!response.ok || !isObject(info)) return undefined;
    const known = Object.keys(KEYS).filter((key) => info[key] !== undefined);
    const textOf = (key: string) => showUnseen(String(info[key])).slice(0, 80);
    return Object.fromEntries(known.map((key) => [key, textOf(key)]));
  } catch {
    return undefined;
  }
}

/** Returns the reason not to send: the node is unknown or on another chain than before. Otherwise `undefined`. */
export function reasonAgainst(before: Identity, now: Identity): string | undefined {
  if (!now) return "Not sent: the service does not say which node it has now";
  const changed = (["chain_id", "network"] as const).find((key) =>
    before?.[key] !== undefined && before[key] !== now[key]
  );
  if (!changed) return undefined;
  const [was, is] = [before, now].map((identity) => identity?.[changed] ?? "unknown");
  return `Not sent: the node is on another chain (${is}) than when the form was opened (${was}). ` +
    "Reload the page to continue";
}

/** Asks whether to send a request, in a dialog inside `parent`. */
export function confirm(
  title: string,
  request: Pick<FormRequest, "method" | "url">,
  values: readonly (readonly [name: string, value: string])[],
  node: NonNullable<Identity>,
  parent: Element,
): Promise<boolean> {
  const rows = [
    ...Object.entries(KEYS).map(([key, label]) => [label, node[key] ?? ""] as const),
    ["Request", `${request.method} ${request.url}`] as const,
    ...values,
  ].filter(([, value]) => value !== "");
  const list = rows.flatMap(([name, value]) => {
    // Line breaks stay; other invisible characters are shown as escapes.
    const textContent = value.split("\n").map(showUnseen).join("\n");
    return [
      element("dt", { textContent: name }),
      element("dd", {}, element("code", { textContent })),
    ];
  });
  const cancel = element("button", { textContent: "Cancel" });
  const send = element("button", { value: "send", className: "send", textContent: "Send" });
  const heading = element("h2", { id: "confirm", textContent: `Send ${title}?` });
  const actions = element("form", { method: "dialog", className: "actions" }, cancel, send);
  const dialog = element("dialog", {}, heading, element("dl", {}, ...list), actions);
  dialog.setAttribute("aria-labelledby", heading.id);
  parent.append(dialog);
  return new Promise((resolve) => {
    const onHidden = () => document.hidden && dialog.close();
    const onKey = (event: KeyboardEvent) => {
      // A key that is still held down was pressed before the dialog could be read.
      if (event.repeat) event.preventDefault();
      // Otherwise Scalar's client would handle the key, keep the focus, and close.
      event.stopPropagation();
    };
    addEventListener("keydown", onKey, true);
    document.addEventListener("visibilitychange", onHidden);
    dialog.addEventListener("close", () => {
      document.removeEventListener("visibilitychange", onHidden);
      removeEventListener("keydown", onKey, true);
      dialog.remove();
      resolve(dialog.returnValue === "send");
    });
    dialog.showModal();
    cancel.focus();
    onHidden();
  });
}
