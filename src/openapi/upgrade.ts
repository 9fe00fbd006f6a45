/**
 * Converts Swagger 2.0 to OpenAPI 3.0. The input must be normalized (see `normalize.ts`), so that
 * every reference points to a shared definition.
 *
 * @module
 */
import { LIMITS } from "./diagnostics.ts";
import {
  filled,
  isEqual,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  present,
  setMember,
} from "../json/values.ts";
import { estimateSizeInSlices, mapMembersInSlices } from "../json/in-slices.ts";
import { memoize } from "../lazy.ts";
import { CopyBudget } from "./copy-budget.ts";
import { COMMON_METHODS, followReference, mapOperations } from "./operations.ts";
import { mapSchemas } from "./structure.ts";
import { membersIn, OPENAPI_3_0, SWAGGER } from "./tables.ts";

const CHANGED = /^(?:\$.*|parameters|responses|headers|definitions|discriminator)$/;

/** The names of the members that a Swagger object has in common with one of OpenAPI. */
const sharedNames = memoize((kinds: string): readonly string[] => {
  const [swagger = "", openapi = swagger] = kinds.split(" ");
  const names = membersIn(OPENAPI_3_0[openapi]).filter((name) => !CHANGED.test(name));
  return membersIn(SWAGGER[swagger]).filter((name) => names.includes(name));
});

const QUERY_STYLES: Readonly<Record<string, string>> = {
  csv: "form",
  ssv: "spaceDelimited",
  pipes: "pipeDelimited",
  multi: "form",
};

const FLOWS: Readonly<Record<string, string>> = {
  implicit: "implicit",
  password: "password",
  application: "clientCredentials",
  accessCode: "authorizationCode",
};

const FORMS = ["multipart/form-data", "application/x-www-form-urlencoded"];

/** @throws {RangeError} if the result would be many times as large as the document */
export async function upgradeSwagger(document: JsonObject): Promise<JsonObject> {
  const sizeMax = 2 * await estimateSizeInSlices(document) + LIMITS.added;
  const upgraded = await mapSchemas(document, document, upgradeSchema);
  return await new SwaggerConverter(upgraded, sizeMax).convert();
}

/** Converts a schema whose inner schemas have been converted. */
function upgradeSchema(schema: JsonObject): JsonObject {
  if (typeof schema.$ref === "string") {
    // Viewers show the description, although neither version lets it count.
    return { ...keep(schema, ["description"], false), $ref: redirect(schema.$ref) };
  }
  const { "x-nullable": isNullable, ...converted } = keep(schema, sharedNames("schema"));
  const types = listOf(schema.type);
  if (isNullable === true || types.includes("null")) converted.nullable = true;
  if (types.length > 0) {
    const [type, another] = types.filter((type) => type !== "null");
    delete converted.type;
    if (another === undefined && type !== undefined) converted.type = type;
  }
  if (schema.type === "file") Object.assign(converted, { type: "string", format: "binary" });
  if (typeof schema.discriminator === "string") {
    converted.discriminator = { propertyName: schema.discriminator };
  }
  return converted;
}

const simpleSchema = (value: JsonObject): JsonObject =>
  upgradeSchema(keep(value, [...sharedNames("simple schema"), "x-nullable"], false));

/** In many documents, a parameter has a schema, although Swagger allows that only in a body. */
function schemaOfParameter(parameter: JsonObject): JsonObject {
  const schema = objectOf(parameter.schema);
  // OpenAPI 3.0 ignores what stands beside a reference.
  const isRefused = typeof schema.$ref === "string" && parameter.type !== undefined;
  return { ...isRefused ? {} : schema, ...simpleSchema(parameter) };
}

class SwaggerConverter {
  readonly #document: JsonObject;
  readonly #sizeMax: number;
  readonly #produced: readonly string[];
  readonly #copies = new CopyBudget();
  #mediaTypes = 0;

  constructor(document: JsonObject, sizeMax: number) {
    this.#document = document;
    this.#produced = mediaTypes(document.produces);
    this.#sizeMax = sizeMax;
  }

