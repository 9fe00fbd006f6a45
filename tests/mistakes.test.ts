/** Tests the complete error messages for typical mistakes in commands, files and host options. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseKind } from "./_kinds.ts";
import { readConfig } from "./_config.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";

const mistakes = suite("typical mistakes");

type Row<Given> = readonly [given: Given, ...said: string[]];

async function assertSaid(
  attempt: () => unknown,
  said: readonly string[],
): Promise<void> {
  let lines: string[] = [];
  try {
    await attempt();
  } catch (error) {
    lines = (error as Error).message.split("\n").map((line) => line.trim());
  }
  assert.equal(lines.filter((line) => line !== "invalid options:"), said);
}

const read = (
  args: string,
  env: Readonly<Record<string, string>> = {},
  text = "",
) =>
  readConfig(args.split(" ").filter(Boolean), env, {
    read: () => Promise.resolve(text),
    readBytes: () => Promise.reject(new Error("no such file")),
    find: () => Promise.resolve(),
    isThere: () => Promise.resolve(false),
  });

const ARGUMENTS: readonly Row<string>[] = [
  ["--bogus", 'unknown option "--bogus"; see nodeface --help'],
  ["--prot 80", 'unknown option "--prot"; did you mean --port?'],
  ["-p 80", 'unknown option "-p"; did you mean --port?'],
  ["-port 80", 'unknown option "-port"; did you mean --port?'],
  ["-v", 'unknown option "-v"; did you mean -V?'],
  [
    "--cors *",
    'unknown option "--cors"; it is a key of the configuration: cors',
  ],
  [
    "--token-file x",
    'unknown option "--token-file"; it is a key of the configuration: forward.clients[].token_file',
  ],
  [
    "--timeout 5s",
    'unknown option "--timeout"; it is a key of the configuration: forward.timeout, node.timeout',
  ],
  [
    "--listen 0.0.0.0:80",
    'unknown option "--listen"; did you mean --host and --port?',
  ],
  [
    "--url http://127.0.0.1:1",
    'unknown option "--url"; the URL of the node needs no flag, as in nodeface http://127.0.0.1:8545',
  ],
  ["--port http", '--port must be a whole number from 0 to 65535, not "http"'],
  [
    "--port 65536",
    '--port must be a whole number from 0 to 65535, not "65536"',
  ],
  ["--port -1", '--port must be a whole number from 0 to 65535, not "-1"'],
  ["--port 80.5", '--port must be a whole number from 0 to 65535, not "80.5"'],
  ["--port", "--port needs a value; see nodeface --help"],
  ["--port= http://127.0.0.1:1", "--port needs a value; see nodeface --help"],
  ["--host a --host b", "--host is given twice"],
  [
    "--host *",
    '--host must be an address, not "*"; use 0.0.0.0 for all IPv4 addresses, or :: for all',
  ],
  [
    "--host [::1]:80",
    '--host must be a host name or an address, without a port, not "[::1]:80"',
  ],
  [
    "--host node.example:80",
    '--host must be a host name or an address, without a port, not "node.example:80"',
  ],
  ["--host ::1::", '--host must be a host name or an address, without a port, not "::1::"'],
  [
    "--host 999.0.0.1",
    '--host must be a host name or an address, without a port, not "999.0.0.1"',
  ],
  [
    "--help=yes --port x",
    "--help takes no value",
    '--port must be a whole number from 0 to 65535, not "x"',
  ],
  [
    "a.b",
    "NODE_URL must begin with http:// or https://; did you mean http://a.b?",
  ],
  ...["nodeface.yaml", "check /etc/nodeface/nodeface.yaml"].map((args): Row<string> => {
    const file = JSON.stringify(args.split(" ").at(-1));
    return [args, `NODE_URL must be a URL; to read the file ${file}, write --config ${file}`];
  }),
  ["--help=yes", "--help takes no value"],
  ["http://a http://b", 'unexpected argument "http://b"; see nodeface --help'],
  [
    "127.0.0.1:8545",
    "NODE_URL must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
  ],
  [
    "http:/127.0.0.1:8545",
    "NODE_URL must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
  ],
  [
    "ws://127.0.0.1:8546",
    "NODE_URL must begin with http:// or https://, not ws://",
  ],
  [
    "http://user:pass@host/",
    "NODE_URL must not contain a user or a password; put them into a file, and name the file under node.auth",
  ],
  [
    "http://127.0.0.1:8545/?key=x",
    'NODE_URL must have no query: remove the "?" and the rest',
  ],
  ["http://127.0.0.1:99999", "NODE_URL must have a port up to 65535"],
  ["http://", "NODE_URL must be a URL such as http://127.0.0.1:8545"],
  [
    "serve http://a",
    'unknown command "serve"; to start the service, run nodeface http://127.0.0.1:8545',
  ],
  ["chek http://a", 'unknown command "chek"; did you mean check?'],
  ["help", 'unknown command "help"; did you mean --help?'],
  ["kinds etcd nats", 'unexpected argument "nats"; see nodeface --help'],
  [
    "init",
    "init needs the URL of a node, as in nodeface init http://127.0.0.1:8545",
  ],
  ["--json", "--json works only with check"],
  [
    "--metrics=on",
    '--metrics must be true or false, not "on"; did you mean true?',
  ],
  ["--metrics --metrics", "--metrics is given twice"],
  [
    "--forward red",
    '--forward must be one of off, reads, not "red"; did you mean reads?',
  ],
  [
    "--forward true",
    '--forward must be one of off, reads, not "true"; did you mean reads?',
  ],
  ["--forward reads", "--forward needs node.url, the node to call"],
  [
    "--kind bitcion",
    '--kind must be a kind of node (see "nodeface kinds") or none, not "bitcion"; did you mean bitcoin?',
  ],
  [
    "--kind geth",
    '--kind must be a kind of node (see "nodeface kinds") or none, not "geth"; did you mean ethereum?',
  ],
  [
    "--kind Mine.yaml",
    "--kind must be a file such as mine.yaml, named after its kind",
  ],
  [
    "--spec file:openapi.yaml",
    "--spec must be a path, or a URL that begins with file:///",
  ],
  [
    "--access-log xml",
    '--access-log must be one of text, json, off, not "xml"',
  ],
  ["--access-log text --access-log json", "--access-log is given twice"],
  [
    "--log-calls al",
    '--log-calls must be one of failed, all, off, not "al"; did you mean all?',
  ],
  [
    "--config $HOME/n.yaml",
    "--config must be the path of a file; the only variable that it may begin with is $CREDENTIALS_DIRECTORY",
  ],
  [
    "-- --port",
    '"--port" is neither a command nor the URL of a node; see nodeface --help',
  ],
  [
    "--prot 80 a.b --port 70000",
    'unknown option "--prot"; did you mean --port?',
    '--port must be a whole number from 0 to 65535, not "70000"',
    "NODE_URL must begin with http:// or https://; did you mean http://a.b?",
  ],
];

const VARIABLES: readonly Row<Record<string, string>>[] = [
  [
    { "NODEFACE_URL": "a.b" },
    "NODEFACE_URL must begin with http:// or https://; did you mean http://a.b?",
  ],
  [
    { "NODEFACE_KIND": "geth" },
    'NODEFACE_KIND must be a kind of node (see "nodeface kinds") or none, not "geth"; did you mean ethereum?',
  ],
  [
    { "NODEFACE_FORWARD": "red" },
    'NODEFACE_FORWARD must be one of off, reads, not "red"; did you mean reads?',
  ],
  [
    { "NODEFACE_FORWARD": "reads" },
    "NODEFACE_FORWARD needs node.url, the node to call",
  ],
  [
    { "NODEFACE_ACCESS_LOG": "xml" },
    'NODEFACE_ACCESS_LOG must be one of text, json, off, not "xml"',
  ],
  [
    { "PORT": "http" },
    'PORT must be a whole number from 0 to 65535, not "http"',
  ],
  [
    { "NODEFACE_HOST": "a b", "NODEFACE_METRICS": "1" },
    'NODEFACE_HOST must be a host name or an address, without a port, not "a b"',
    'NODEFACE_METRICS must be true or false, not "1"; did you mean true?',
  ],
];

/** The errors omit the prefix `n.yaml:`. */
const CONFIGURATIONS: readonly Row<string>[] = [
  [
    "prot: 1",
    "1:1: prot is an unknown key; expected one of listen, access_log, log_calls, hosts, cors, description, forward, metrics, events, kinds, page, node, info",
  ],
  ["nod: {}", "1:1: nod is an unknown key; did you mean node?"],
  [
    "- a",
    "1:1: must be an object with keys such as listen, access_log, log_calls, hosts, not a list",
  ],
  [
    "a: [1\nb: }",
    '2:1: a closing "]" is missing before this place',
    '2:4: is not YAML: Unexpected flow-map-end token in YAML stream: "}"',
  ],
  [
    "listen: 127.0.0.1",
    '1:9: listen must be an address and a port up to 65535, as in 127.0.0.1:8080, not "127.0.0.1"',
  ],
  [
    "listen: '[::1::]:80'",
    '1:9: listen must be an address and a port up to 65535, as in 127.0.0.1:8080, not "[::1::]:80"',
  ],
  [
    "listen: '*:80'",
    '1:9: listen must be an address, not "*"; use 0.0.0.0 for all IPv4 addresses, or :: for all',
  ],
  [
    "listen: 127.0.0.1:99999",
    '1:9: listen must be an address and a port up to 65535, as in 127.0.0.1:8080, not "127.0.0.1:99999"',
  ],
  [
    "access_log: xml",
    '1:13: access_log must be one of text, json, off, not "xml"',
  ],
  ["log: json", "1:1: log is an unknown key; did you mean access_log?"],
  [
    "log: text\naccess_log: json",
    "1:1: log is an unknown key; did you mean access_log?",
  ],
  [
    "hosts: b",
    '1:8: hosts must be a list of host names, or "*" for any, not "b"; did you mean *?',
  ],
  [
    "hosts: ['a:80']",
    '1:9: hosts[0] must be a host name without a port, or "*" in place of the list, not "a:80"',
  ],
  [
    "cors: ['https://a/b']",
    '1:8: cors[0] must be an origin such as https://app.example, or "*" in place of the list, not "https://a/b"',
  ],
  [
    "cors: [1]",
    '1:8: cors[0] must be an origin such as https://app.example, or "*" in place of the list, not 1',
  ],
  ["metrics: on", '1:10: metrics must be true or false, not "on"'],
  [
    "forward: true",
    '1:10: forward must be off, reads, or an object such as { open: [reads] }, not "true"; did you mean reads?',
  ],
  [
    "forward: { open: reads }",
    '1:18: forward.open must be a list of operations, as in [reads, getblock], not "reads"',
  ],
  [
    "forward: { with_token: [a] }",
    "1:12: forward.with_token is an unknown key; did you mean clients: " +
    "[{ name: wallet, token_file: token, allow: [sendrawtransaction] }]?",
  ],
  [
    "forward: { clients: [{ name: a, allow: [b] }] }",
    "1:22: forward.clients[0] must have either token_file or token_env",
  ],
  [
    "forward: { clients: [{ name: a, allow: [b], token_file: a, token_env: B }] }",
    "1:22: forward.clients[0] must have either token_file or token_env",
  ],
  [
    "forward: { clients: [{ name: a, allow: [], token_env: B }] }",
    "1:33: forward.clients[0].allow must not be empty",
  ],
  [
    "forward: { clients: [{ name: A, allow: [b], token_env: B }] }",
    '1:30: forward.clients[0].name must be a name of 1 to 32 lower-case letters, digits and "-", ' +
    'other than anonymous, unknown, none, not "A"',
  ],
  [
    "forward:\n  clients:\n    - { name: a, allow: [b], token_env: B }\n" +
    "    - { name: a, allow: [b], token_env: C }",
    "4:15: forward.clients[1].name is that of clients[0], too; each client needs its own",
  ],
  [
    "forward:\n  clients:\n    - { name: a, allow: [b], token_file: B }\n" +
    "    - { name: b, allow: [b], token_file: B }",
    "4:42: forward.clients[1].token_file is that of clients[0], too; each client needs its own",
  ],
  [
    "forward: { origins: ['null'] }",
    '1:22: forward.origins[0] must be an origin such as https://app.example, or "*" in place of the list, not "null"',
  ],
  [
    "forward: { timeout: 0s }",
    '1:21: forward.timeout must be a duration such as "2s", "500ms" or "1m", from 100ms to 10m, not "0s"',
  ],
  [
    "forward: { limit: 2GB }",
    '1:19: forward.limit must be a size such as "32MiB", from 1KiB to 1GiB, not "2GB"',
  ],
  [
    "forward: { concurrency: 0 }",
    "1:25: forward.concurrency must be a whole number from 1 to 1000, not 0",
  ],
  [
    "forward: { opne: [a] }",
    "1:12: forward.opne is an unknown key; did you mean open?",
  ],
  [
    "hosts: '*'\nforward: reads",
    '1:8: hosts cannot be "*" if calls are forwarded; list the host names',
  ],
  ["url: http://127.0.0.1:1", "1:1: url is an unknown key; did you mean node.url?"],
  ["port: 80", "1:1: port is an unknown key; did you mean listen?"],
  ["spec: a.yaml", "1:1: spec is an unknown key; did you mean description?"],
  [
    "node: x",
    '1:7: node must be an object with keys such as url, kind, ws, auth, not "x"',
  ],
  [
    "node: { url: ftp://x }",
    "1:14: node.url must begin with http:// or https://, not ftp://",
  ],
  [
    "node: { url: 'http://user:hunter2@x', auth: hunter2 }",
    "1:14: node.url must not contain a user or a password; put them into a file, and name the file under node.auth",
    "1:45: node.auth must be an object with one of basic_file, bearer_file, digest_file, header_file, basic_env, bearer_env, digest_env, header_env",
  ],
  ...[
    ...["rpcuser:hunter2", "eyJhbGciOi.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x-_1"],
    ...["rpcuser:a/b", "4f3c".repeat(16), `0x${"4f3c".repeat(16)}`],
    ...["01234567-89ab-cdef-0123-456789abcdef", `${"Ab1".repeat(11)}=`, `${"Ab1/".repeat(11)}=`],
  ].map((text): Row<string> => [
    `node: { url: 'http://a', auth: { basic_file: '${text}' } }`,
    "1:46: node.auth.basic_file must be the path of a file, not the secret itself; a file of this folder begins with ./",
  ]),
  [
    `forward: { clients: [{ name: a, allow: [b], token_file: ${"4f3c".repeat(16)} }] }`,
    "1:57: forward.clients[0].token_file must be the path of a file, not the secret itself; a file of this folder begins with ./",
  ],
  [
    "node: { url: 'http://::1:8545' }",
    "1:14: node.url must have brackets around an IPv6 address, as in http://[::1]:8545",
  ],
  [
    "node: { auth: { basic_env: 'user:hunter2' } }",
    "1:28: node.auth.basic_env must be a variable's name",
  ],
  [
    `forward: { clients: [{ name: a, allow: [b], token_env: ${"c0ffee".repeat(6)} }] }`,
    "1:56: forward.clients[0].token_env must be a variable's name",
  ],
  [
    "node: { expect: { chainid: '1', chain_id: '1' } }",
    "1:19: node.expect.chainid is not a key of /v1/info; did you mean chain_id?",
  ],
  [
    "info: { watch: never }",
    '1:16: info.watch must be a duration such as "2s", "500ms" or "1m", from 1s to 24h, or off, not "never"',
  ],
  [
    "node: { kind: bitcion }",
    '1:15: node.kind must be a kind of node (see "nodeface kinds") or none, not "bitcion"; did you mean bitcoin?',
  ],
  [
    "node: { timeout: fast }",
    '1:18: node.timeout must be a duration such as "2s", "500ms" or "1m", from 1ms to 10s, not "fast"',
  ],
  [
    "node: { timeout: 11s }",
    '1:18: node.timeout must be a duration such as "2s", "500ms" or "1m", from 1ms to 10s, not "11s"',
  ],
  [
    "node: { auth: { basic_fil: /x } }",
    '1:9: node.auth must have one of basic_file, bearer_file, digest_file, header_file, basic_env, bearer_env, digest_env, header_env, but has "basic_fil"; did you mean basic_file?',
  ],
  [
    "node: { auth: { basic_file: 5 } }",
    "1:29: node.auth.basic_file must be the path of a file",
  ],
  [
    "node: { auth: { basic_file: /x, mach: y } }",
    "1:33: node.auth.mach is an unknown key; did you mean match?",
  ],
  [
    "node: { auth: {} }",
    "1:9: node.auth must have one of basic_file, bearer_file, digest_file, header_file, basic_env, bearer_env, digest_env, header_env",
  ],
  ["node: { tls: {} }", "1:9: node.tls needs ca_file"],
  [
    "kinds: a.yaml",
    '1:8: kinds must be a list of kinds, not "a.yaml"',
  ],
  [
    "page: { title: '' }",
    '1:16: page.title must be a line of text, at most 80 characters, not ""',
  ],
  [
    "info: { ttl: 5 }",
    '1:14: info.ttl must be a duration such as "2s", "500ms" or "1m", at most 24h, not 5',
  ],
  [
    "info: { sources: { a: { get: nope } } }",
    '1:30: info.sources.a.get must be a path such as /status, a URL, or a link in another response, such as id#/link, not "nope"',
  ],
  [
    "info: { sources: { a: { jsonrpc: 5, foo: 1 } } }",
    "1:34: info.sources.a.jsonrpc must be a line of text, not 5",
    "1:37: info.sources.a.foo is an unknown key; expected one of jsonrpc, params, path, timeout, ttl, optional, extra, keep_errors",
  ],
  [
    "info: { sources: { a: {} } }",
    "1:20: info.sources.a must have one of jsonrpc, get, post, file, command",
  ],
  [
    "info: { sources: { a: { command: [] } } }",
    "1:25: info.sources.a.command must not be empty",
  ],
  [
    "info: { sources: { 'a b': { file: x } } }",
    '1:20: info.sources.a b must be a name of letters, digits, - and _, not "a b"',
  ],
  [
    "info: { sources: { __proto__: { file: a } } }",
    "1:20: info.sources.__proto__ is reserved; use another name",
  ],
  [
    "info: { fields: { Height: 'a#' } }",
    '1:19: info.fields.Height must be a key in snake_case other than status, status_code, status_reason, status_remedy, updated_at, last_seen, api, links, not "Height"',
  ],
  [
    "info: { fields: { a: b } }",
    '1:22: info.fields.a must be a source name and a JSON Pointer joined by #, such as net#/subversion, not "b"',
  ],
  ["info: { fields: { a: { as: hex } } }", "1:19: info.fields.a needs from"],
  [
    "info: { fields: { a: { from: 'a#', as: hx } } }",
    '1:19: info.fields.a names the source "a", which does not exist',
    '1:40: info.fields.a.as must be one of hex, base16, number, not, count, time, uptime, sum, not "hx"; did you mean hex?',
  ],
  [
    "info: { fields: { a: { from: [] } } }",
    "1:24: info.fields.a.from must not be empty",
  ],
  [
    "info: { fields: { a: { from: 'a#', as: { match: '(' } } } }",
    '1:19: info.fields.a names the source "a", which does not exist',
    '1:49: info.fields.a.as.match must be a regular expression, not "("',
  ],
  [
    "info: { fields: { a: { from: 'a#', as: { match: '^(?!b)' } } } }",
    '1:19: info.fields.a names the source "a", which does not exist',
    '1:49: info.fields.a.as.match must be a regular expression without lookahead and lookbehind, not "^(?!b)"',
  ],
  [
    "info: { hide: [status, pears] }",
    '1:16: info.hide[0] must be a key in snake_case other than status, status_code, status_reason, status_remedy, updated_at, last_seen, api, links, not "status"',
    '1:24: info.hide[1] is "pears", which is not a key of /v1/info; did you mean peers?',
  ],
  [
    "info: { static: { a: .inf } }",
    "1:22: info.static.a must be a JSON value, not Infinity",
  ],
  [
    "info: { fields: { a: minig#/x } }",
    '1:22: info.fields.a names the source "minig", which does not exist',
  ],
  ["description: { base: /v1 }", "1:1: description needs from"],
  [
    "description: 'http://['",
    "1:14: description must be the path of a file, or a valid URL",
  ],
  [
    "description: [a]",
    '1:1: description must be the path of a file, a URL, "none", or an object with "from" and "base", not a list',
  ],
  [
    "metrics: true\n---\nmetrics: true\n",
    "2:1: a second document begins here; a configuration has only one",
  ],
  ["metrics: true\nmetrics: false", "2:1: this key occurs twice"],
  ['{ "metrics": true, "metrics": false }', "1:20: this key occurs twice"],
  [
    "cors: *",
    '1:7: is not YAML: Alias cannot be an empty string; a text that begins with * needs quotes, as in "*"',
  ],
  [
    "hosts:\n  - *.example\nnode: &n { url: *n }",
    '2:5: no anchor before it is named ".example"; a text that begins with * needs quotes, as in "*"',
  ],
  [
    "a: " + "[".repeat(40),
    '1:44: a closing "]" is missing before this place',
  ],
  [
    "~: 1",
    '1:1: "" is an unknown key; expected one of listen, access_log, log_calls, hosts, cors, description, forward, metrics, events, kinds, page, node, info',
  ],
  [
    "info: { static: { owner: &o { friends: [*o] } } }",
    "1:41: info.static.owner.friends[0] contains itself",
  ],
  [
    "node: { kind: none, url: [1] }\ninfo: 5",
    "1:21: node.url must be a URL such as http://127.0.0.1:8545",
    "2:7: info must be an object with keys such as ttl, stale, static, hide, not 5",
  ],
];

