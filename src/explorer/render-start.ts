/**
 * Renders the first lines of the page: how many operations are enabled, the address for clients, a
 * call with its response, and the most used operations.
 *
 * @module
 */
import { trimSlashes } from "../openapi/server-url.ts";
import type { OperationForm } from "./form-request.ts";
import { OWN_TITLE } from "./head.ts";
import { type Html, joinParts, markup, type Part, shortText } from "./html.ts";
import { methodNameOf } from "./labels.ts";
import { type Enabled, enabledIn, renderOpening } from "./opening.ts";
import { operationsOfOutline, type Outline, type ShownOperation } from "./read-outline.ts";
import { COPY, renderFirst } from "./render-form.ts";

type Operations = readonly ShownOperation[];

const MOST_USED_MAX = 5;

/**
 * @param address the path that a client of the node needs in its address
 * @param shown the anchors of the operations that are shown below
 */
export function renderStart(
  outline: Outline,
  address: string,
  shown: ReadonlySet<string>,
): Html {
  const operations = nodeOperationsOf(outline);
  const callable = operations.filter(({ call }) => call === "open" || call === "token");
  const first = firstCallOf([...callable, ...operationsOfOutline(outline)]);
  const mostUsed = mostUsedOf(callable.length > 0 ? callable : operations, shown);
  const isBare = operations.length === 0 && outline.title === OWN_TITLE;
  const isConnectable = callable.length > 0 || operations.length === 0;
  return markup`
    ${operations.length > 0 && renderCount(operations, callable, enabledIn(outline))}
    <div class="calls">
      ${isBare ? BARE : isConnectable && renderAddress(address, callable)}
      ${first && renderFirst(first)}
      ${mostUsed.length > 0 && renderMostUsed(mostUsed)}
    </div>`;
}

/**
 * Returns the operations of the node. An operation with several tags counts once, and so does a
 * JSON-RPC method with a GET and a POST.
 */
function nodeOperationsOf(outline: Outline): Operations {
  const named = new Map<string, ShownOperation>();
  for (const one of operationsOfOutline(outline)) {
    if (one.nodeName !== undefined && !named.has(one.nodeName)) named.set(one.nodeName, one);
  }
  return [...named.values()];
}

/** Returns the call that the page makes unasked: preferably common, and with a short response. */
function firstCallOf(operations: Operations): OperationForm | undefined {
  const simple = operations.filter(isSimpleRead);
  const common = simple.filter(({ isCommon }) => isCommon);
  const first = common.find(isShort) ?? common[0] ?? simple.find(isShort) ?? simple[0];
  return first?.form;
}

/** Tells whether the page may make a call unasked: public, light, ending, and without values. */
const isSimpleRead = ({ call, form, access, isHeavy, path }: ShownOperation): boolean =>
  form?.method === "GET" && !form.isEndless &&
  form.fields.every(({ isRequired }) => !isRequired) &&
  (path === "/v1/info" || (call === "open" && access === "read" && !isHeavy));

/** Tells whether the response is one value, so that it fits beside the call. */
const isShort = ({ items }: ShownOperation): boolean =>
  items.some(([heading, [response]]) =>
    heading === "Responses" && /^(string|integer|number)/.test(response?.facts[0] ?? "")
  );

const mostUsedOf = (operations: Operations, shown: ReadonlySet<string>): Operations =>
  operations.filter(({ isCommon, anchor }) => isCommon && shown.has(anchor))
    .slice(0, MOST_USED_MAX);

function renderMostUsed(operations: Operations): Html {
  const links = operations.map(({ anchor, title }) => markup`<a href="#${anchor}">${title}</a>`);
  return markup`<p class="common">Most used: ${joinParts(links, " ")}</p>`;
}

const BARE = markup`
  <p class="bare">
    This service runs without a node. Start it
    beside one: <code>nodeface http://127.0.0.1:8545 --forward reads</code> ${COPY}
  </p>`;

function renderAddress(address: string, callable: Operations): Html {
  const isWebSocketToo = callable.some(({ isSubscription }) => isSubscription);
  return markup`
    <p class="connect">
      Connect to <code><var>…</var>${addressFor(callable, address)}</code> ${COPY}
      ${isWebSocketToo && markup` <span>also by WebSocket</span>`}
    </p>`;
}

function addressFor(callable: Operations, address: string): string {
  // A proxy with path prefixes would redirect calls to the address without its slash.
  const isPosted = callable.length > 0 && callable.every(({ path }) => methodNameOf(path) !== "");
  return isPosted && address === "/" ? address : trimSlashes(address);
}

/** Renders how many operations are enabled, and how to enable more. */
function renderCount(
  operations: Operations,
  callable: Operations,
  enabled: Enabled,
): Html {
  const total = operations.length;
  const count = (is: (one: ShownOperation) => boolean) => operations.filter(is).length;
  const all = count(({ path }) => methodNameOf(path) !== "") === total ? "methods" : "operations";
  const example = operations.find(({ isOpenable }) => isOpenable);
  const howMuch = example && markup`
    <p>
      Each operation that is not enabled has the lines
      that enable it. For <code>${shortText(example.nodeName!)}</code>:
    </p>
    ${renderOpening(example, enabled)}`;
  if (callable.length > 0) {
    const withToken = count(({ call }) => call === "token");
    const token = withToken > 0 ? `, ${withToken} with the token` : "";
    const state = `${callable.length} of ${total} ${all} enabled${token}`;
    return example
      ? renderMore(`${state} · enable more`, howMuch)
      : markup`<p class="more">${state}</p>`;
  }
  const isOff = operations.every(({ call }) => call === undefined);
  const state = isOff ? "Calls are switched off" : `None of ${total} ${all} enabled`;
  const reads = count(({ access }) => access === "read");
  const advice = reads > 0
    ? markup`
      <p>
        Start with <code>--forward reads</code> to enable
        read-only operations (${reads} of ${total}).
      </p>`
    : markup`
      <p>
        <code>--forward reads</code> opens operations marked <code>x-access: read</code>, and this
        description marks none. Read what the operations return and change, and list some
        under <code>forward.open</code> in the configuration.
      </p>`;
  return renderMore(`${state} · enable some`, markup`${advice}${howMuch}`);
}

const renderMore = (summary: string, content: Part) =>
  markup`<details class="more"><summary>${summary}</summary><div>${content}</div></details>`;
