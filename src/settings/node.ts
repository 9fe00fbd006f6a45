/**
 * The settings of the node: its address, its kind, the place of its secret.
 *
 * @module
 */
import { DEFAULTS, type NodeSettings } from "../info/settings.ts";
import { CLI_OPTIONS } from "./command-line.ts";
import { needed, object, oneOf, type Schema, secret, setting, type SettingsOf } from "./schema.ts";
import { EXPRESSION, HEADER, kindName, LINE, NODE_URL, TIMEOUT } from "./texts.ts";

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

/** Makes the settings of the files that a secret may lie in, each by its key; by the schema of a path. */
export function authFiles(path: Schema<string>): AuthFileSettings {
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

type Match = { match: Schema<string | undefined> };
type AuthFileSettings = {
  basic_file: { basic_file: Schema<string> } & Match;
  bearer_file: { bearer_file: Schema<string> } & Match;
  digest_file: { digest_file: Schema<string> } & Match;
  header_file: { header_file: Schema<string>; header: Schema<string | undefined> } & Match;
};

function auth(path: Schema<string>): Schema<NodeSettings["auth"]> {
  const forms = oneOf({
    ...authFiles(path),
    basic_env: { basic_env: variable(BASIC) },
    bearer_env: { bearer_env: variable(BEARER) },
    digest_env: { digest_env: variable(DIGEST) },
    header_env: { header_env: variable(HEADER_LINE), header: header() },
  });
  return setting(secret(forms), {
    text:
      "The place of the secret for the node, which is sent to the origin of node.url and nowhere else",
    default: "where nodes of its kind leave it, on this machine",
    example: "{ basic_file: ~/.node/cookie }",
  });
}

export function nodeSettings(
  path: Schema<string>,
  own: readonly string[] = [],
): SettingsOf<NodeSettings> {
  return {
    url: setting(NODE_URL, {
      ...CLI_OPTIONS.url,
      text: "The node's URL, with http: or https:",
    }),
    public_url: setting(NODE_URL, {
      text: "The URL of the node for pages. It replaces the servers of its description",
      example: "https://node.example/rpc",
    }),
    kind: setting(kindName(own), {
      ...CLI_OPTIONS.kind,
      text: "The kind of the node; none if info describes all of it",
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
        text: "Certificate authorities to trust besides, for https:",
        default: "the authorities that the runtime trusts",
        example: "{ ca_file: ~/.node/ca.pem }",
      },
    ),
    timeout: setting(TIMEOUT, {
      text: "The longest time for a response of the node",
      default: DEFAULTS.timeout,
      example: "5s",
    }),
  };
}