/** The tests append their YAML after these six lines, so errors often begin with `7:`. */
const KIND = `title: Good
url: http://127.0.0.1:9000
detect: { "info#/software": ^good$ }
sources: { info: { get: /info } }
fields: { version: info#/version }
health: { ok: it answers }
`;

/** Each text is appended to `KIND`. The errors omit the prefix `mine.yaml:`. */
const KINDS: readonly Row<string>[] = [
  [
    "colour: blue",
    "7:1: colour is an unknown key; expected one of title, url, aliases, precedes, concurrency, batch_max, websocket, wallets, description, listing, detect, auth, static, sources, fields, health, history, written_from, tried, openrpc, openapi, extends, loosen",
  ],
  [
    "aliases: [Geth]",
    '7:11: aliases[0] must be a name of lower-case letters, digits and "-", other than "none", not "Geth"',
  ],
  [
    "description: swagger.json",
    '7:14: description must be a path such as /openapi.json, not "swagger.json"',
  ],
  [
    "history: [height, at]",
    '7:19: history[1] must be a key in snake_case other than status, status_code, status_reason, status_remedy, updated_at, last_seen, api, links, at, interval, response_ms, not "at"',
  ],
  ["listing: { get: / }", '7:1: listing must have either "names" or "tree"'],
  [
    "listing: { jsonrpc: help, names: '(' }",
    '7:34: listing.names must be a regular expression, not "("',
  ],
  [
    "listing: { jsonrpc: help, names: '(a){1000}', except: '(a)\\1' }",
    '7:34: listing.names must be a regular expression with fewer repetitions, not "(a){1000}"',
    '7:55: listing.except must be a regular expression without back references, not "(a)\\\\1"',
  ],
  [
    `auth: { refusal: { header: a, pattern: "${"a".repeat(1001)}" } }`,
    `7:40: auth.refusal.pattern must be a regular expression of at most 1000 characters, not "${
      "a".repeat(59)
    }…"`,
  ],
  [
    "auth: { files: [{ basic_file: a }] }",
    "7:9: auth.files needs auth.refusal: without it, any node that refuses a call would get a secret",
  ],
  [
    "written_from: [rpc/api.yaml]",
    '7:16: written_from[0] must be a URL such as https://github.com/owner/name/blob/v1.0.0/api.yaml, not "rpc/api.yaml"',
  ],
  ["tried: ''", '7:8: tried must be a line of text, not ""'],
  [
    "openrpc: { methods: [] }",
    "7:12: openrpc.methods must not be empty",
  ],
  [
    "openrpc: { methods: [{ name: a, summary: A, params: [], result: { name: r, schema: {} } }] }",
    "7:22: openrpc.methods[0] needs x-access",
  ],
  [
    "openrpc: { methods: [{ name: a, summary: A, params: [{ name: x, schema: { type: strin } }], result: { name: r, schema: { $ref: '#/components/schemas/No' } }, x-access: raed }] }",
    '7:75: openrpc.methods[0].params[0].schema.type is wrong: "type" must be one of array, boolean, integer, number, object, string, null',
    '7:128: openrpc.methods[0].result.schema.$ref is wrong: the reference to "#/components/schemas/No" leads nowhere',
    '7:169: openrpc.methods[0].x-access must be one of read, write, secret, not "raed"; did you mean read?',
  ],
  [
    "openrpc: { methods: [{ name: a, summary: A, params: [5], result: {}, x-access: read, paramStructure: by-place }] }",
    "7:54: openrpc.methods[0].params[0] is wrong: an item must be an object: a content descriptor",
    '7:58: openrpc.methods[0].result is wrong: "result" needs "name" (a string) to be a content descriptor',
    '7:102: openrpc.methods[0].paramStructure must be one of by-name, by-position, either, not "by-place"',
  ],
  [
    "openapi: { paths: { /a: { get: { operationId: a, summary: A, responses: { 200: { description: x } }, x-access: read, parameters: 5 } } } }",
    '7:118: openapi.paths./a.get.parameters is wrong: "parameters" must be a list',
  ],
  [
    "openapi: { paths: { /a: { get: { operationId: a, summary: A, responses: { 200: { description: x } }, x-access: read, parameters: [{ name: a, in: query, schema: {}, x-multi-segment: true }] } } } }",
    '7:131: openapi.paths./a.get.parameters[0] is wrong: the parameter "a" has x-multi-segment, but is not in the path',
  ],
  [
    "openapi: { paths: { a: {} } }",
    '7:21: openapi.paths.a must be a path such as /blocks/{hash}, without a query, not "a"',
  ],
  [
    "openapi: { paths: { '/a/{b}': { get: { operationId: a, summary: A, responses: { 20: { description: x } }, x-access: read } } } }",
    '7:33: openapi.paths./a/{b}.get is wrong: the parameters do not include "b" of the path "/a/{b}"',
    '7:81: openapi.paths./a/{b}.get.responses.20 is wrong: "20" must be a status, such as "200", "4XX" or "default"',
  ],
  [
    "openapi: { servers: [{ url: 'https://a/v1' }], paths: { /a: { gett: {}, get: { operationId: a b, summary: A, responses: {}, x-access: read } } } }",
    '7:29: openapi.servers[0].url must be a path such as /v1, appended to the node\'s URL, not "https://a/v1"',
    "7:63: openapi.paths./a.gett is an unknown key; did you mean get?",
    '7:93: openapi.paths./a.get.operationId must be a name of letters, digits, _ and -, not "a b"',
  ],
];

