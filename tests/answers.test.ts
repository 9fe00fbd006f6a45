import Ajv2020 from "ajv/dist/2020.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { ask } from "./_app.ts";

const answers = suite("every response matches the description");

type Reference = { $ref: string };
type Media = { schema?: object };
type Response_ = { headers?: Record<string, unknown>; content?: Record<string, Media> };
type Description = {
  paths: Record<string, { get: { responses: Record<string, Response_ | Reference> } }>;
};

const description: Description = await (await ask("/spec.json")).json();
// Ajv does not know the keywords and formats that only OpenAPI defines.
const ajv = new Ajv2020.default({
  code: { optimize: false },
  strict: false,
  validateFormats: false,
});
ajv.addSchema(description, "description");

const REQUESTS: readonly [status: number, query: string, headers: Record<string, string>][] = [
  [200, "", {}],
  [200, "", { "accept-encoding": "gzip" }],
  [304, "", { "if-none-match": "*" }],
  [400, "", { host: "a b" }],
  [414, `?${"a".repeat(8192)}`, {}],
];

for (const [path, { get }] of Object.entries(description.paths)) {
  if (!get.responses["304"]) continue;
  for (const [status, query, headers] of REQUESTS) {
    answers(`GET ${path} ${JSON.stringify(headers)}${query.slice(0, 2)}: ${status}`, async () => {
      // According to the Fetch standard, a `Request` drops the `Host` header.
      const request = {
        url: `http://localhost${path}${query}`,
        method: "GET",
        headers: new Headers(headers),
      };
      await check(await createNodeface().fetch(request as Request), get.responses, status);
    });
  }
}

async function check(
  response: Response,
  responses: Description["paths"][string]["get"]["responses"],
  status: number,
): Promise<void> {
  assert.is(response.status, status);
  const described = responses[status];
  assert.ok(described, `${status} is not described`);
  const { headers = {}, content } = resolve(described!);
  for (const name of Object.keys(headers)) {
    assert.ok(response.headers.has(name), `${name} is missing`);
  }
  if (!content) return assert.is(await response.text(), "");
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const media = content[type];
  assert.ok(media, `${type} is not described`);
  if (!/json$/.test(type) || response.headers.has("content-encoding")) return;
  const validate = ajv.compile({ $ref: `description${reference(media!)}` });
  assert.ok(validate(await response.json()), ajv.errorsText(validate.errors));
}

function resolve(response: Response_ | Reference): Response_ {
  if (!("$ref" in response)) return response;
  const name = response.$ref.split("/").at(-1)!;
  const { components } = description as unknown as {
    components: { responses: Record<string, Response_> };
  };
  return components.responses[name]!;
}

function reference(media: Media): string {
  return (media.schema as Reference).$ref;
}

answers.run();