  async convert(): Promise<JsonObject> {
    const document = this.#document;
    const { info, ...others } = keep(document, sharedNames("document"));
    const paths = await mapMembersInSlices(
      objectOf(document.paths),
      (item) => this.#pathItem(objectOf(item)),
    );
    const components = present({
      schemas: filled(objectOf(document.definitions)),
      parameters: await convertAll(
        document.parameters,
        (value) => this.#isBody(value) ? undefined : this.#parameter(value),
      ),
      responses: await convertAll(
        document.responses,
        (value) => this.#response(value, this.#produced),
      ),
      securitySchemes: await convertAll(document.securityDefinitions, convertScheme),
    });
    const converted = present({
      openapi: "3.0.4",
      info,
      servers: filled(serversOfSwagger(document)),
      ...others,
      paths,
      components: filled(components),
    });
    this.#checkSize(await estimateSizeInSlices(converted));
    return converted;
  }

  #checkSize(size: number): void {
    if (size <= this.#sizeMax) return;
    throw new RangeError("the converted document would be many times larger");
  }

  /**
   * Limits the total number of media types, since every operation may inherit all media types of
   * the document.
   */
  #content(types: readonly string[], mediaType: JsonObject): JsonObject {
    this.#mediaTypes += types.length;
    this.#checkSize(this.#mediaTypes);
    return Object.fromEntries(types.map((type) => [type, mediaType]));
  }

  #resolve(value: unknown): JsonObject {
    return followReference(this.#document, value);
  }

  #isBody(value: unknown): boolean {
    return /^(?:body|formData)$/.test(String(this.#resolve(value).in));
  }

  #parameter(parameter: JsonObject): JsonObject {
    if (typeof parameter.$ref === "string") return { $ref: redirect(parameter.$ref) };
    const { "x-example": extension, example = extension, ...converted } = keep(
      parameter,
      sharedNames("parameter"),
    );
    const place = String(parameter.in);
    if (place === "path") converted.required = true;
    if (place !== "query") delete converted.allowEmptyValue;
    return present({
      ...converted,
      ...styleOf(parameter, place),
      schema: schemaOfParameter(parameter),
      example,
    });
  }

  #parameters(all: readonly unknown[]): JsonObject[] | undefined {
    const others = all.filter((one) => !this.#isBody(one));
    return filled(others.map((one) => this.#parameter(objectOf(one))));
  }

  #body(parameters: readonly JsonObject[], consumes: unknown): JsonObject | undefined {
    const body = parameters.find((parameter) => parameter.in === "body");
    if (body) {
      const { schema = {}, example } = body;
      const content = this.#content(mediaTypes(consumes), present({ schema, example }));
      return { ...keep(body, sharedNames("parameter requestBody")), content };
    }
    const fields = parameters.filter((parameter) => parameter.in === "formData");
    if (fields.length === 0) return undefined;
    const [properties, encoding]: [JsonObject, JsonObject] = [{}, {}];
    for (const field of fields) {
      const name = String(field.name);
      const described = keep(field, ["description", "deprecated", "example"], false);
      setMember(properties, name, { ...schemaOfParameter(field), ...described });
      const style = styleOf(field, "query");
      if (style) setMember(encoding, name, style);
    }
    const required = fields.filter((field) => field.required === true).map(({ name }) => name);
    const schema = present({ type: "object", properties, required: filled(required) });
    const hasFile = fields.some(({ type }) => type === "file");
    const types = mediaTypes(consumes).filter((type) => FORMS.includes(type));
    const form = filled(types) ?? [hasFile ? FORMS[0]! : FORMS[1]!];
    return present({
      required: required.length > 0 || undefined,
      content: this.#content(form, present({ schema, encoding: filled(encoding) })),
    });
  }

  #response(response: JsonObject, produces: readonly string[]): JsonObject {
    if (typeof response.$ref === "string") return { $ref: redirect(response.$ref) };
    const { schema, examples, headers } = response;
    const types = schema === undefined ? [] : produces;
    const content = this.#content(types, { schema });
    for (const [type, example] of Object.entries(objectOf(examples))) {
      // Copies the object, since all members of `content` share it.
      if (type.includes("/")) setMember(content, type, { ...objectOf(content[type]), example });
    }
    const converted = mapMembers(objectOf(headers), (value) => {
      const header = objectOf(value);
      return { ...keep(header, sharedNames("header")), schema: simpleSchema(header) };
    });
    return present({
      description: "",
      ...keep(response, sharedNames("response")),
      headers: filled(converted),
      content: filled(content),
    });
  }

  /**
   * A shared response has the media types of the document. It is repeated for an operation with
   * other types, unless that would make the document too large.
   */
  #responses(responses: JsonObject, produces: readonly string[]): JsonObject {
    const hasOwnTypes = !isEqual(produces, this.#produced);
    return mapMembers(responses, (value, status) => {
      if (status.startsWith("x-")) return value;
      const response = objectOf(value);
      const target = this.#resolve(response);
      const isRepeated = hasOwnTypes && target !== response && target.schema !== undefined &&
        this.#copies.take([target, produces], produces.length);
      return this.#response(isRepeated ? target : response, produces);
    });
  }

  /** Fields of a form add to those of the path. */
  #bodies(own: readonly unknown[], inherited: readonly unknown[]): JsonObject[] {
    const [bodies, ofPath] = [own, inherited].map((all) =>
      all.filter((one) => this.#isBody(one)).map((one) => this.#resolve(one))
    ) as [JsonObject[], JsonObject[]];
    const isField = (one: JsonObject) => one.in === "formData";
    if (bodies.length === 0 || !bodies.every(isField)) return bodies.length > 0 ? bodies : ofPath;
    const names = new Set(bodies.map(({ name }) => name));
    return [...ofPath.filter((one) => isField(one) && !names.has(one.name)), ...bodies];
  }

  #operation(operation: JsonObject, inherited: readonly unknown[]): JsonObject {
    const { consumes, host, produces } = this.#document;
    const own = listOf(operation.parameters);
    const types = mediaTypes(operation.produces ?? produces);
    const { schemes } = operation;
    const hasSchemes = listOf(schemes).length > 0 && typeof host === "string";
    return present({
      ...keep(operation, sharedNames("operation")),
      parameters: this.#parameters(own),
      requestBody: this.#body(this.#bodies(own, inherited), operation.consumes ?? consumes),
      responses: this.#responses(objectOf(operation.responses), types),
      servers: hasSchemes ? serversOfSwagger({ ...this.#document, schemes }) : undefined,
    });
  }

  #pathItem(item: JsonObject): JsonObject {
    const shared = listOf(item.parameters);
    const kept = keep(item, COMMON_METHODS);
    return present({
      parameters: this.#parameters(shared),
      ...mapOperations(kept, ({ operation }) => this.#operation(operation, shared)),
    });
  }
}

