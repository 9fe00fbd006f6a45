/** The confirmation of what may change something: it names what is sent and the node as it is now. */

import { type FormRequest, showUnseen } from "../src/explorer/form-request.ts";
import { isObject, type Json } from "../src/json/values.ts";
import { base, element } from "./service.ts";

/** The keys of an info that say which node it is; another chain is another node. */
const KEYS = { name: "Node", software: "Software", network: "Network", chain_id: "Chain" } as const;

/** A node at a time; `undefined` where the service did not say. */
export type Identity = Readonly<Record<string, string>> | undefined;

/** Reads which node it is that the service stands beside now. */
export async function readIdentity(): Promise<Identity> {
  try {
    const response = await fetch(new URL("v1/info", base), { cache: "no-store" });
    const info: unknown = await response.json();
    if (!response.ok || !isObject(info)) return undefined;
    const known = Object.keys(KEYS).filter((key) => info[key] !== undefined);
    return Object.fromEntries(known.map((key) => [key, textOf(info, key)]));
  } catch {
    return undefined;
  }
}

const textOf = (info: Json, key: string) => showUnseen(String(info[key])).slice(0, 80);

/** Says why nothing is sent to a node that was another one before; `undefined` if it is the same. */
export function reasonAgainst(before: Identity, now: Identity): string | undefined {
  if (!now) return "Not sent: the service does not say which node this is now";
  const changed = (["chain_id", "network"] as const).find((key) =>
    before?.[key] !== undefined && before[key] !== now[key]
  );
  if (!changed) return undefined;
  const [was, is] = [before, now].map((identity) => identity?.[changed] ?? "unknown");
  return `Not sent: this node is on another chain now (${is}) than when this form was opened ` +
    `(${was}). Reload the page to go on`;
}

/** Asks whether a request is to be sent, by a dialog in `parent`. */
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
  const list = rows.flatMap(([name, value]) => [
    element("dt", { textContent: name }),
    element("dd", {}, element("code", { textContent: showValue(value) })),
  ]);
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
      // Who still holds the key that has opened it has not read it.
      if (event.repeat) event.preventDefault();
      // Scalar's client would keep the focus, and close.
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

/** Line breaks of a content stay; all else that is not seen is shown. */
const showValue = (value: string) => value.split("\n").map(showUnseen).join("\n");
