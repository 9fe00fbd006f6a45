/** Sends the calls of Scalar's client: adds the token, and asks before a write. */
import { mayChange } from "../src/explorer/labels.ts";
import { CALL_MARK } from "../src/gateway/annotate-operations.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../src/json/values.ts";
import { confirm, describeStart, type Identity, readIdentity, SHOWN_MAX } from "./confirm.ts";
import { element, here, isHere } from "./service.ts";

/** What Scalar tells of a request of an operation before it sends the request. */
interface Call {
  readonly request: Request;
  readonly requestBuilder: { baseUrl: string; readonly path: { readonly raw: string } };
  readonly operation: JsonObject;
}

export const token: HTMLInputElement = element("input", {
  type: "text",
  className: "secret",
  autocomplete: "off",
  spellcheck: false,
  autocapitalize: "off",
});
token.setAttribute("autocorrect", "off");
/** For each request of an operation, the reason for not sending it; may be empty. */
const refusals = new WeakMap<Request, string>();
/** The node's identity when the user opened Scalar's client. */
let opened: Promise<Identity> | undefined;

document.addEventListener("click", ({ target }) => {
  if ((target as Element).closest("button.show-api-client-button")) opened = readIdentity();
}, true);

export const hooks = { beforeRequest: chooseServer, requestBuilt: check };

/** Relative URLs of servers begin with a dot. */
export const absolute = (url: string): string => url.replace(/^\./, () => here);

/** With servers in its settings, Scalar ignores the servers of an operation. */
function chooseServer({ requestBuilder, operation }: Call): void {
  const urls = listOf(operation.servers).flatMap((server) => textOf(objectOf(server).url) ?? []);
  const [url] = urls;
  if (url && !urls.includes(requestBuilder.baseUrl)) requestBuilder.baseUrl = url;
  requestBuilder.baseUrl = absolute(requestBuilder.baseUrl);
}

async function check({ request, requestBuilder, operation }: Call): Promise<void> {
  const { method, url, headers } = request;
  if (operation[CALL_MARK] !== undefined && isHere(url)) {
    // The service requires this header from pages, and other origins cannot send it.
    headers.set("X-Nodeface", "1");
    const secret = token.value.trim();
    if (secret) headers.set("Authorization", `Bearer ${secret}`);
    // In the samples, a variable stands for the token.
    else if (headers.get("Authorization")?.includes("$")) headers.delete("Authorization");
  }
  refusals.set(request, "");
  if (!mayChange(method, operation)) return;
  if (operation[CALL_MARK] === "refused") {
    refusals.set(request, "Not sent: this operation is not enabled here");
    return;
  }
  const body = await textIn(await request.clone().blob());
  const hidden = ["accept", "authorization", "content-type", "x-nodeface"];
  const values = [
    ...new URL(url).searchParams,
    ...[...headers].filter(([header]) => !hidden.includes(header)),
    ["body", body] as const,
  ];
  // Scalar's client keeps the focus inside itself, so the dialog must be inside too.
  const parent = document.querySelector(".scalar-client[role=dialog]") ?? document.body;
  const name = `${method} ${requestBuilder.path.raw}`;
  refusals.set(request, await confirm(opened, name, request, values, parent));
}

/** Does not read a long body, such as a file. */
async function textIn(body: Blob): Promise<string> {
  if (body.size <= SHOWN_MAX) return await body.text();
  return describeStart(body.size, await body.slice(0, SHOWN_MAX).text());
}

export async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const refusal = input instanceof Request ? refusals.get(input) : undefined;
  // Scalar also sends requests of its own, such as to a token URL that the description chose.
  if (refusal === undefined && isHere(input instanceof Request ? input.url : String(input))) {
    throw new Error("Only an operation of the page can be called here");
  }
  if (refusal) throw new Error(refusal);
  return await fetch(input, init);
}
