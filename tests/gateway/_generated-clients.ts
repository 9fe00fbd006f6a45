/**
 * Generators of clients, and a program for each generator that calls an operation of the service
 * and two of the node. The only configuration of each program is the address of the service.
 */
import { ROOT } from "../_paths.ts";

/** An operation of a node. */
export interface Called {
  readonly operationId: string;
  readonly path: string;
  /** The values of the path's parameters. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The body of a POST. */
  readonly body?: unknown;
}

export interface Generator {
  readonly name: string;
  /** The command that writes the client for `spec.json` to its working directory. */
  readonly command: readonly string[];
  /** Further files for the command. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Writes the program. It gets the address as `BASE`, and passes the results to `show`. */
  program(operations: readonly Called[]): string;
}

const TOOLS = `${ROOT}tests/tools/node_modules/`;

const camelCase = (name: string) =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const nameOf = ({ operationId }: Called) => camelCase(operationId);
const isPost = ({ body }: Called) => body !== undefined;
const lines = (...parts: readonly string[]) => parts.join("\n");

/** Calls a function with the values of the path's parameters and the body as arguments. */
const positional = (prefix: string, suffix: string) => (called: Called) => {
  const values = Object.values(called.values ?? {});
  const args = [...values, ...isPost(called) ? [called.body] : []];
  return `  (await ${prefix}${nameOf(called)}(${
    args.map((value) => JSON.stringify(value)).join(", ")
  }))${suffix},`;
};

export const GENERATORS: readonly Generator[] = [
  {
    name: "openapi-typescript and openapi-fetch",
    command: [
      `${ROOT}tests/node_modules/openapi-typescript/bin/cli.js`,
      ...["spec.json", "-o", "api.ts"],
    ],
    program: (operations) =>
      lines(
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.ts";',
        "const client = createClient<paths>({ baseUrl: BASE });",
        "show(",
        '  (await client.GET("/v1/info")).data,',
        ...operations.map((called) => {
          const { path, values, body } = called;
          const options = { ...values && { params: { path: values } }, ...body ? { body } : {} };
          const method = isPost(called) ? "POST" : "GET";
          return `  (await client.${method}("${path}", ${JSON.stringify(options)})).data,`;
        }),
        ");",
      ),
  },
  {
    name: "hey-api",
    command: [
      `${TOOLS}@hey-api/openapi-ts/bin/run.js`,
      ...["-i", "spec.json", "-o", "made", "--no-log-file"],
    ],
    program: (operations) =>
      lines(
        'import { client } from "./made/client.gen.ts";',
        'import * as sdk from "./made/index.ts";',
        "client.setConfig({ baseUrl: BASE });",
        "show(",
        "  (await sdk.nodefaceGetInfo()).data,",
        ...operations.map((called) => {
          const { values, body } = called;
          const options = JSON.stringify({
            ...values && { path: values },
            ...body ? { body } : {},
          });
          return `  (await sdk.${nameOf(called)}(${options})).data,`;
        }),
        ");",
      ),
  },
  {
    name: "orval",
    command: [`${TOOLS}orval/dist/bin/orval.mjs`, "--config", "orval.config.mjs"],
    files: {
      "orval.config.mjs": `export default {
        node: {
          input: "spec.json",
          output: { target: "api.ts", client: "fetch", baseUrl: process.env.BASE },
        },
      };`,
    },
    program: (operations) =>
      lines(
        'import * as api from "./api.ts";',
        "show(",
        "  (await api.nodefaceGetInfo()).data,",
        ...operations.map(positional("api.", ".data")),
        ");",
      ),
  },
  {
    name: "kubb",
    command: [
      `${TOOLS}@kubb/cli/bin/kubb.cjs`,
      ...["generate", "--config", `${ROOT}tests/tools/programs/kubb.config.mjs`],
    ],
    env: { KUBB_INPUT: "spec.json" },
    program: (operations) =>
      lines(
        'import { setConfig } from "./made/.kubb/fetch.ts";',
        'import * as api from "./made/index.ts";',
        // Its client sends the types of content that it is told.
        'setConfig({ baseURL: BASE, headers: { "content-type": "application/json" } });',
        "show(",
        "  await api.nodefaceGetInfo(),",
        ...operations.map(positional("api.", "")),
        ");",
      ),
  },
  {
    name: "swagger-typescript-api",
    command: [
      `${TOOLS}swagger-typescript-api/dist/cli.mjs`,
      ...["generate", "-p", "spec.json", "-o", ".", "-n", "api.ts"],
    ],
    program: (operations) =>
      lines(
        'import { Api } from "./api.ts";',
        "const api = new Api({ baseUrl: BASE });",
        "show(",
        "  (await api.v1.nodefaceGetInfo()).data,",
        ...operations.map(positional("api.v1.", ".data")),
        ");",
      ),
  },
];
