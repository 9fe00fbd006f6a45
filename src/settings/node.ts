/**
 * The settings of the node: where it answers, what kind it is, where its secret lies.
 *
 * @module
 */
import { DEFAULTS } from "../info/settings.ts";
import { KIND_NAMES, PROGRAM_KINDS } from "../kinds/kind.ts";
import { EXPRESSION, HEADER, LINE, NODE_URL, TIMEOUT } from "./rules.ts";
import {
  needed,
  oneOf,
  reworded,
  type Schema,
  secret,
  setting,
  type Settings,
  word,
} from "./schemas.ts";

/** Where the node answers. */
export const url: Schema = setting(NODE_URL, {
  text: "where the node answers, such as http://127.0.0.1:8545",
  example: "http://127.0.0.1:8545",
  variables: ["NODEFACE_URL"],
  argument: "NODE_URL",
});

/** What kind of node it is. */
export const kind: Schema = setting(
  word(
    [...KIND_NAMES, "none"],
    'a kind of node (see "nodeface kinds") or none',
    PROGRAM_KINDS,
  ),
  {
    text: "what kind of node it is",
    default: "found by asking",
    example: "bitcoin",
    flag: "kind",
    variables: ["NODEFACE_KIND"],
    argument: "KIND",
  },
);

const variable = (what: string) =>
  needed(LINE, { text: `A variable of the environment with ${what}`, example: "NODE_SECRET" });

const BASIC = "user:password, for HTTP Basic";
const BEARER = "a bearer token";
const HEADER_LINE = "a header line";

/** Where the secret for the node lies, by the schema of a path. */
function auth(path: Schema<string>): Schema {
  const match = setting(EXPRESSION, {
    text: "A regular expression. The secret is its first group, or all that it matches",
    example: "'<apikey>(.*?)</apikey>'",
  });

  const header = setting(HEADER, {
    text:
      'The header that carries the secret. Without it, the secret is a whole line "Name: value"',
    example: "X-API-Key",
  });

  const file = (what: string) =>
    needed(path, {
      text: `A file with ${what}. It is read at each use`,
      example: "~/.node/secret",
    });
  const forms = oneOf({
    basic_file: { basic_file: file(BASIC), match },
    bearer_file: { bearer_file: file(BEARER), match },
    header_file: { header_file: file(HEADER_LINE), header, match },
    basic_env: { basic_env: variable(BASIC) },
    bearer_env: { bearer_env: variable(BEARER) },
    header_env: { header_env: variable(HEADER_LINE), header },
  });
  return setting(secret(forms), {
    text:
      "Where the secret for the node lies. It is sent to the origin of node.url and nowhere else",
    default: "where nodes of its kind leave it, on this machine",
    example: "{ basic_file: ~/.node/cookie }",
  });
}

/** The keys of `node`, by the schema of a path. */
export function nodeSettings(path: Schema<string>): Settings {
  return {
    url: reworded(url, "Where the node answers, with http: or https:"),
    public_url: setting(NODE_URL, {
      text: "Where pages reach the node. It takes the place of the servers of its description",
      example: "https://node.example/rpc",
    }),
    kind: reworded(kind, "What kind of node it is; none where info says all"),
    auth: auth(path),
    timeout: setting(TIMEOUT, {
      text: "How long an answer of the node may take",
      default: DEFAULTS.timeout,
      example: "5s",
    }),
  };
}
