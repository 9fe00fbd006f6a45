/**
 * Adds to a description what Scalar shows beyond OpenAPI: badges, the names of JSON-RPC methods,
 * and examples from the node. Other readers ignore the badges.
 *
 * @module
 */
import { CALL_MARK, callNoteOf } from "../gateway/annotate-operations.ts";
import type { NodeExamples } from "../info/source-cache.ts";
import { parseJson } from "../json/lossless.ts";
import { isObject, type JsonObject, listOf, objectOf, setMember, textOf } from "../json/values.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { CopyBudget } from "../openapi/copy-budget.ts";
import { followReference, mapOperations, operationsOf } from "../openapi/operations.ts";
import { repeatableServers } from "../openapi/servers.ts";
import { pause } from "../slices.ts";
import {
  type FieldData,
  fillIn,
  type OperationForm,
  takesNumberOrBoolean,
} from "./form-request.ts";
import { methodNameOf, NOT_ENABLED, wordsOf } from "./labels.ts";
import type { Notes } from "./render-content.ts";

/**
 * Common operations come first. A JSON-RPC method is shown once, even if it has a `GET` and a
 * `POST`.
 */
export async function withScalarExtensions(
  document: JsonObject,
  examples: NodeExamples,
  notes: Notes = new Map(),
): Promise<JsonObject> {
  if (!isObject(document.paths)) return document;
  const common: JsonObject = {}, others: JsonObject = {};
  const copies = new CopyBudget();
  for (const [path, value] of Object.entries(document.paths)) {
    await pause();
    const item = objectOf(value);
    const isOne = item[ONE_METHOD] === true;
    const shown = mapOperations(item, ({ method, operation }) => {
      const { call: note = "", form } = notes.get(`${method} ${path}`) ?? {};
      return {
        ...operation,
        ...withText(path, operation, note, isOne),
        ...form && withExamples(document, operation, form, fillIn(form, examples)),
        ...isOne && method === "POST" && { "x-scalar-ignore": true },
        ...badgesOf(operation, note),
        ...withServer(operation, item, copies),
      };
    });
    const isCommon = operationsOf(item).some(({ operation }) => operation["x-common"] === true);
    setMember(isCommon ? common : others, path, shown);
  }
  return { ...document, paths: { ...common, ...others } };
}

/** The note comes first. Scalar lists an operation by its summary. */
function withText(path: string, operation: JsonObject, note: string, isOne: boolean): JsonObject {
  const name = methodNameOf(path);
  if (!name && !note) return {};
  const also = isOne ? "Also available as `POST`, with the parameters as a JSON object." : "";
  const about = callNoteOf(operation).description;
  const texts = [note, name && textOf(operation.summary), about, also];
  const description = texts.filter(Boolean).join("\n\n");
  return name ? { summary: name, description } : { description };
}

/** Adds the values of a form that come from the node. */
function withExamples(
  document: JsonObject,
  { parameters, requestBody }: JsonObject,
  { fields }: OperationForm,
  texts: readonly string[],
): JsonObject {
  const texted = fields.map((field, at) => ({ ...field, text: texts[at] ?? "" }))
    .filter(({ sources, text }) => sources && text !== "");
  const changed = listOf(parameters).map((value) => {
    const parameter = followReference(document, value);
    const field = texted.find(({ name, in: place }) =>
      name === parameter.name && place === parameter.in
    );
    if (!field) return value;
    const { examples: _, ...others } = parameter;
    return { ...others, example: valueOfField(field) };
  });
  const body = texted.find((field) => field.in === "body");
  return {
    ...changed.length > 0 && { parameters: changed },
    ...body && { requestBody: withExample(followReference(document, requestBody), body) },
  };
}

/** The node's values are texts, also where it sends a number. */
function valueOfField(field: Pick<FieldData, "types"> & { readonly text: string }) {
  const { text } = field;
  try {
    return takesNumberOrBoolean(field) ? parseJson(text) : text;
  } catch {
    return text;
  }
}

function withExample(
  body: JsonObject,
  { mediaType = "", text }: Pick<FieldData, "mediaType"> & { readonly text: string },
): JsonObject {
  const content = objectOf(body.content);
  const { examples: _, ...media } = objectOf(content[mediaType]);
  const changed = { ...media, example: parseJson(text) };
  return { ...body, content: { ...content, [mediaType]: changed } };
}

function badgesOf(operation: JsonObject, note: string): JsonObject {
  const words = wordsOf(operation);
  // While calls are switched off, no operation has a permission.
  if (note && operation[CALL_MARK] === undefined) words.push(NOT_ENABLED);
  const badges = words.map((name) => ({ name }));
  return badges.length > 0 ? { "x-badges": badges } : {};
}

/** Scalar ignores the servers of a path item, and needs to know which server is selected. */
function withServer({ servers }: JsonObject, item: JsonObject, copies: CopyBudget): JsonObject {
  const all = servers ?? (item.servers && repeatableServers(item.servers, copies));
  const url = textOf(objectOf(listOf(all)[0]).url);
  return url === undefined ? {} : { servers: all, "x-scalar-selected-server": url };
}
