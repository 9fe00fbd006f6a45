/** Calls the REST operations of kinds on real nodes. */
import {
  formatPointer,
  type JsonObject,
  listOf,
  objectOf,
  resolveFragment,
} from "../../src/json/values.ts";
import { parseJson } from "../../src/json/lossless.ts";
import { multiSegmentOf, type OpenApiPart, type RestOperation } from "../../src/kinds/interface.ts";
import { type AskedNode, checkAt, isHarmless, type Outcome } from "./_interface.ts";

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"];

export async function askOperations(part: OpenApiPart, node: AskedNode): Promise<Outcome[]> {
  const check = checkAt(part);
  const outcomes: Outcome[] = [];
  for (const [template, item] of Object.entries(part.paths)) {
    for (const method of METHODS.filter((method) => Object.hasOwn(item, method))) {
      const operation = item[method] as RestOperation;
      if (!isHarmless(operation, node)) continue;
      const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)]
        .map((parameter) => resolved(part, parameter));
      const request = requestOf(part, operation, template, parameters, node.known);
      if (!request) continue;
      const { status, type, text } = await node.request!(method.toUpperCase(), request);
      const asked = { name: operation.operationId, params: request.params };
      // A node that lacks an operation responds with 404 or 501. If the path has other methods, the
      // status is 405.
      const exists = status < 400 || (status !== 404 && status !== 405 && status !== 501);
      const key = [String(status), `${String(status)[0]}XX`].find((key) =>
        Object.hasOwn(operation.responses, key)
      );
      const path = key && pathOfContent(part, template, method, key, type);
      if (status >= 400 || !key) {
        outcomes.push({ ...asked, exists, mistake: `gets ${status} ${text.slice(0, 200)}` });
      } else if (!path) {
        const mistake = type && `gets ${type}, which is not described`;
        outcomes.push({ ...asked, exists, ...mistake && { mistake } });
      } else if (resolveFragment(part, `${path}/schema`) === undefined) {
        outcomes.push({ ...asked, exists, result: text });
      } else {
        const result = /\bjson\b/.test(type) ? parseJson(text) : text;
        outcomes.push({ ...asked, exists, result, ...check(`${path}/schema`, result) });
      }
    }
  }
  return outcomes;
}

export interface RestRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The content, as JSON. */
  readonly body?: string;
  /** The request content has the key `body`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Returns `undefined` if a required value is unknown. */
export function requestOf(
  part: OpenApiPart,
  { operationId, requestBody }: RestOperation,
  template: string,
  parameters: readonly JsonObject[],
  known: AskedNode["known"],
): RestRequest | undefined {
  const params: Record<string, unknown> = {};
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let path = (part.servers?.[0]?.url ?? "") + template;
  for (const parameter of parameters) {
    const name = String(parameter.name);
    const own = known[`${operationId}.${name}`];
    const { const: only } = objectOf(parameter.schema);
    const value = parameter.required ? own ?? known[name] ?? parameter.example ?? only : own;
    if (value === undefined) {
      if (parameter.required) return undefined;
      continue;
    }
    params[name] = value;
    const text = String(value);
    if (parameter.in === "path") {
      const safe = multiSegmentOf(parameter) === true ? encodeURI(text) : encodeURIComponent(text);
      path = path.replace(`{${name}}`, () => safe);
    } else if (parameter.in === "header") headers[name] = text;
    else query.append(name, text);
  }
  const search = query.size > 0 ? `?${query}` : "";
  const content = known[`${operationId}.body`];
  if (content === undefined) {
    const isNeeded = requestBody && resolved(part, requestBody).required;
    return isNeeded ? undefined : { path: path + search, headers, params };
  }
  headers["content-type"] = "application/json";
  const body = JSON.stringify(content);
  return { path: path + search, headers, body, params: { ...params, body: content } };
}

/** Returns a JSON pointer to the description of the response's content. */
function pathOfContent(
  part: OpenApiPart,
  template: string,
  method: string,
  status: string,
  type: string,
): string | undefined {
  const path = ["paths", template, method, "responses", status];
  const { $ref } = objectOf(resolveFragment(part, formatPointer(path)));
  const start = typeof $ref === "string" ? $ref.slice(1) : formatPointer(path);
  const [mediaType = ""] = type.split(";");
  const pointer = `${start}${formatPointer(["content", mediaType.trim().toLowerCase()])}`;
  return resolveFragment(part, pointer) === undefined ? undefined : pointer;
}

export function resolved(part: OpenApiPart, value: unknown): JsonObject {
  const { $ref } = objectOf(value);
  return objectOf(typeof $ref === "string" ? resolveFragment(part, $ref.slice(1)) : value);
}
