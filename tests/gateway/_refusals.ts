/**
 * Sends forbidden calls to a real node through the service, in as many different ways as possible.
 */
import { parseJson } from "../../src/json/lossless.ts";
import { listOf, objectOf } from "../../src/json/values.ts";
import type { KindInterface, RestOperation } from "../../src/kinds/interface.ts";
import { requestOf, resolved } from "../nodes/_ask-operations.ts";
import { type AskedNode, METHOD_NOT_FOUND, paramsOf } from "../nodes/_interface.ts";
import type { Beside } from "./_beside.ts";

export interface Tried {
  readonly operations: number;
  readonly requests: number;
  /** The requests whose response is not the expected refusal. */
  readonly wrong: readonly string[];
}

const NO_JSON = -32700;

/** The node's paths are below `/v1/node`, and at the root. */
const STARTS = ["/v1/node", ""];

/** Method names that the service must refuse unless the kind describes them. */
const UNKNOWN = [
  ...["anvil_mine", "evm_mine", "anvil_setBalance", "personal_unlockAccount", "admin_addPeer"],
  ...["generate", "setmocktime", "mockscheduler", "__proto__", "constructor", "toString", ""],
];

export async function tryRefused(
  parts: KindInterface,
  node: AskedNode,
  { ask, paths }: Beside,
): Promise<Tried> {
  const wrong: string[] = [];
  const { openrpc, openapi } = parts;
  let [operations, requests] = [0, 0];
  const read = openrpc?.methods.find((method) =>
    method["x-access"] === "read" && method.params.length === 0
  )?.name;

  const expect = async (
    statuses: readonly number[],
    [method, path, body]: readonly [method: string, path: string, body?: string | undefined],
    isRight: (text: string) => boolean = () => true,
  ) => {
    requests++;
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const response = await ask(path, { method, headers, ...body !== undefined && { body } });
    const text = await response.text();
    if (statuses.includes(response.status) && isRight(text)) return;
    wrong.push(`${method} ${path} ${body ?? ""}: ${response.status} ${text.slice(0, 200)}`);
  };
  /** Allowed calls have the ID `read`. All other calls must get the error. */
  const isError = (code: number) => (text: string) =>
    [parseJson(text)].flat().filter((answer) => objectOf(answer).id !== "read")
      .every((answer) => objectOf(objectOf(answer).error).code === code);

  const tryMethod = async (name: string, params: unknown) => {
    const method = JSON.stringify(name);
    const call = `{"jsonrpc":"2.0","id":1,"method":${method},"params":${JSON.stringify(params)}}`;
    const other = `{"jsonrpc":"2.0","id":"read","method":"${read}"}`;
    const twice = [
      `"method":"${read}","method":${method}`,
      `"method":${method},"method":"${read}"`,
    ];
    for (const path of ["/v1/rpc", openrpc?.path ?? "/"]) {
      await expect([200], ["POST", path, call], isError(METHOD_NOT_FOUND));
      await expect([200], ["POST", path, `[${other},${call},${other}]`], isError(METHOD_NOT_FOUND));
      for (const methods of twice) {
        const body = `{"jsonrpc":"2.0","id":1,${methods},"params":[]}`;
        await expect([400], ["POST", path, body], isError(NO_JSON));
        await expect([400], ["POST", path, `[${body}]`], isError(NO_JSON));
      }
    }
  };

  for (const method of openrpc?.methods ?? []) {
    if (method["x-access"] === "read") continue;
    operations++;
    const { name } = method;
    const values = paramsOf(method, node.known) ?? {};
    const path = `/v1/rpc/${name}`;
    // The description may omit methods that the node lacks. A call of an omitted method gets a 404
    // response.
    const isShown = Object.hasOwn(paths, path);
    await expect([isShown ? 403 : 404], ["POST", path, JSON.stringify(values)]);
    await expect([isShown ? 405 : 404], ["GET", path]);
    for (const start of STARTS) await expect([403, 404], ["POST", `${start}/${name}`, "{}"]);
    for (const odd of [name.toUpperCase(), ` ${name}`, `${name} `, `${name}\0`, `${name}/`]) {
      await expect([404], ["POST", `/v1/rpc/${encodeURIComponent(odd)}`, "{}"]);
      const call = JSON.stringify({ id: 1, method: odd });
      await expect([404], ["POST", "/v1/rpc", call], isError(METHOD_NOT_FOUND));
    }
    await tryMethod(name, values);
  }
  if (openrpc) {
    const isNamed = (name: string) => openrpc.methods.some((method) => method.name === name);
    for (const name of UNKNOWN.filter((name) => !isNamed(name))) {
      await tryMethod(name, []);
    }
    for (const path of ["/v1/node", "/v1/node/", "/v1/node/json_rpc", "/v1/node/wallet/wallet"]) {
      await expect([404, 405], ["POST", path, '{"id":1,"method":"stop"}']);
    }
  }

  for (const [template, item] of Object.entries(openapi?.paths ?? {})) {
    for (const [key, value] of Object.entries(item)) {
      const operation = value as RestOperation;
      if (key === "parameters" || operation["x-access"] === "read") continue;
      operations++;
      const method = key.toUpperCase();
      const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)]
        .map((parameter) => resolved(openapi!, parameter));
      const request = requestOf(openapi!, operation, template, parameters, node.known);
      const path = request?.path ?? template.replaceAll(/\{[^}]*\}/g, "x");
      const body = method === "GET" ? undefined : request?.body ?? "{}";
      const isShown = Object.hasOwn(paths, template);
      const [below = "", query] = path.split("?");
      const search = query === undefined ? "" : `?${query}`;
      // A lenient node might treat these variants of the path as the path itself.
      const odds = [below.toUpperCase(), `${below}/`, `${below};x`, `/${below}`];
      for (const start of STARTS) {
        await expect([isShown ? 403 : 404], [method, start + path, body]);
        for (const odd of odds) {
          await expect([400, 403, 404, 405], [method, `${start}${odd}${search}`, body]);
        }
      }
    }
  }
  return { operations, requests, wrong };
}
