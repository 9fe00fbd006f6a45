/**
 * Reads the parameters of a call of a method. The parameters of a JSON-RPC call are sent as they
 * came; those of a method that is called as an operation are put into their places.
 *
 * @module
 */
import { DuplicateKeyError, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { jsonOfText } from "../json/typed-text.ts";
import type { NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
import { QUANTITY } from "../openapi/parameter-schema.ts";
import { checkParams, readQuery, refusalOfParameter } from "./check.ts";
import { CALL_DEPTH_MAX } from "./content.ts";
import type { Refusal } from "./refusal.ts";

/** The parameters to send. */
export interface SentParams {
  /** JSON text, or `undefined` to send no parameters. */
  readonly params: string | undefined;
  readonly isHeavy: boolean;
}

/**
 * @param given the text of a JSON array or object
 * @param isOperationCall true if the method is called as an operation, with an object of parameters
 * @throws {Refusal} if a parameter has no place, or a checked method must not have it
 */
export async function readParams(
  operation: NodeOperation,
  given: string | undefined,
  { isOperationCall = false }: { readonly isOperationCall?: boolean } = {},
): Promise<SentParams> {
  const { parameters, isHeavy, isChecked } = operation;
  if (!parameters) {
    if (isChecked) {
      throw refusalOfParameter("body", "", "cannot be checked, since no parameter is described");
    }
    // An object without members stands for no parameters: many nodes take a list only.
    const hasNone = isOperationCall && /^\s*\{\s*\}\s*$/.test(given ?? "");
    return { params: hasNone ? undefined : given, isHeavy };
  }
  if (!isOperationCall && !isChecked) {
    return { params: given, isHeavy: isHeavy || await isMadeHeavy(parameters, given) };
  }
  const { texts, isList, fault } = await placeParams(parameters, given ?? "[]", isChecked);
  if (fault) throw fault;
  if (isChecked) await checkParams(parameters, texts);
  // What is not checked is sent as it came, if the node can find the places.
  const params = isList && !isChecked ? given : writeParams(operation, parameters, texts, isList);
  return { params, isHeavy: isHeavy || anyMakesHeavy(parameters, texts) };
}

/** A call whose parameters have no places is heavy, if some parameters make it so. */
async function isMadeHeavy(
  parameters: readonly NodeParameter[],
  given: string | undefined,
): Promise<boolean> {
  if (parameters.every(({ heavyFrom }) => heavyFrom === undefined)) return false;
  const { texts, fault } = await placeParams(parameters, given ?? "[]", false);
  return fault !== undefined || anyMakesHeavy(parameters, texts);
}

interface PlacedParams {
  /** The JSON texts by position. */
  readonly texts: readonly (string | undefined)[];
  readonly isList: boolean;
  /** Present if a parameter has no place. */
  readonly fault?: Refusal | undefined;
}

async function placeParams(
  parameters: readonly NodeParameter[],
  text: string,
  isChecked: boolean,
): Promise<PlacedParams> {
  const names = parameters.map(({ name }) => name);
  const { length } = names;
  let fault: Refusal | undefined;
  const wanted = {
    levels: 1,
    items: length,
    member(name: string) {
      const isKnown = names.includes(name);
      if (!isKnown) fault ??= refusalOfParameter("body", name, "is unknown");
      return isKnown;
    },
    duplicates: isChecked ? "refused" : "refused-if-wanted",
  } as const;
  try {
    const { items, members, count } = await readParts(text, wanted, CALL_DEPTH_MAX);
    const texts = names.map((name, at) => members?.get(name) ?? items?.[at])
      .map((part) => part && textOfPart(text, part));
    if (isChecked && items && count > length) {
      const rule = `takes at most ${length} parameter${length === 1 ? "" : "s"}, got ${count}`;
      fault = refusalOfParameter("body", "", rule);
    }
    return { texts, isList: items !== undefined, fault };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const rule = error instanceof DuplicateKeyError
      ? "has a parameter twice"
      : `has parameters that are ${error.message}`;
    return { texts: [], isList: false, fault: refusalOfParameter("body", "", rule) };
  }
}

const anyMakesHeavy = (
  parameters: readonly NodeParameter[],
  texts: PlacedParams["texts"],
): boolean => parameters.some((parameter, at) => makesHeavy(parameter, texts[at]));

/** A text counts as heavy, since the node may read it as a number. `true` counts as 1. */
function makesHeavy({ heavyFrom }: NodeParameter, text: string = "null"): boolean {
  if (typeof heavyFrom === "string") return JSON.parse(text) === heavyFrom;
  if (heavyFrom === undefined || /^(?:null|false)$/.test(text)) return false;
  return !((text === "true" ? 1 : Number(text)) < heavyFrom);
}

/** Tells whether a parameter is missing before one that is given. */
const hasGap = (texts: readonly (string | undefined)[]): boolean =>
  texts.slice(0, texts.findLastIndex((text) => text !== undefined)).includes(undefined);

/** Empty parameters are omitted, since a method that expects an array may refuse an object. */
function writeParams(
  { isByPosition, isByNameToo }: NodeOperation,
  parameters: readonly NodeParameter[],
  texts: PlacedParams["texts"],
  isList: boolean,
): string | undefined {
  const length = texts.findLastIndex((text) => text !== undefined) + 1;
  if (length === 0) return undefined;
  // Many nodes that are described to take both take only a list. It cannot omit a parameter.
  if (isList || (isByPosition && !(isByNameToo && hasGap(texts)))) {
    return `[${texts.slice(0, length).map((text) => text ?? "null").join(",")}]`;
  }
  const members = parameters.flatMap(({ name }, at) =>
    texts[at] === undefined ? [] : `${JSON.stringify(name)}:${texts[at]}`
  );
  return `{${members.join(",")}}`;
}

/**
 * Returns the parameters in a query as the text of a JSON object.
 *
 * @throws {Refusal} if a name is unknown or stands twice
 */
export function paramsOfQuery({ parameters = [] }: NodeOperation, query: string): string {
  const members = [...readQuery(query)].map(([name, texts]) => {
    const parameter = parameters.find((one) => one.name === name);
    if (!parameter) throw refusalOfParameter("query", name, "is unknown");
    if (texts.length > 1) throw refusalOfParameter("query", name, "must be given only once");
    return texts.map((text) => `${JSON.stringify(name)}:${jsonOf(text, parameter.types ?? [])}`);
  });
  return `{${members.flat().join(",")}}`;
}

/** Makes of a text the JSON text of a value that the method takes: see `typesIn`. */
function jsonOf(text: string, types: readonly string[]): string {
  const word = text.trim();
  const isQuantity = types.includes(QUANTITY) && !types.includes("integer") &&
    !types.includes("number") && /^\d+$/.test(word);
  return isQuantity ? `"0x${BigInt(word).toString(16)}"` : jsonOfText(text, types);
}
