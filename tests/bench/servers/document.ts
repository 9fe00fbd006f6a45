/** OpenAPI descriptions of any size. */

/** Where the operations of a description of about one kB each end. */
const TEXT = "Says what the thing is, what state it is in, and since when it has been so. ";

/**
 * Makes a description.
 *
 * @param count how many operations it has, each of about 1 kB
 */
export function makeDocument(count: number): object {
  const string = { type: "string", description: TEXT };
  const properties = Object.fromEntries(["id", "name", "state"].map((name) => [name, string]));
  const schema = { type: "object", properties };
  const operation = (i: number) => ({
    operationId: `getThing${i}`,
    tags: [`tag${i % 40}`],
    summary: `Get thing ${i}`,
    description: TEXT.repeat(4),
    parameters: [{ name: "depth", in: "query", schema: { type: "integer" } }],
    responses: { "200": { description: TEXT, content: { "application/json": { schema } } } },
  });
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`/things/${i}`, { get: operation(i) }]),
  );
  return { openapi: "3.1.1", info: { title: `${count} operations`, version: "1" }, paths };
}
