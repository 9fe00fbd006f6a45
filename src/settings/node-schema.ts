/**
 * The settings of the node: where it answers, what kind it is, where its secret lies.
 *
 * @module
 */
import { KIND_NAMES } from "../generated/kind-names.js";
import { DEFAULTS } from "../info/node-and-info-settings.ts";
import { COMMAND } from "./flags-and-variables.ts";
import { kindNameRule } from "./kind-name.ts";
import { EXPRESSION, HEADER, LINE, NODE_URL, TIMEOUT } from "./text-schemas.ts";
import {
  knownWord,
  needed,
  object,
  oneOf,
  type Schema,
  secret,
  setting,
  type Settings,
} from "./schema-builders.ts";

/** The name of a kind that is known, or `none`. */
function kindName(own: readonly string[]): Schema<string> {
  return knownWord([...KIND_NAMES, ...own], kindNameRule(own));
}

const variable = (what: string) =>
  needed(LINE, { text: `A variable of the environment with ${what}`, example: "NODE_SECRET" });

const BASIC = "user:password, for HTTP Basic";
const DIGEST = "user:password, for HTTP Digest";
const BEARER = "a bearer token";
const HEADER_LINE = "a header line";

const header = () =>
  setting(HEADER, {
    text:
      'The header that carries the secret. Without it, the secret is a whole line "Name: value"',
    example: "X-API-Key",
  });

/** The files that a secret may lie in, each by its key; by the schema of a path. */
export function authFiles(path: Schema<string>): Readonly<Record<string, Settings>> {
  const match = setting(EXPRESSION, {
    text: "A regular expression. The secret is its first group, or all that it matches",
    example: "'<apikey>(.*?)</apikey>'",
  });

  const file = (what: string) =>
    needed(path, {
      text: `A file with ${what}. It is read at each use`,
      example: "~/.node/secret",
    });
  return {
    basic_file: { basic_file: file(BASIC), match },
    bearer_file: { bearer_file: file(BEARER), match },
    digest_file: { digest_file: file(DIGEST), match },
    header_file: { header_file: file(HEADER_LINE), header: header(), match },
  };
}

/** Where the secret for the node lies, by the schema of a path. */
function auth(path: Schema<string>): Schema {
  const forms = oneOf({
    ...authFiles(path),
    basic_env: { basic_env: variable(BASIC) },
    bearer_env: { bearer_env: variable(BEARER) },
    digest_env: { digest_env: variable(DIGEST) },
    header_env: { header_env: variable(HEADER_LINE), header: header() },
  });
  return setting(secret(forms), {
    text:
      "Where the secret for the node lies. It is sent to the origin of node.url and nowhere else",
    default: "where nodes of its kind leave it, on this machine",
    example: "{ basic_file: ~/.node/cookie }",
  });
}

/**
 * The keys of `node`.
 *
 * @param path the schema of a path
 * @param own the names of the kinds that the operator or the host has made
 */
export function nodeSettings(path: Schema<string>, own: readonly string[] = []): Settings {
  return {
    url: setting(NODE_URL, {
      ...COMMAND.url,
      text: "Where the node answers, with http: or https:",
    }),
    public_url: setting(NODE_URL, {
      text: "Where pages reach the node. It takes the place of the servers of its description",
      example: "https://node.example/rpc",
    }),
    kind: setting(kindName(own), {
      ...COMMAND.kind,
      text: "What kind of node it is; none where info says all",
    }),
    auth: auth(path),
    tls: setting(
      object({
        ca_file: needed(path, {
          text: "A file with certificates in PEM, of the authority that has signed the node's",
          example: "~/.node/ca.pem",
        }),
      }),
      {
        text: "Whom to trust besides, where the node answers with https:",
        default: "the authorities that the runtime trusts",
        example: "{ ca_file: ~/.node/ca.pem }",
      },
    ),
    timeout: setting(TIMEOUT, {
      text: "How long an answer of the node may take",
      default: DEFAULTS.timeout,
      example: "5s",
    }),
  };
}
