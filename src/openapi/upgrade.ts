/**
 * Converts Swagger 2.0 to OpenAPI 3.0. The input must be normalized (see `normalize.ts`), so that every reference points
 * to a shared definition.
 *
 * @module
 */
import { LIMITS } from "./diagnostics.ts";
import {
  estimateSize,
  isObject,
  type Json,
  listOf,
  mapMembers,
  objectOf,
  setMember,
} from "../json/values.ts";
import { mapMembersInSlices } from "../json/in-slices.ts";
import { pause } from "../slices.ts";
import { COMMON_METHODS, followReference } from "./operations.ts";
import { type Shape, shapeOfMember, structureOf } from "./structure.ts";
import { membersIn, OPENAPI_3_0, SWAGGER } from "./tables.ts";

const CHANGED = /^(?:\$.*|parameters|responses|headers|definitions|discriminator)$/;

const shared = (swagger: string, openapi: string = swagger): string[] =>
  membersIn(SWAGGER[swagger]).filter((key) =>
    membersIn(OPENAPI_3_0[openapi]).includes(key) && !CHANGED.test(key)
  );

const KEPT = {
  document: shared("document"),
  operation: shared("operation"),
  parameter: shared("parameter"),
  body: shared("parameter", "requestBody"),
  response: shared("response"),
  header: shared("header"),
  scheme: shared("securityScheme"),
  simple: [...shared("items", "schema"), "x-nullable"],
  schema: shared("schema"),
};

const STYLES: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  query: {
    csv: { style: "form", explode: false },
    ssv: { style: "spaceDelimited", explode: false },
    pipes: { style: "pipeDelimited", explode: false },
    multi: { style: "form", explode: true },
  },
  path: { csv: { style: "simple" } },
  header: { csv: { style: "simple" } },
};

const FLOWS: Readonly<Record<string, string>> = {
  implicit: "implicit",
  password: "password",
  application: "clientCredentials",
  accessCode: "authorizationCode",
};

const FORMS = ["multipart/form-data", "application/x-www-form-urlencoded"];

