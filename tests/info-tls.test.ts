import { suite } from "uvu";
import * as assert from "uvu/assert";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "node:net";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { createNodeface } from "../src/index.ts";
import { findUnusable } from "../src/node/http-client.ts";
import { testWhere, without } from "./_needs.ts";
import { until } from "./_gateway.ts";
import { contextFor, failure, get, listen, type Played, within } from "./_sources.ts";

const tls = suite("TLS");

const OPENSSL = "/usr/bin/openssl";
const MISSING = without(OPENSSL);
// Deno 2.9's server does not request client certificates. Bun 1.4's `fetch` only reports that the
// handshake failed.
const NOT_NODE = "Deno" in globalThis || "Bun" in globalThis ? "needs Node" : undefined;
const folder = await mkdtemp(join(tmpdir(), "nodeface-"));

const openssl = (...args: string[]) =>
  execFileSync(OPENSSL, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "ignore"],
  });
const NEW_KEY = [
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:prime256v1",
  "-nodes",
];

async function sign(name: string, names: string, days: string): Promise<void> {
  await writeFile(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
  openssl(
    "req",
    ...NEW_KEY,
    "-subj",
    `/CN=${name}`,
    "-keyout",
    `${name}.key`,
    "-out",
    "request",
  );
  openssl(
    ...[
      "x509",
      "-req",
      "-in",
      "request",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
    ],
    ...["-days", days, "-extfile", `${name}.ext`, "-out", `${name}.pem`],
  );
}

const text = (name: string) => readFile(join(folder, name), "utf8");

async function playTls(
  name: string,
  options: ServerOptions = {},
  body: string | Uint8Array = "[]",
  listener?: RequestListener,
) {
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      key: await text(`${name}.key`),
      cert: await text(`${name}.pem`),
      ...options,
    },
    listener ?? (({ url, method }, response) => {
      sockets.add(response.socket!);
      if (url === "/hang") return;
      if (url === "/redirect") {
        return void response.writeHead(302, { location: "/" }).end();
      }
      if (url === "/packed") {
        return void response.writeHead(200, { "content-encoding": "gzip" }).end(
          gzipSync(body),
        );
      }
      response.writeHead(200, { "x-method": method }).end(body);
    }),
  );
  const played: Played = await listen(
    server,
    "https",
    () => server.closeAllConnections(),
  );
  return { ...played, sockets };
}

let ca: string;

const TRUST = { ca_file: join(folder, "ca.pem") };

/** A context keeps the TLS sessions of closed servers, so each call creates a new context. */
const trusting = (url: string) => contextFor(url, { tls: TRUST });

tls.before(async () => {
  if (MISSING) return;
  openssl(
    "req",
    "-x509",
    ...NEW_KEY,
    "-subj",
    "/CN=ca",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
  );
  await sign("good", "IP:127.0.0.1,DNS:localhost", "30");
  await sign("elsewhere", "DNS:elsewhere.example", "30");
  await sign("expired", "IP:127.0.0.1", "-1");
  openssl(
    "req",
    "-x509",
    ...NEW_KEY,
    "-subj",
    "/CN=self",
    "-keyout",
    "self.key",
    "-out",
    "self.pem",
  );
  ca = await text("ca.pem");
});

tls.after(() => rm(folder, { recursive: true }));

testWhere(
  tls,
  MISSING,
  "with node.tls, a certificate from a private authority is trusted",
  async () => {
    const { url, sockets, close } = await playTls("good");
    const context = trusting(url);
    for (let asked = 0; asked < 3; asked++) {
      assert.is((await get(`${url}/`, context)).text, "[]");
    }
    assert.is(sockets.size, 1, "the connection is kept");
    await close();
  },
);

testWhere(tls, MISSING, "node.tls also applies to reading the node's own description", async () => {
  const body = JSON.stringify({
    openapi: "3.1.1",
    info: { title: "Own", version: "1" },
    paths: {},
  });
  const { url, close } = await playTls("good", {}, body);
  for (
    const [node, title] of [[{ tls: { ca_file: join(folder, "ca.pem") } }, "Own"], [
      {},
      "Nodeface",
    ]] as const
  ) {
    const options = { description: `${url}/openapi.json`, log() {} };
    const app = createNodeface({ node: { url, kind: "none", ...node }, ...options });
    const answer = await app.fetch(new Request("http://localhost/spec.json"));
    assert.is((await answer.json()).info.title, title);
  }
  await close();
});