const OPTIONS: readonly Row<unknown>[] = [
  [{ prefx: "/node" }, "prefx is an unknown key; did you mean prefix?"],
  [
    { node: 5 },
    "node must be the URL of the node, or an object with url, not 5",
  ],
  [
    { node: null },
    "node must be the URL of the node, or an object with url, not null",
  ],
  [
    { node: "127.0.0.1:8545" },
    "node must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
  ],
  [
    { node: new URL("http://u:hidden@h") },
    "node must not contain a user or a password; put them into a file, and name the file under node.auth",
  ],
  [
    { node: { url: 8545 } },
    "node.url must be a URL such as http://127.0.0.1:8545",
  ],
  [
    { node: { kind: "etherium" } },
    'node.kind must be a kind of node (see "nodeface kinds") or none, not "etherium"; did you mean ethereum?',
  ],
  [
    { info: null },
    "info must be an object with settings of the info, or a function that returns the info, not null",
  ],
  [
    { info: { sources: { a: { wrong: 1 } } } },
    'info.sources.a must have one of jsonrpc, get, post, file, command, but has "wrong"',
  ],
  [
    { description: 5 },
    'description must be the path of a file, a URL, "none", an OpenAPI document, or an object with "text" or "from", not 5',
  ],
  [
    { description: {} },
    "description must have one of openapi, swagger, text, from",
  ],
  [
    { description: { from: "a.yaml", base: "v1" } },
    'description.base must be a path such as /v1, not "v1"',
  ],
  [
    { description: { openapi: 3 } },
    'description.openapi must be a version such as "3.1.1", not 3',
  ],
  [
    { description: { text: "x", txet: "y" } },
    "description.txet is an unknown key; did you mean text?",
  ],
  [
    { startedAt: "2026" },
    'startedAt must be a Date, such as new Date(), not "2026"',
  ],
  [
    { startedAt: new Date("x") },
    "startedAt must be a Date, such as new Date(), not an invalid Date",
  ],
  [{ log: 5 }, "log must be a function, not 5"],
  [
    { logCalls: "al" },
    'logCalls must be one of failed, all, off, not "al"; did you mean all?',
  ],
  [
    { onError() {} },
    "onError is an unknown key; expected one of hosts, cors, forward, metrics, events, prefix, description, kinds, page, node, info, operations, document, startedAt, log, logCalls",
  ],
  [
    { prefix: null },
    'prefix must be a path such as "/node1", with a slash in front and none at the end, not null',
  ],
  [
    { operations: {} },
    "operations must be a list of operations, not an object",
  ],
  [
    { operations: [{ method: "get", path: "/a", operation: 5 }] },
    'operations[0].method must be one of GET, POST, PUT, PATCH, DELETE, not "get"; did you mean GET?',
    "operations[0].operation must be an object, not 5",
    "operations[0] needs handle",
  ],
  [{
    operations: [{
      method: "GET",
      path: "/a",
      operation: { sumary: "a", tags: "x", "x-a": () => 5 },
      handle() {},
    }],
  }, "operations[0].operation.x-a must be a JSON value, not a function"],
  [
    { document: { title: "Mine" } },
    "document.title is an unknown key; expected one of info, tags, externalDocs, components",
  ],
  [
    { document: { info: { title: "Mine" } } },
    'document.info.version is wrong: an info needs "version"',
  ],
  [
    { kinds: { Good: {} } },
    'kinds.Good must be a name of lower-case letters, digits and "-", other than "none", not "Good"',
    "kinds.Good needs title",
    "kinds.Good needs url",
    "kinds.Good needs detect",
    "kinds.Good needs sources",
    "kinds.Good needs fields",
    "kinds.Good needs health",
  ],
  [{ kinds: [1] }, "kinds must be an object, not a list"],
  [
    { kinds: { good: { url: "a" } } },
    "kinds.good needs title",
    "kinds.good.url must begin with http:// or https://; did you mean http://a?",
    "kinds.good needs detect",
    "kinds.good needs sources",
    "kinds.good needs fields",
    "kinds.good needs health",
  ],
  [
    { page: { logo: "x" } },
    'page.logo must be the bytes of an image (Uint8Array), not "x"',
  ],
  [
    { hosts: "a" },
    'hosts must be a list of host names, or "*" for any, not "a"; did you mean *?',
  ],
  [
    { forward: { open: ["reads"], origins: "*" }, node: "http://127.0.0.1:1" },
    'forward has origins: "*", which needs the setting hosts',
  ],
];

for (const [args, ...said] of ARGUMENTS) {
  mistakes(`nodeface ${args}`, () => assertSaid(() => read(args), said));
}
for (const [env, ...said] of VARIABLES) {
  mistakes(JSON.stringify(env), () => assertSaid(() => read("", env), said));
}
for (const [text, ...said] of CONFIGURATIONS) {
  mistakes(`configuration ${text}`, async () => {
    const lines = said.map((line) => /^\w+\.yaml:/.test(line) ? line : `n.yaml:${line}`);
    await assertSaid(() => read("--config n.yaml", {}, text), lines);
  });
}
for (const [text, ...said] of KINDS) {
  mistakes(`kind ${text}`, async () => {
    const lines = said.map((line) => `mine.yaml:${line}`);
    await assertSaid(() => parseKind(KIND + text, "mine.yaml"), lines);
  });
}
for (const [at, [wrong, ...said]] of OPTIONS.entries()) {
  mistakes(`options ${at}: ${said[0]}`, async () => {
    await assertSaid(() => createNodeface(wrong as NodefaceOptions), said);
  });
}

mistakes.run();
