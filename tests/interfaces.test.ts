/**
 * Tests the operations in kind files, and the error messages for invalid operations. The examples
 * and schemas of every kind are tested on Node, and those of every tenth kind on Deno and Bun.
 */
import Ajv2020 from "ajv/dist/2020.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse, stringify } from "yaml";
import { WRITTEN } from "../src/build/write-documents.ts";
import { ConfigError } from "../src/settings/schema.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { formatJson } from "../src/json/lossless.ts";
import { formatPointer, objectOf, resolveFragment } from "../src/json/values.ts";
import { MARKS, type OpenApiPart, type OpenRpcPart } from "../src/kinds/interface.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { KINDS_WITH_INTERFACE, parseKind } from "./_kinds.ts";
import { sampleOf } from "./_runtime.ts";
import { checkAt, checkResults, operationsOf } from "./nodes/_interface.ts";

const interfaces = suite("the operations of kinds");

const KIND = `title: Mine
url: http://127.0.0.1:9000
detect: { "info#/software": ^mine$ }
sources: { info: { get: /info } }
fields: { version: info#/version }
health: { ok: it answers }
`;

function problems(offer: string): readonly string[] {
  try {
    parseKind(KIND + offer, "mine.yaml");
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

function assertProblems(
  offer: string,
  expected: readonly (readonly [string, string])[],
): void {
  const found = problems(offer);
  for (const [at, [place, message]] of expected.entries()) {
    assert.ok(
      found[at]?.startsWith(`mine.yaml:${place}: `),
      `${place} ${message}\n${found[at]}`,
    );
    assert.ok(found[at]!.includes(message), `${message}\n${found[at]}`);
  }
  assert.is(found.length, expected.length, found.join("\n"));
}

const METHODS = `openrpc:
  path: /json_rpc
  methods:
    - name: getblock
      summary: Get a block
      tags: [{ name: Blocks }]
      paramStructure: by-name
      params:
        - { name: hash, required: true, schema: { $ref: "#/components/schemas/Hash" } }
        - { name: seed, schema: { type: integer, maximum: 18446744073709551615 } }
      result: { name: block, schema: { type: [object, "null"] } }
      examples:
        - name: a
          params: [{ name: hash, value: "00" }]
          result: { name: block, value: { $ref: nothing } }
      x-access: read
      x-cost: heavy
      x-streaming: true
      x-since: "0.19"
      x-software: [one, two-2]
      x-common: true
      x-checked: true
  components: { schemas: { Hash: { type: string } } }
`;
const PATHS = `openapi:
  servers: [{ url: /v1 }]
  tags: [{ name: Blocks }]
  paths:
    /blocks/{hash}:
      parameters: [{ $ref: "#/components/parameters/hash" }]
      get:
        operationId: getBlock
        summary: Get a block
        responses: { 200: { description: The block } }
        x-access: read
      delete:
        operationId: dropBlock
        summary: Drop a block
        parameters: [{ name: force, in: query, schema: { type: boolean } }]
        responses: { 204: { description: It is gone } }
        x-access: write
  components:
    parameters:
      hash: { name: hash, in: path, required: true, schema: { type: string }, x-multi-segment: true }
`;

interfaces(
  "a kind lists its methods in the OpenRPC format, and its operations in the OpenAPI format",
  () => {
    assert.equal(problems(METHODS + PATHS), []);
    const { openrpc, openapi } = parseKind(KIND + METHODS + PATHS, "mine.yaml");
    assert.equal(openrpc, {
      ...parse(METHODS).openrpc,
      methods: [{
        ...parse(METHODS).openrpc.methods[0],
        params: [
          {
            name: "hash",
            required: true,
            schema: { $ref: "#/components/schemas/Hash" },
          },
          {
            name: "seed",
            schema: { type: "integer", maximum: 18446744073709551615n },
          },
        ],
      }],
    });
    assert.equal(openapi, parse(PATHS).openapi);
  },
);

interfaces(
  "an error in a method is reported with its position and a correction",
  () => {
    assertProblems(
      `openrpc:
  methods:
    - { name: a, summary: A, params: [], result: { name: r, schema: {} } }
    - { name: b, summary: B, params: [], result: { name: r, schema: {} }, x-access: raed }
    - { name: c, summary: C, params: [], result: { name: r, schema: {} }, x-acess: read }
    - { name: a, summary: D, params: [], result: { name: r, schema: {} }, x-access: read }
    - name: d
      params: [{ name: x, schema: { type: strin } }, { schema: {} }]
      result: { name: r, schema: { $ref: "#/components/schemas/Blok" } }
      x-access: write
      x-cost: light
      x-since: 0.19
      x-software: [One]
      x-common: yes
  components: { schemas: { Block: { properties: { a: { $ref: "other.yaml#/A" } } } } }
`,
      [
        ["9:7", "openrpc.methods[0] needs x-access"],
        [
          "10:85",
          'x-access must be one of read, write, secret, not "raed"; did you mean read?',
        ],
        ["11:7", "openrpc.methods[2] needs x-access"],
        ["11:75", "openrpc.methods[2].x-acess is an unknown key; did you mean x-access?"],
        [
          "12:15",
          'openrpc.methods[3].name is "a", which is already the name of methods[0]',
        ],
        ["13:7", "openrpc.methods[4] needs summary"],
        ["14:37", '"type" must be one of array, boolean, integer'],
        ["14:54", 'needs "name" (a string) to be a content descriptor'],
        [
          "15:42",
          'the reference to "#/components/schemas/Blok" leads nowhere; did you mean Block?',
        ],
        ["17:15", 'must be heavy, not "light"'],
        ["18:16", 'must be a version in quotes, as in "0.19", not 0.19'],
        ["19:20", 'must be the name of software in lower case, not "One"'],
        ["20:17", "must be true or omitted"],
        ["21:62", '"other.yaml#/A" does not lead to #/components/…'],
      ],
    );
    assertProblems("openrpc: { methods: [] }\n", [[
      "7:12",
      "openrpc.methods must not be empty",
    ]]);
  },
);

interfaces(
  "an error in an operation is reported with its position and a correction",
  () => {
    assertProblems(
      `openapi:
  servers: [{ url: https://node.example/v1 }]
  paths:
    /blocks/{hash}:
      get: { operationId: a, summary: A, responses: { 200: { description: A } } }
    /blocks/{id}:
      get:
        operationId: a
        summary: B
        parameters:
          - { name: hsh, in: path, required: true, schema: {} }
          - { name: id, in: path, schema: {} }
          - { name: q, in: query, schema: {}, x-multi-segment: encoded }
          - { name: c, in: cookie, schema: {} }
        responses: { 20: { description: B } }
        x-access: read
    blocks:
      gett: {}
    /c:
      post:
        operationId: c
        summary: C
        requestBody: { content: { application/json: { schema: { $ref: "#/components/parameters/p" } } } }
        responses: { 200: { $ref: "#/components/responses/None" } }
        x-access: write
  components: { parameters: { p: { name: p, in: query, schema: {} } } }
`,
      [
        [
          "8:20",
          "must be a path such as /v1, appended to the node's URL",
        ],
        ["11:7", "openapi.paths./blocks/{hash}.get needs x-access"],
        ["11:7", 'the parameters do not include "hash" of the path "/blocks/{hash}"'],
        ["14:9", 'the operationId "a" is already used by GET /blocks/{hash}'],
        ["17:13", 'the path parameter "hsh" is not in the path "/blocks/{id}"'],
        ["18:13", 'the path parameter "id" needs "required: true"'],
        ["19:13", 'the parameter "q" has x-multi-segment, but is not in the path'],
        ["21:22", '"20" must be a status, such as "200", "4XX" or "default"'],
        ["23:5", "must be a path such as /blocks/{hash}, without a query"],
        ["24:7", "openapi.paths.blocks.gett is an unknown key; did you mean get?"],
        ["29:71", "leads to a parameter instead of a schema"],
        ["30:35", "leads nowhere"],
      ],
    );
  },
);

interfaces("limits of parameters that would have no effect are reported", () => {
  assertProblems(
    `openapi:
  paths:
    /cat:
      parameters: [{ name: arg, in: query, schema: { $ref: "#/components/schemas/Path" } }]
      get: { operationId: a, summary: A, responses: { 200: { description: A } }, x-access: read }
      post: { operationId: b, summary: B, responses: { 200: { description: B } }, x-access: write }
      put:
        operationId: c
        summary: C
        parameters: [{ name: depth, in: query, schema: { type: integer, x-heavy-from: 3 } }]
        responses: { 200: { description: C } }
        x-access: read
        x-checked: true
  components: { schemas: { Path: { type: string, x-excludes: [secret] } } }
openrpc:
  methods:
    - name: get
      summary: Get
      params: [{ name: path, schema: { type: string, x-excludes: [secret], x-heavy-from: a } }]
      result: { name: content, schema: {} }
      x-access: read
`,
    [
      ["11:7", 'the parameter "arg" has x-excludes, which needs x-checked'],
      ["13:7", 'the parameter "depth" has x-heavy-from, which only JSON-RPC calls use'],
      ["23:7", 'the parameter "path" has x-excludes, which needs x-checked'],
    ],
  );
});

interfaces("unknown members are reported where OpenAPI does not allow any", () => {
  assertProblems(
    `openapi:
  paths:
    /a:
      get:
        operationId: a
        summary: A
        responses:
          200: { description: One, two and three }
          404: { description: B, content: { text/plain: { schem: {} } } }
        x-access: read
`,
    [
      ["14:36", 'OpenAPI 3.1 has no "two and three" in a response'],
      ["15:59", 'OpenAPI 3.1 has no "schem" in a media type'],
    ],
  );
});

interfaces("a kind in the options of createNodeface must follow the same rules", () => {
  const complaint = (offer: string) => {
    try {
      const kinds = { mine: parse(KIND + offer) };
      createNodeface({ kinds } as NodefaceOptions);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.is(complaint(PATHS), "");
  assert.match(
    complaint(METHODS.replace("x-access: read", "x-access: reed")),
    "kinds.mine.openrpc.methods[0].x-access must be one of read, write, secret",
  );
});

interfaces("with the schema, an editor finds the errors that the command reports", () => {
  const validate = new Ajv2020.default({ code: { optimize: false }, allowUnionTypes: true })
    .compile(
      JSON.parse(WRITTEN["spec/kind.schema.json"]()),
    );
  assert.ok(
    validate(parse(KIND + METHODS + PATHS)),
    JSON.stringify(validate.errors),
  );
  for (
    const [right, wrong] of [
      ["      x-access: read\n", ""],
      ["x-access: read", "x-access: raed"],
      ["x-common: true", "x-comon: true"],
      ["summary: Get a block", "title: Get a block"],
      ['x-since: "0.19"', "x-since: 0.19"],
    ] as const
  ) {
    assert.not.ok(validate(parse(KIND + METHODS.replace(right, wrong))), wrong);
  }
});

interfaces(
  "the reference lists all x-… marks, and has valid examples of OpenRPC and OpenAPI",
  async () => {
    const text = await WRITTEN["docs/kinds.md"]();
    assert.is(Object.keys(MARKS).length, 16);
    for (const [name, mark] of Object.entries(MARKS)) {
      assert.ok(
        text.includes(
          `| \`${name}\` | ${mark.on} | ${mark.value} | ${mark.text} |`,
        ),
        name,
      );
    }
    const examples = [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, yaml]) => yaml!);
    const [whole = "", methods = ""] = examples.filter((yaml) => !/^kinds:$/m.test(yaml));
    assert.ok(parseKind(whole, "mine.yaml").openrpc);
    assert.ok(
      parseKind(stringify({ ...parse(whole), ...parse(methods) }), "mine.yaml").openapi,
    );
  },
);

interfaces(
  "for code generators, a list of types has null and one other type, and an array has items",
  async () => {
    for (const kind of sampleOf(KINDS_WITH_INTERFACE)) {
      JSON.parse(formatJson(await loadInterface(kind)), (_, value) => {
        const type = objectOf(value).type;
        if (!Array.isArray(type)) return value;
        assert.ok(type.length === 2 && type.includes("null"), `${kind}: ${type}`);
        if (type.includes("array")) assert.ok("items" in value, `${kind}: ${formatJson(value)}`);
        return value;
      });
    }
  },
);

const BCOIN =
  /^((sign|send|set|submit|generate|prioritise|invalidate|reconsider|prune|getwork|add|clear|disconnect)\w*|verify(chain|block)|getblocktemplate|getpeerinfo|getnetworkinfo|listbanned|ping|stop|POST \/(broadcast|claim|reset|(tx|coin)\/address))$/;

/** Patterns of operations that must not have `x-access: read`, keyed by kind. */
const NO_READS: Readonly<Record<string, RegExp>> = {
  activitypub: /^(DELETE|PUT|PATCH) |\/(search|resolve_object|users\/show)$/,
  algorand:
    /^(DELETE|PUT) |^POST .*\/(sync\/.*|transactions|simulate|async|shutdown|(dis)?(compile|assemble))$|\/(devmode|participation|catchup|debug|node|metrics)\b/,
  aptos: /^POST \/transactions(\/batch)?$|\/info$/,
  bcoin: BCOIN,
  beacon:
    /^POST .*\/(pool\/.*|(blinded_)?blocks|execution_payload\w*|(aggregate|contribution)_and_proofs|\w*(subscriptions|selections)|prepare_\w+|register_\w+|proposer_preferences|duties\/sync\/.*)$|\/node\/(identity|peers\b)|\/beacon\/states\/\{state_id\}$|\/validator\/.*(blocks|attestation|contribution)/,
  bee:
    /^(POST|PUT|PATCH|DELETE) |\/(chequebook|balances|settlements|stamps|addresses|peers|pins|tags|neighborhoods)\b/,
  cosmos: /^(check_tx|(broadcast|dial|unsafe|dump)_\w+|net_info)$/,
  ergo:
    /^GET \/peers|\/(wallet|scan|mining|node)\/|^POST \/(blocks|transactions(\/bytes)?|script\/.*)$|\/seed\/\{/,
  ethereum:
    /^(eth_(sign|send|accounts|new|uninstall|submit|getFilter|createAccessList)|personal_|admin_|debug_)/,
  bitcoin:
    /^(stop|dump.*|getblocktemplate|gettxoutsetinfo|invalidateblock|scantxoutset|verifychain|waitfor.*|getpeerinfo|getnetworkinfo|getaddednodeinfo|getnodeaddresses|listbanned|getrpcinfo|logging|ping|.*wallet.*|getbalances?|list(unspent|transactions|labels)|sign.*|import.*|send.*|generate.*|submit.*|set.*)$/,
  handshake: BCOIN,
  kubo:
    /^POST \/((add|config|shutdown|key|files|mount|pin|p2p|pubsub|bootstrap)\b.*|(multibase\/(en|de|trans)code|diag\/(cmds|profile|sys)|log\/(level|tail)).*|(block|dag)\/(put|rm|import)|dag\/stat|object\/diff|swarm\/.*|name\/(resolve|get|put|publish|pubsub\/(subs|cancel))|(routing|dht)\/(put|provide|find\w+|query)|repo\/(gc|migrate))$/,
  monero:
    /^((relay|flush|prune|set|add|submit|generate|get_(bans|connections|info)|get_?block_?headers_?range)\w*|POST \/(send|set|start|stop|save|pop|update|out_peers|in_peers|get_peer)\w*)$/,
  near: /^(send_tx|broadcast_\w+|network_info|\w*client_config|GET \/(metrics|network_info))$/,
  nostr: /^POST \/$/,
  solana:
    /^(send\w+|requestAirdrop|getProgramAccounts|get(Token)?LargestAccounts|getTokenAccountsByDelegate|getSupply|getIdentity|getClusterNodes|GET \/v0\/circulating-supply)$/,
  stacks:
    /^POST .*\/(transactions|simulate|block_proposal|upload|microblocks|chunks|fast-call-read)\b|\/(replay|neighbors)\b/,
  substrate:
    /^state_getStorageSize$|_(submit\w*|insertKey|rotateKeys\w*|(add|remove|reset)\w+|has\w*Keys?|dryRun|traceBlock|getPairs|getKeys|getChildKeys|localStorage\w+|createBlock|finalizeBlock|broadcast|local\w+|peers|reservedPeers)$/,
  etcd:
    /^(POST .*(range|put|txn|compaction|hashkv|watch|grant|revoke|keepalive|timetolive|member.*|alarm|defragment|snapshot|transfer.*|downgrade|auth.*|election.*|lock.*)|PUT .*|GET \/(metrics|debug.*))$/,
  nats:
    /(varz|connz|routez|gatewayz|leafz|subsz|account.*z|accstatz|jsz|ipqueuesz|raftz|stacksz|vars)$/,
  syncthing:
    /^((PUT|PATCH|DELETE) |POST (?!.*ping$)|GET .*(config(\/(folders|devices|defaults|options|ldap|gui).*)?|browse|system\/status|connections|discovery|paths|error|errors|log.*|events.*|report|random.*|debug.*|pending.*|db\/(status|completion|file|need|remoteneed|localchanged|ignores)|versions|stats.*|metrics|upgrade)$)/,
};

function checkExamplesOfMethods(openrpc: OpenRpcPart): void {
  const check = checkResults(openrpc);
  const ajv = new Ajv2020.default({ code: { optimize: false }, strict: false });
  ajv.addSchema(openrpc, "part");
  for (const [at, { name, params, examples = [] }] of openrpc.methods.entries()) {
    for (const example of examples) {
      assert.equal(check(at, example.result.value), {}, name);
      for (const given of example.params) {
        const place = params.findIndex((param) => param.name === given.name);
        const $ref = `part#/methods/${at}/params/${place}/schema`;
        assert.ok(ajv.validate({ $ref }, given.value), `${name} ${given.name}`);
      }
    }
  }
}

function checkExamplesOfRest(openapi: OpenApiPart): void {
  const check = checkAt(openapi);
  for (const [path, item] of Object.entries(openapi.paths)) {
    for (const [verb, operation] of Object.entries(item)) {
      const { requestBody, responses } = objectOf(operation);
      const statuses = Object.keys(objectOf(responses)).map((status) => ["responses", status]);
      for (const place of [...requestBody ? [["requestBody"]] : [], ...statuses]) {
        const at = ["paths", path, verb, ...place, "content"];
        const contents = objectOf(resolveFragment(openapi, formatPointer(at)));
        for (const [type, media] of Object.entries(contents)) {
          const { schema, example } = objectOf(media);
          if (schema === undefined || example === undefined) continue;
          assert.equal(check(formatPointer([...at, type, "schema"]), example), {}, path);
        }
      }
    }
  }
}

for (const kind of sampleOf(KINDS_WITH_INTERFACE)) {
  interfaces(`${kind}: every example fits its schema, which describes all members`, async () => {
    const { openrpc, openapi } = await loadInterface(kind);
    if (openrpc) checkExamplesOfMethods(openrpc);
    if (openapi) checkExamplesOfRest(openapi);
  });

  interfaces(`${kind}: its schemas are valid, and each of them is used`, async () => {
    const parts = await loadInterface(kind);
    for (const part of [parts.openrpc, parts.openapi]) {
      const schemas = part?.components?.schemas ?? {};
      const used = formatJson(part);
      const formats = { "date-time": true } as const;
      const ajv = new Ajv2020.default({
        code: { optimize: false },
        allowUnionTypes: true,
        strictTypes: false,
        formats,
      });
      ajv.addKeyword("components");
      const others = ["example", "x-excludes", "x-example-from", "x-unit"];
      for (const keyword of others) ajv.addKeyword(keyword);
      ajv.addSchema({ components: { schemas } }, "part", undefined, false);
      for (const name of Object.keys(schemas)) {
        assert.ok(used.includes(`"#/components/schemas/${name}"`), name);
        assert.ok(ajv.getSchema(`part#/components/schemas/${name}`), name);
      }
    }
  });

  interfaces(
    `${kind}: each software has 12 to 30 common operations, or at least a third of a short list`,
    async () => {
      const operations = operationsOf(await loadInterface(kind)).map(([, operation]) => operation);
      const programs = new Set(operations.flatMap((operation) => operation["x-software"] ?? []));
      for (const program of programs.size > 0 ? programs : [""]) {
        const its = operations.filter(({ "x-software": of }) => !of || of.includes(program));
        const common = its.filter((operation) => operation["x-common"]);
        const count = `${program} ${common.length}`;
        assert.ok(common.length >= Math.min(12, its.length / 3), count);
        assert.ok(common.length <= 30, count);
      }
    },
  );
}

interfaces("each kind with an interface has a pattern of what must not be a read", () => {
  assert.equal(Object.keys(NO_READS).sort(), [...KINDS_WITH_INTERFACE].sort());
});

for (const [kind, pattern] of Object.entries(NO_READS)) {
  interfaces(
    `${kind}: operations that write, sign or reveal sensitive data are not marked as reads`,
    async () => {
      const operations = operationsOf(await loadInterface(kind));
      const named = operations.filter(([name]) => pattern.test(name));
      assert.ok(named.length > (kind === "nostr" ? 0 : 2));
      for (const [name, operation] of named) assert.is.not(operation["x-access"], "read", name);
    },
  );
}

interfaces.run();