function styleOf({ type, collectionFormat }: JsonObject, place: string): JsonObject | undefined {
  if (type !== "array") return undefined;
  const format = String(collectionFormat ?? "csv");
  const style = QUERY_STYLES[format];
  if (place !== "query") return format === "csv" ? { style: "simple" } : undefined;
  return style === undefined ? undefined : { style, explode: format === "multi" };
}

const convertAll = async (
  members: unknown,
  convert: (value: JsonObject) => unknown,
): Promise<JsonObject | undefined> =>
  filled(await mapMembersInSlices(objectOf(members), (value) => convert(objectOf(value))));

function serversOfSwagger({ host, basePath, schemes }: JsonObject): JsonObject[] {
  const path = typeof basePath === "string" ? basePath.replace(/^(?=[^/])/, "/") : "";
  if (typeof host !== "string") return path ? [{ url: path }] : [];
  const listed = listOf(schemes).slice(0, LIMITS.servers);
  return (listed.length > 0 ? listed : ["http"]).map((scheme) => ({
    url: `${String(scheme)}://${host}${path}`,
  }));
}

function convertScheme(scheme: JsonObject): JsonObject {
  const { type, flow, authorizationUrl, tokenUrl, scopes = {} } = scheme;
  const extensions = keep(scheme, ["description"]);
  if (type === "basic") return { type: "http", scheme: "basic", ...extensions };
  if (type !== "oauth2") return keep(scheme, sharedNames("securityScheme"));
  const name = FLOWS[String(flow)] ?? "implicit";
  const needsAuthorization = name === "implicit" || name === "authorizationCode";
  const urls = {
    ...needsAuthorization && { authorizationUrl },
    ...name !== "implicit" && { tokenUrl },
  };
  return { type, ...extensions, flows: { [name]: { ...urls, scopes } } };
}

function keep(value: JsonObject, names: readonly string[], hasExtensions = true): JsonObject {
  const isKept = (key: string) => names.includes(key) || (hasExtensions && key.startsWith("x-"));
  return { ...mapMembers(value, (member, key) => isKept(key) ? member : undefined) };
}

function mediaTypes(value: unknown): string[] {
  const types = listOf(value).filter((type): type is string => typeof type === "string");
  return filled(types) ?? ["application/json"];
}

const redirect = (ref: string): string =>
  ref.replace(/^#\/definitions\//, "#/components/schemas/")
    .replace(/^#\/(?=(?:parameters|responses)\/)/, "#/components/");
