/**
 * Finds example values in the responses to other operations, such as the id of a transaction in
 * the latest block. Used by the page's script, and for the examples of the description.
 *
 * @module
 */
import { type JsonObject, textOf } from "../json/values.ts";
import type { Reference } from "../kinds/parts.ts";
import {
  canBeSent,
  fillIn,
  type OperationForm,
  parsed,
  takesNumberOrBoolean,
} from "./form-request.ts";

export interface ExampleSources {
  /** The values by their places. Those that are found are added. */
  readonly examples: Record<Reference, string>;
  /** Returns the form of the operation with a fragment, such as `op/getblock`. */
  formAt(anchor: string): OperationForm | undefined;
  /** Calls an operation, and resolves to its response as a JSON value. */
  call(form: OperationForm, texts: readonly string[]): Promise<unknown>;
}

const EXAMPLE = /^[\w.:+/=-]{1,65536}$/;

/** Rejects if an operation cannot be called. Only reads without a token are called. */
export async function findExamples(form: OperationForm, from: ExampleSources): Promise<void> {
  const { examples } = from;
  for (const source of form.fields.flatMap(({ sources = [] }) => sources)) {
    const [anchor = "", pointer = ""] = source.split("#");
    const other = from.formAt(anchor);
    if (Object.hasOwn(examples, source) || !other || other.isWrite || other.token) continue;
    await findExamples(other, from);
    const texts = fillIn(other, examples);
    if (!canBeSent(other, texts)) continue;
    let value = await from.call(other, texts);
    for (const name of pointer.split("/").slice(1)) value = (Object(value) as JsonObject)[name];
    const text = textOf(value);
    if (text !== undefined && EXAMPLE.test(text)) examples[source] = text;
  }
}

/** The parameters of a JSON-RPC method, by position. Those of a body are required, and in order. */
export function paramsOf({ fields }: OperationForm, texts: readonly string[]): unknown[] {
  return fields.flatMap((field, at) => {
    const text = texts[at] ?? "";
    if (text === "") return [];
    if (field.in === "body") return Object.values(JSON.parse(text));
    return [takesNumberOrBoolean(field) ? parsed(text) ?? text : text];
  });
}
