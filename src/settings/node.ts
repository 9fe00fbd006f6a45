/**
 * The settings of the node: where it answers, what kind it is, where its secret lies.
 *
 * @module
 */
import { DEFAULTS } from "../info/settings.ts";
import { KIND_NAMES, PROGRAM_KINDS } from "../kinds/kind.ts";
import { EXPRESSION, FILE, HEADER, LINE, NODE_URL, TIMEOUT } from "./rules.ts";
import { object, type ObjectShape, path, type Setting, text, type WordShape } from "./shapes.ts";

/** Where the node answers. */
export const url: Setting = {
  shape: text(NODE_URL),
  text: "where the node answers, such as http://127.0.0.1:8545",
  example: "http://127.0.0.1:8545",
  variables: ["NODEFACE_URL"],
  argument: "NODE_URL",
  isSecret: true,
};

/** What kind of node it is. */
export const kind: Setting & { shape: WordShape } = {
  shape: {
    is: "word",
    words: [...KIND_NAMES, "none"],
    right: 'a kind of node (see "nodeface kinds") or none',
    also: PROGRAM_KINDS,
  },
  text: "what kind of node it is",
  default: "found by asking",
  example: "bitcoin",
  flag: "kind",
  variables: ["NODEFACE_KIND"],
  argument: "KIND",
};

const match: Setting = {
  shape: text(EXPRESSION),
  text: "A regular expression. The secret is its first group, or all that it matches",
  example: "'<apikey>(.*?)</apikey>'",
};

const header: Setting = {
  shape: text(HEADER),
  text: 'The header that carries the secret. Without it, the secret is a whole line "Name: value"',
  example: "X-API-Key",
};

const file = (secret: string): Setting => ({
  shape: path(FILE),
  text: `A file with ${secret}. It is read at each use`,
  example: "~/.node/secret",
});

const variable = (secret: string): Setting => ({
  shape: text(LINE),
  text: `A variable of the environment with ${secret}`,
  example: "NODE_SECRET",
});

const BASIC = "user:password, for HTTP Basic";
const BEARER = "a bearer token";
const HEADER_LINE = "a header line";

const auth: Setting = {
  shape: {
    is: "form",
    forms: {
      basic_file: object({ basic_file: file(BASIC), match }),
      bearer_file: object({ bearer_file: file(BEARER), match }),
      header_file: object({ header_file: file(HEADER_LINE), header, match }),
      basic_env: object({ basic_env: variable(BASIC) }),
      bearer_env: object({ bearer_env: variable(BEARER) }),
      header_env: object({ header_env: variable(HEADER_LINE), header }),
    },
  },
  text: "Where the secret for the node lies. It is sent to the origin of node.url and nowhere else",
  default: "where nodes of its kind leave it, on this machine",
  example: "{ basic_file: ~/.node/cookie }",
  isSecret: true,
};

/** The node, as the object `node`. */
export const node: Setting & { shape: ObjectShape } = {
  shape: object({
    url: { ...url, text: "Where the node answers, with http: or https:" },
    public_url: {
      shape: text(NODE_URL),
      text: "Where pages reach the node. It takes the place of the servers of its description",
      example: "https://node.example/rpc",
      isSecret: true,
    },
    kind: { ...kind, text: "What kind of node it is; none where info says all" },
    auth,
    timeout: {
      shape: text(TIMEOUT),
      text: "How long an answer of the node may take",
      default: DEFAULTS.timeout,
      example: "5s",
    },
  }),
  text: "The node that is shown",
};
