/** Tests the diagnostics about the setting `forward`. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decide } from "../src/gateway/policy.ts";
import {
  createNameWatch,
  lintNames,
  lintParameters,
  lintSettings,
  lintTokens,
} from "../src/gateway/lint-settings.ts";
import { type Forward, resolveForward } from "../src/gateway/policy.ts";
import type { ForwardSettings } from "../src/setting-types.ts";
import type { NodeOperation } from "../src/openapi/node-operation.ts";
import { forwardConflicts } from "../src/settings/configuration.ts";
import { formatSettingDiagnostic } from "../src/settings/schema.ts";

const settings = suite("the settings of calls");

const NODE = "http://127.0.0.1:8545";

const said = async (
  forward: ForwardSettings,
  listening: { host: string; port: number },
  url: string | undefined = NODE,
) =>
  (await lintSettings(resolveForward(forward), { node: { url }, ...listening })).map((
    { level, message },
  ) => `${level}: ${message}`);

const READS = { open: ["reads"] };
const FAR = { host: "0.0.0.0", port: 8080 };
const NEAR = { host: "127.0.0.1", port: 8080 };
const OPEN = "warn: every client that reaches 0.0.0.0 may call the operations in forward.open";
const PLAIN = "warn: clients send their tokens over plain http unless a proxy in front adds TLS";
const WRITES = {
  clients: [{ name: "app", allow: ["eth_sendRawTransaction"], token_env: "NODEFACE_TEST_TOKEN" }],
};

settings(
  "settings that admit other clients are reported only if these clients can reach the service",
  async () => {
    const { NODEFACE_TEST_TOKEN: before } = process.env;
    process.env.NODEFACE_TEST_TOKEN = "a-token-of-more-than-32-characters-0";
    try {
      assert.equal(await said(READS, FAR), [OPEN]);
      assert.equal(await said(READS, NEAR), []);
      assert.equal(await said(WRITES, FAR), [PLAIN]);
      assert.equal(await said(WRITES, NEAR), []);
      for (const host of ["::1", "127.0.0.2", "127.1", "localhost", "LOCALHOST"]) {
        assert.equal(await said(READS, { host, port: 8080 }), [], host);
      }
      for (const host of ["::", "::2", "fe80::1%eth0", "node.example"]) {
        assert.equal((await said(READS, { host, port: 8080 })).length, 1, host);
      }
      assert.equal(await said({ ...WRITES, open: ["reads"] }, FAR), [
        OPEN,
        PLAIN,
      ]);
    } finally {
      if (before === undefined) delete process.env.NODEFACE_TEST_TOKEN;
      else process.env.NODEFACE_TEST_TOKEN = before;
    }
  },
);

settings("a missing token is reported", async () => {
  const clients = [{ name: "app", allow: ["reads"], token_env: "NODEFACE_TEST_NO_TOKEN" }];
  const [found, ...more] = await lintTokens(resolveForward({ clients }));
  assert.is(found?.level, "error");
  assert.match(found!.message, "NODEFACE_TEST_NO_TOKEN");
  assert.equal(more, []);
});

for (
  const [url, host, port, isSelf] of [
    ["http://127.0.0.1:8080", "127.0.0.1", 8080, true],
    ["http://localhost:8080", "127.0.0.1", 8080, true],
    ["http://localhost:8080", "0.0.0.0", 8080, true],
    ["http://localhost:8080", "::1", 8080, true],
    ["http://[::1]:8080", "::", 8080, true],
    ["http://[::1]:8080", "::1", 8080, true],
    ["http://192.0.2.7:8080", "192.0.2.7", 8080, true],
    ["http://127.0.0.1", "127.0.0.1", 80, true],
    ["https://127.0.0.1", "127.0.0.1", 443, true],
    ["http://127.0.0.1:8081", "127.0.0.1", 8080, false],
    ["http://127.0.0.1", "127.0.0.1", 443, false],
    ["http://192.0.2.7:8080", "127.0.0.1", 8080, false],
    ["http://192.0.2.7:8080", "0.0.0.0", 8080, false],
    ["http://127.0.0.1:8080", "192.0.2.7", 8080, false],
  ] as const
) {
  const verb = isSelf ? "is" : "is not";
  settings(
    `node.url ${url} ${verb} the address of a service that listens on ${host}, port ${port}`,
    async () => {
      const found = (await said(READS, { host, port }, url)).filter((
        message,
      ) => message.startsWith("error"));
      const expected =
        `error: node.url ${url} is where this service would listen; choose another port with --port or listen`;
      assert.equal(found, isSelf ? [expected] : []);
    },
  );
}

settings("conflicting settings are reported one by one", () => {
  const found = (hosts: readonly string[] | "*") =>
    forwardConflicts({ origins: "*" }, hosts).map(formatSettingDiagnostic);
  assert.equal(found("*"), [
    'hosts cannot be "*" if calls are forwarded; list the host names',
    'forward has origins: "*", which needs the setting hosts',
  ]);
  assert.equal(found(["node.example"]), []);
});

const withClient = (allow: string[]): ForwardSettings => ({
  clients: [{ name: "app", allow, token_env: "NODEFACE_TEST_TOKEN" }],
});

const OPERATIONS = Object.entries({
  getBlock: "read",
  sendBlock: "write",
  getKeys: "secret",
  getOther: undefined,
}).map(([name, access]) => ({ name, method: "POST", access })) as NodeOperation[];

settings(
  "listed names must exist, and forward.open must not name writes or sensitive operations",
  () => {
    const named = (open: string[], allow: string[] = []) =>
      lintNames(OPERATIONS, resolveForward({ open, ...withClient(allow) })).map((
        { level, message },
      ) => `${level}: ${message}`);
    assert.equal(named(["reads", "getBlock", "getOther"]), []);
    assert.equal(
      named([], ["getBlock", "sendBlock", "getKeys", "getOther"]),
      [],
    );
    assert.equal(named(["sendBlock", "getKeys"]), [
      'error: forward.open names "sendBlock", which is marked write; move it to forward.clients',
      'error: forward.open names "getKeys", which is marked secret; move it to forward.clients',
    ]);
    assert.equal(named(["getBlok"], ["nothing"]), [
      'error: forward.open names "getBlok", but the description has no such operation; ' +
      "did you mean getBlock?",
      'error: forward.clients app names "nothing", but the description has no such operation',
    ]);
  },
);

/** @param isUntrusted true if the description was loaded from the network instead of a file */
const operations = (isUntrusted: boolean): NodeOperation[] =>
  ([
    ["GET", "/status", "getStatus", undefined],
    ["GET", "/blocks/{height}", "getBlock", "read"],
    ["POST", "/send", "send", "write"],
    ["GET", "/keys", "getKeys", "secret"],
  ] as const).map(([method, path, operationId, access]) => ({
    ...{
      name: `${method} ${path}`,
      method,
      path,
      operationId,
      access,
      isUntrusted,
    },
    ...{
      isMethod: false,
      isHeavy: false,
      isStreaming: false,
      isByPosition: false,
      isAnonymous: false,
    },
    ...{
      parameters: [],
      isGettable: method === "GET",
      body: undefined,
      isChecked: false,
      headers: { parameters: [], cookies: [], keyCookies: [], credentials: [] },
    },
  }));