/** @throws {RangeError} if the result would be many times as large as the document */
export async function upgradeSwagger(document: Json): Promise<Json> {
  const structure = structureOf(document);
  const schemas = new Map<unknown, unknown>();
  const most = 2 * estimateSize(document) + LIMITS.added;
  const checkSize = (size: number) => {
    if (size > most) throw new RangeError("the converted document would be many times larger");
  };
  let made = 0;
  /** Limits the total number of media types, since every operation may inherit all media types of the document. */
  const contentOf = (types: readonly string[], mediaType: Json): Json => {
    made += types.length;
    checkSize(made);
    return Object.fromEntries(types.map((type) => [type, mediaType]));
  };
  const resolve = (value: unknown) => followReference(document, value);
  const isBody = (value: unknown) => /^(?:body|formData)$/.test(String(resolve(value).in));
  function upgradeSchema(value: unknown, shape: Shape = "schema"): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = schemas.get(value);
    if (known) return known;
    if (Array.isArray(value)) return value.map((item) => upgradeSchema(item, "schema"));
    const schema = value as Json;
    if (shape.startsWith("{")) return mapMembers(schema, (member) => upgradeSchema(member));
    if (typeof schema.$ref === "string") return { $ref: redirect(schema.$ref) };
    const upgradeMember = (member: unknown, key: string) => {
      const inner = shapeOfMember(structure, "schema", key);
      return inner !== undefined && /schema/.test(inner) ? upgradeSchema(member, inner) : member;
    };
    const { "x-nullable": _, ...upgraded } = mapMembers(keep(schema, KEPT.schema), upgradeMember);
    const types = listOf(schema.type);
    if (schema["x-nullable"] === true || types.includes("null")) upgraded.nullable = true;
    if (types.length > 0) {
      const [type, another] = types.filter((type) => type !== "null");
      delete upgraded.type;
      if (another === undefined && type !== undefined) upgraded.type = type;
    }
    if (schema.type === "file") Object.assign(upgraded, { type: "string", format: "binary" });
    if (typeof schema.discriminator === "string") {
      upgraded.discriminator = { propertyName: schema.discriminator };
    }
    schemas.set(value, upgraded);
    return upgraded;
  }

  const simpleSchema = (value: Json) => upgradeSchema(keep(value, KEPT.simple, false)) as Json;

  function upgradeParameter(parameter: Json): Json {
    if (typeof parameter.$ref === "string") return { $ref: redirect(parameter.$ref) };
    const { "x-example": example, ...upgraded } = keep(parameter, KEPT.parameter);
    const { collectionFormat = "csv" } = parameter;
    const place = String(parameter.in);
    if (place === "path") upgraded.required = true;
    if (place !== "query") delete upgraded.allowEmptyValue;
    const style = parameter.type === "array" && STYLES[place]?.[String(collectionFormat)];
    const schema = simpleSchema(parameter);
    return { ...upgraded, ...style, schema, ...example !== undefined && { example } };
  }

  const upgradeParameters = (all: readonly unknown[]): Json[] =>
    all.filter((one) => !isBody(one)).map((one) => upgradeParameter(objectOf(one)));

  function upgradeBody(parameters: readonly Json[], consumes: unknown): Json | undefined {
    const body = parameters.find((parameter) => parameter.in === "body");
    if (body) {
      const schema = upgradeSchema(body.schema ?? {});
      const content = contentOf(mediaTypes(consumes), { schema });
      return { ...keep(body, KEPT.body), content };
    }
    const fields = parameters.filter((parameter) => parameter.in === "formData");
    if (fields.length === 0) return undefined;
    const [properties, encoding]: [Json, Json] = [{}, {}];
    for (const field of fields) {
      const name = String(field.name);
      const { description } = field;
      const schema = simpleSchema(field);
      setMember(properties, name, { ...schema, ...description !== undefined && { description } });
      const style = STYLES.query![String(field.collectionFormat ?? "csv")];
      if (field.type === "array" && style) setMember(encoding, name, style);
    }
    const required = fields.filter((field) => field.required === true).map(({ name }) => name);
    const schema = { type: "object", properties, ...required.length > 0 && { required } };
    const hasFile = fields.some(({ type }) => type === "file");
    const types = mediaTypes(consumes).filter((type) => FORMS.includes(type));
    const form = types.length > 0 ? types : [hasFile ? FORMS[0]! : FORMS[1]!];
    const hasEncoding = Object.keys(encoding).length > 0;
    return { content: contentOf(form, { schema, ...hasEncoding && { encoding } }) };
  }

  function upgradeResponse(response: Json, produces: readonly string[]): Json {
    if (typeof response.$ref === "string") return { $ref: redirect(response.$ref) };
    const { schema, examples, headers } = response;
    const types = schema === undefined ? [] : produces;
    const content = contentOf(types, { schema: upgradeSchema(schema) });
    for (const [type, example] of Object.entries(objectOf(examples))) {
      // Copies the object, since all members of `content` share it.
      if (type.includes("/")) setMember(content, type, { ...objectOf(content[type]), example });
    }
    const upgraded = mapMembers(objectOf(headers), (value) => {
      const header = objectOf(value);
      return { ...keep(header, KEPT.header), schema: simpleSchema(header) };
    });
    return {
      description: "",
      ...keep(response, KEPT.response),
      ...Object.keys(upgraded).length > 0 && { headers: upgraded },
      ...Object.keys(content).length > 0 && { content },
    };
  }

  function upgradeOperation(operation: Json, inherited: readonly unknown[]): Json {
    const { consumes = document.consumes, produces, schemes } = operation;
    const own = listOf(operation.parameters);
    const parameters = upgradeParameters(own);
    const bodies = own.some(isBody) ? own.filter(isBody) : inherited.filter(isBody);
    const requestBody = upgradeBody(bodies.map(resolve), consumes);
    const types = mediaTypes(produces ?? document.produces);
    const responses = mapMembers(
      objectOf(operation.responses),
      (value, status) => status.startsWith("x-") ? value : upgradeResponse(objectOf(value), types),
    );
    return {
      ...keep(operation, KEPT.operation),
      ...parameters.length > 0 && { parameters },
      ...requestBody && { requestBody },
      responses,
      ...listOf(schemes).length > 0 && typeof document.host === "string" && {
        servers: serversOf({ ...document, schemes }),
      },
    };
  }

  function upgradePathItem(item: Json): Json {
    const parameters = listOf(item.parameters);
    const upgraded: Json = keep(item, []);
    const simple = upgradeParameters(parameters);
    if (simple.length > 0) upgraded.parameters = simple;
    for (const method of COMMON_METHODS.filter((method) => isObject(item[method]))) {
      upgraded[method] = upgradeOperation(item[method] as Json, parameters);
    }
    return upgraded;
  }
  const { info, ...others } = keep(document, KEPT.document);
  const servers = serversOf(document);
  const paths = await mapMembersInSlices(
    objectOf(document.paths),
    (item, path) => path.startsWith("x-") ? item : upgradePathItem(objectOf(item)),
  );
  const produced = mediaTypes(document.produces);
  const components = {
    schemas: await upgradeAll(document.definitions, (schema) => upgradeSchema(schema)),
    parameters: await upgradeAll(
      document.parameters,
      (value) => isBody(value) ? undefined : upgradeParameter(value),
    ),
    responses: await upgradeAll(document.responses, (value) => upgradeResponse(value, produced)),
    securitySchemes: await upgradeAll(document.securityDefinitions, upgradeScheme),
  };
  const filled = Object.entries(components).filter(([, all]) => Object.keys(all).length > 0);
  const upgraded = {
    openapi: "3.0.4",
    ...info !== undefined && { info },
    ...servers.length > 0 && { servers },
    ...others,
    paths,
    ...filled.length > 0 && { components: Object.fromEntries(filled) },
  };
  await pause();
  checkSize(estimateSize(upgraded));
  return upgraded;
}

