/**
 * What the page has for a form: lists without what is empty at their ends, in which 0 stands for what is left out.
 *
 * @module
 */

/** The form of an operation: its address begins with `/` where it is at this service. */
export type FormData = readonly [
  method: string,
  address: string,
  fields?: readonly FieldData[] | 0,
  body?: BodyData | 0,
  tokenScheme?: string | 0,
];

/** A parameter, where it stands, its type, its bits, its example, and what there is to choose from. */
export type FieldData = readonly [
  name: string,
  place: string,
  type?: string | 0,
  bits?: number,
  example?: string | 0,
  values?: readonly string[] | 0,
];

/** A body: its media type, its example, and whether there must be one. */
export type BodyData = readonly [type: string, example?: string | 0, isRequired?: number];

/** The bits: required; several values by the name again for each, or by commas; may hold slashes; the example is filled in. */
export const REQUIRED = 1, AGAIN = 2, COMMA = 4, SPANS = 8, FILLED = 16;