const OPENS: readonly [names: Forward, own: string, foreign: string][] = [
  // Each character stands for one operation: `o` is public, `t` requires the token, and `-` is
  // refused.
  [{ open: ["GET /status"] }, "o---", "o---"],
  [{ open: ["getStatus"] }, "o---", "----"],
  [{ open: ["*"] }, "oo--", "----"],
  [{ open: ["GET /*"] }, "oo--", "----"],
  [{ open: ["reads", "*"] }, "oo--", "-o--"],
  [{ open: ["GET /*s"] }, "o---", "----"],
  [{ open: ["GET /st*at*us"] }, "o---", "----"],
  [{ open: ["GET /sta*atus"] }, "----", "----"],
  [{ open: ["send", "POST /send", "getKeys"] }, "----", "----"],
  [withClient(["GET /status", "send", "GET /keys"]), "t-tt", "t-tt"],
  [withClient(["reads"]), "-t--", "-t--"],
  [withClient(["*"]), "tt--", "----"],
  [withClient(["*", "send", "GET /keys"]), "tttt", "--tt"],
  // What `open` names is everybody's, whatever clients may call.
  [{ open: ["reads"], ...withClient(["*"]) }, "to--", "-o--"],
];

for (const [forward, own, foreign] of OPENS) {
  settings(
    `${JSON.stringify(forward)} allows an operation only if its name cannot be moved`,
    () => {
      const letters = { open: "o", token: "t", refused: "-" } as const;
      const opened = (isUntrusted: boolean) =>
        decide(operations(isUntrusted), resolveForward(forward)!).map(({ permission }) =>
          letters[permission]
        );
      assert.is(opened(false).join(""), own);
      assert.is(opened(true).join(""), foreign, "described by the network");
    },
  );
}