const upgradeAll = (members: unknown, upgrade: (value: Json) => unknown): Promise<Json> =>
  mapMembersInSlices(objectOf(members), (value) => upgrade(objectOf(value)));

function serversOf({ host, basePath, schemes }: Json): Json[] {
  const path = typeof basePath === "string" ? basePath : "";
  if (typeof host !== "string") return path ? [{ url: path }] : [];
  const listed = listOf(schemes).slice(0, LIMITS.servers);
  return (listed.length > 0 ? listed : ["http"]).map((scheme) => ({
    url: `${String(scheme)}://${host}${path}`,
  }));
}

function upgradeScheme(scheme: Json): Json {
  const { type, flow, authorizationUrl, tokenUrl, scopes = {} } = scheme;
  const extensions = keep(scheme, ["description"]);
  if (type === "basic") return { type: "http", scheme: "basic", ...extensions };
  if (type !== "oauth2") return keep(scheme, KEPT.scheme);
  const name = FLOWS[String(flow)] ?? "implicit";
  const needsAuthorization = name === "implicit" || name === "authorizationCode";
  const url = {
    ...needsAuthorization && { authorizationUrl },
    ...name !== "implicit" && { tokenUrl },
  };
  return { type, ...extensions, flows: { [name]: { ...url, scopes } } };
}

function keep(value: Json, names: readonly string[], hasExtensions = true): Json {
  const isKept = (key: string) => names.includes(key) || (hasExtensions && key.startsWith("x-"));
  return { ...mapMembers(value, (member, key) => isKept(key) ? member : undefined) };
}

function mediaTypes(value: unknown): string[] {
  const types = listOf(value).filter((type): type is string => typeof type === "string");
  return types.length > 0 ? types : ["application/json"];
}

const redirect = (ref: string): string =>
  ref.replace(/^#\/definitions\//, "#/components/schemas/")
    .replace(/^#\/(?=(?:parameters|responses)\/)/, "#/components/");
