/** Shows the description in Scalar, below the page header. */
import { decodePercent } from "../src/decode.ts";
import { anchorOf, tagFragment, UNTAGGED } from "../src/explorer/labels.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../src/json/values.ts";
import { operationsIn, SERVICE_TAG, TOKEN_SCHEME } from "../src/openapi/operations.ts";
import { InfoFollower } from "./head.ts";
import { absolute, hooks, send, token } from "./reference-calls.ts";
import {
  base,
  element,
  linkToOtherView,
  makeOwnerNote,
  showAddress,
  withoutLogin,
} from "./service.ts";

const mount = document.getElementById("scalar")!;
const spec = new URL("spec.json", base);
const loaded = fetch(spec);

new InfoFollower(() => false);
showAddress();
linkToOtherView(() => location.hash);
document.querySelector(".skip")!.addEventListener("click", skip);
await show().catch((error) => {
  document.querySelector("#loading span")!.textContent = "The reference cannot be loaded.";
  reportError(error);
});

async function show(): Promise<void> {
  // Otherwise, Zod, a part of Scalar, would compile code, which violates the content policy.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  const { scalar } = document.querySelector<HTMLScriptElement>("script[data-scalar]")!.dataset;
  const [description, { createApiReference }] = await Promise.all([
    loaded.then((response): Promise<JsonObject> => response.clone().json()),
    import(new URL(scalar!, withoutLogin(location.href)).href),
  ]);
  const isForeign = "foreign" in document.getElementById("node")!.dataset;
  const [server] = listOf(description.servers).map(objectOf);
  const isNear = textOf(server?.url)?.startsWith(".") ?? true;
  const redirect = (hash: string) => fragmentOf(description, decodePercent(hash.slice(1)));
  addEventListener("hashchange", () => {
    const fragment = redirect(location.hash);
    if (!fragment) return;
    history.replaceState(history.state, "", fragment);
    dispatchEvent(new PopStateEvent("popstate"));
  });
  if (isForeign) blockImages();
  createApiReference(mount, {
    url: spec.href,
    // Scalar would resolve a relative URL without the path prefix of the service.
    ...isNear && { servers: [{ url: absolute(textOf(server?.url) ?? ".") }] },
    authentication: { securitySchemes: askForToken(description) },
    slug: "spec",
    redirect,
    documentDownloadType: "direct",
    // By default, Scalar sends requests to its vendor's hosts.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: "never",
    hideClientButton: true,
    // Scalar's samples do not escape every text, so those of an untrusted description are hidden.
    hiddenClients: isForeign || [],
    persistAuth: false,
    customFetch: (input: RequestInfo | URL, init?: RequestInit) =>
      input.toString() === spec.href ? loaded : send(input, init),
    plugins: [() => ({ name: "nodeface", extensions: [], apiClientPlugins: [{ hooks }] })],
    tagsSorter: (a: JsonObject, b: JsonObject) =>
      Number(a.name === SERVICE_TAG) - Number(b.name === SERVICE_TAG),
  });
}

/** Scalar shows a secret in its samples, so the token is entered in the header. */
function askForToken(description: JsonObject): JsonObject {
  const schemes = objectOf(objectOf(description.components).securitySchemes);
  const [name] = Object.keys(schemes).filter((name) => name.startsWith(TOKEN_SCHEME));
  if (name === undefined) return {};
  const label = element("label", {}, "Your token ", token);
  document.querySelector("#other")!.before(makeOwnerNote(token), label);
  return { [name]: { token: "$NODEFACE_TOKEN" } };
}

function fragmentOf(description: JsonObject, anchor: string): string | undefined {
  const found = operationsIn(description).find(({ path, operation }) =>
    anchor !== "" && anchorOf(path, operation) === anchor
  );
  if (!found) return undefined;
  const [tag = UNTAGGED] = listOf(found.operation.tags).map(textOf);
  return `#${tagFragment(tag)}/${found.method}${found.path}`;
}

/** The images of a description from the network could have URLs of this service. */
function blockImages(): void {
  const content = `img-src ${new URL("favicon.ico", base)} data: blob:`;
  document.head.append(element("meta", { httpEquiv: "Content-Security-Policy", content }));
}

/** Scalar would take a changed fragment for one of its own. */
function skip(event: Event): void {
  event.preventDefault();
  const target = mount.querySelector("main") ?? mount;
  target.tabIndex = -1;
  target.focus();
}
