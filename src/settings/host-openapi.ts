/**
 * The rules for what a host writes of OpenAPI 3.1: the keys of an operation and of a document, and the types
 * of what they have.
 *
 * @module
 */
import * as v from "valibot";
import { isPlainObject } from "../json/lossless.ts";
import { BOOLEAN, json, list, object, type Schema, type Settings } from "./schema.ts";

const TEXT: Schema = v.string("a text");
const OBJECT: Schema = v.custom(isPlainObject, "an object");
const OBJECTS = mapOf(OBJECT);
const TEXTS = list(TEXT, "a list of texts");

/** The schema of an OpenAPI operation object; a copy is taken. */
export function operationObject(): Schema {
  const fields = {
    tags: TEXTS,
    summary: TEXT,
    description: TEXT,
    externalDocs: externalDocs(),
    operationId: TEXT,
    parameters: list(OBJECT, "a list of parameters"),
    requestBody: OBJECT,
    responses: OBJECTS,
    callbacks: OBJECTS,
    deprecated: BOOLEAN,
    security: list(mapOf(TEXTS), "a list of security requirements"),
    servers: list(OBJECT, "a list of servers"),
  };
  return v.pipe(json, extensible({}, fields));
}

/** The schema of what a description says besides its operations; a copy is taken. */
export function documentParts(): Schema {
  const info = extensible({ title: TEXT, version: TEXT }, {
    summary: TEXT,
    description: TEXT,
    termsOfService: TEXT,
    contact: OBJECT,
    license: OBJECT,
  });
  const tag = extensible({ name: TEXT }, { description: TEXT, externalDocs: externalDocs() });
  const components = extensible({}, {
    // A schema may be true or false.
    schemas: OBJECT,
    responses: OBJECTS,
    parameters: OBJECTS,
    examples: OBJECTS,
    requestBodies: OBJECTS,
    headers: OBJECTS,
    securitySchemes: OBJECTS,
    links: OBJECTS,
    callbacks: OBJECTS,
    pathItems: OBJECTS,
  });
  const parts = object(optional({
    info,
    tags: list(tag, "a list of tags"),
    externalDocs: externalDocs(),
    components,
  }));
  return v.pipe(json, parts);
}

const externalDocs = (): Schema => extensible({ url: TEXT }, { description: TEXT });

/** An object of OpenAPI: keys that it needs, keys that it may have, and extensions. */
function extensible(needed: Settings, others: Settings): Schema {
  return object({ ...needed, ...optional(others) }, (key) => key.startsWith("x-"));
}

function optional(settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([key, schema]) => [key, v.optional(schema)]),
  );
}

function mapOf(of: Schema): Schema {
  return v.pipe(OBJECT, v.record(v.string(), of, "an object") as Schema);
}