settings("a diagnostic lists the operations that * does not match", () => {
  const named = (forward: ForwardSettings) =>
    lintNames(operations(false), resolveForward(forward)).map(({ level, message }) =>
      `${level}: ${message}`
    );
  assert.equal(named({ open: ["GET /*"], ...withClient(["*"]) }), [
    'warn: forward.open names "GET /*", but * does not match operations marked write or secret: "GET /keys"',
    'warn: forward.clients app names "*", but * does not match operations marked write or secret: ' +
    '"POST /send", "GET /keys"',
  ]);
  assert.equal(named({ open: ["reads", "GET /b*"] }), []);
});

settings("a name of what nobody may call is an error, which says why", () => {
  const [first, ...others] = operations(false);
  const streaming = [{ ...first!, isStreaming: true }, ...others];
  const named = (forward: ForwardSettings) => lintNames(streaming, resolveForward(forward));
  const stream = '"GET /status", which nobody may call: the response is a stream';
  assert.equal(named({ open: ["GET /status"], ...withClient(["GET /status"]) }), [
    { level: "error", message: `forward.open names ${stream}` },
    { level: "error", message: `forward.clients app names ${stream}` },
  ]);
  assert.equal(named({ open: ["reads", "GET /*"] }).map(({ level }) => level), ["warn"]);
});

settings("a name of what may be called is no error, whatever else has the name", () => {
  const [first, second, ...others] = operations(false);
  const named = (all: NodeOperation[], open: string[]) =>
    lintNames(all, resolveForward({ open })).map(({ message }) => message);
  const twin = { obstacle: "GET /{status} matches the same paths", twin: "GET /{status}" };
  assert.equal(named([{ ...first!, ...twin }, second!, ...others], ["GET /status"]), []);
  const stream = { ...first!, name: "status", isStreaming: true };
  assert.equal(named([stream, { ...second!, operationId: "status" }], ["status"]), []);
});

settings("a name that now matches other operations is told for each list that has it", () => {
  const watch = createNameWatch(resolveForward({ open: ["get*"], ...withClient(["get*"]) }));
  const named = (name: string) => ({ name }) as NodeOperation;
  assert.equal(watch([named("getBlock")]), []);
  const now = 'which now matches "getOther"; before, it matched "getBlock"';
  assert.equal(watch([named("getOther")]), [
    { level: "warn", message: `forward.open names "get*", ${now}` },
    { level: "warn", message: `forward.clients app names "get*", ${now}` },
  ]);
});

settings("open operations with a parameter that may make them more than reads are named", () => {
  const withParameter = (name: string, more: Partial<NodeOperation> = {}) => {
    const [, operation] = operations(false);
    const parameters = [{ name, in: "query" as const, isRequired: false }];
    return { ...operation!, parameters, ...more };
  };
  const said = (one: NodeOperation, forward: ForwardSettings = { open: ["reads"] }) =>
    lintParameters([one], resolveForward(forward)).map(({ message }) => message);
  for (const name of ["watch", "Follow", "stream", "url", "callback", "jsonp", "cmd", "action"]) {
    assert.match(said(withParameter(name))[0]!, new RegExp(` with "${name}", which may make it a`));
  }
  assert.equal(said(withParameter("limit")), []);
  assert.equal(said(withParameter("watch", { isChecked: true })), []);
  assert.equal(said(withParameter("watch", { access: "write" })), []);
  assert.equal(said(withParameter("watch"), withClient(["reads"])), []);
});

settings.run();