testWhere(
  tls,
  MISSING,
  "a node's own description is shown even if it needs a private authority and a login",
  async () => {
    const description = { openapi: "3.1.1", info: { title: "Own", version: "1" }, paths: {} };
    const ledger = { chain_id: 1, ledger_version: "1", node_role: "full_node" };
    const responses: Record<string, unknown> = { "/v1": ledger, "/v1/spec.json": description };
    const login = `Basic ${btoa("user:secret")}`;
    const { url, close } = await playTls("good", {}, "", ({ url = "", headers }, response) => {
      const isIn = headers.authorization === login;
      response.writeHead(isIn ? 200 : 401, isIn ? {} : { "www-authenticate": "Basic" });
      response.end(isIn ? JSON.stringify(responses[url] ?? {}) : "");
    });
    process.env.TLS_LOGIN = "user:secret";
    const auth = { basic_env: "TLS_LOGIN" };
    const node = { url, tls: TRUST, auth, kind: "aptos", timeout: "10s" as const };
    const app = createNodeface({ node, log() {} });
    const ask = async (path: string) =>
      await (await app.fetch(new Request(`http://localhost${path}`))).json();
    assert.is((await ask("/v1/info")).chain_id, "1");
    // On a busy machine, the kind's own description is shown until the node's has been read.
    await until(async () => (await ask("/spec.json")).info.title === "Own");
    await app.close();
    await close();
  },
);

testWhere(
  tls,
  MISSING,
  "without node.tls, a private certificate is not trusted, and the hint names the setting",
  async () => {
    for (const name of ["good", "self"]) {
      const { url, close } = await playTls(name);
      const { code, message, hint } = await failure(get(url));
      assert.equal([code, message], [
        "tls",
        "has a certificate that is not trusted",
      ]);
      assert.match(
        hint!,
        "set node.tls.ca_file to trust its certificate authority",
      );
      await close();
    }
  },
);

testWhere(
  tls,
  MISSING,
  "with node.tls, a certificate that is invalid for another reason is not trusted",
  async () => {
    for (
      const [name, message] of [
        ["elsewhere", "has a certificate for another name"],
        ["expired", "has a certificate that has expired"],
        ["self", "has a certificate that is not trusted"],
      ] as const
    ) {
      const { url, close } = await playTls(name);
      const error = await failure(
        get(url, trusting(url)),
      );
      assert.equal([error.code, error.message], ["tls", message]);
      await close();
    }
  },
);

testWhere(
  tls,
  MISSING,
  "a renewed certificate in the file is trusted without a restart",
  async () => {
    const { url, close } = await playTls("good");
    const path = join(folder, "renewed.pem");
    await writeFile(path, await text("self.pem"));
    const context = contextFor(url, { tls: { ca_file: path } });
    assert.is((await failure(get(url, context))).code, "tls");
    await writeFile(path, await text("ca.pem"));
    await until(() => get(url, context).then(() => true, () => false));
    await close();
  },
);

testWhere(tls, MISSING, "responses over TLS have the same limits", async () => {
  const { url, close } = await playTls("good");
  const context = trusting(url);
  const said = async (path: string, limits = within()) =>
    (await failure(get(`${url}${path}`, context, limits))).message;
  assert.is(
    await said("/hang", within(100)),
    "did not finish its response within 100 ms",
  );
  assert.is(await said("/redirect"), "responded with a redirect (302), which is not followed");
  assert.is(await said("/packed"), "compressed its response (gzip) without being asked to");
  await close();
  const large = await playTls("good", {}, "x".repeat(1024 * 1024 + 1));
  const { message } = await failure(
    get(large.url, trusting(large.url)),
  );
  assert.is(message, "sent a response of more than 1 MiB");
  await large.close();
});

testWhere(
  tls,
  NOT_NODE ?? MISSING,
  "if a node requires a client certificate, the error says so",
  async () => {
    const { url, close } = await playTls("good", {
      requestCert: true,
      rejectUnauthorized: true,
      ca,
      minVersion: "TLSv1.3",
    });
    const { code, message } = await failure(
      get(url, trusting(url)),
    );
    assert.match(
      `${code}: ${message}`,
      /^tls: requires a client certificate|^reset: /,
    );
    await close();
  },
);

const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;

tls("if the file of an authority has no certificate, the error says so", async () => {
  const path = join(folder, "none.pem");
  for (const text of ["", "{}", "-----BEGIN PRIVATE KEY-----", pem("broken"), pem("&")]) {
    await writeFile(path, text);
    assert.equal(await findUnusable({ tls: { ca_file: path } }), [{
      message: `cannot read node.tls.ca_file ${path}: no PEM certificate in the file`,
      dependsOnReader: false,
    }]);
  }
});

tls.run();
