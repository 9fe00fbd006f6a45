import { readFileSync, writeFileSync } from "node:fs";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request as plainRequest } from "node:http";
import { request } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join, posix } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { send } from "../_http.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { run, type Running, start } from "../_server.ts";
import { call, startDaemon, until } from "../nodes/_daemon.ts";
import { EXECUTABLE, NOWHERE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";
import { freePort } from "../_port.ts";

const folder = makeFolder();
const OPENSSL = "/usr/bin/openssl";

/** In the snippet, the lines for nginx's `http` block are comments. */
const forHttpBlock = (snippet: string) =>
  [...new Set(snippet.match(/^# {3}.*$/gm))].map((line) => line.slice(4)).join("\n");

const PROXIES = [
  {
    name: "nginx",
    program: "/usr/sbin/nginx",
    snippet: "deploy/nginx.conf",
    around: (snippet: string, port: number) => `
      daemon off; pid ${folder}/nginx.pid; error_log stderr; worker_processes 1;
      events {}
      http {
        access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        ${forHttpBlock(snippet)}
        server {
          listen 127.0.0.1:${port} ssl; server_name node.example;
          ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
          ${snippet.replaceAll("#limit_conn", "limit_conn")}
        }
      }`,
    cleans: (path: string) => path,
    arguments: (config: string) => ["-p", folder, "-c", config],
  },
  {
    name: "Caddy",
    program: "/usr/bin/caddy",
    snippet: "deploy/Caddyfile",
    around: (snippet: string, port: number) => `
{
  admin off
  auto_https disable_redirects
}
https://node.example:${port} {
  bind 127.0.0.1
  tls ${folder}/cert.pem ${folder}/key.pem
  ${snippet}
}`,
    cleans: (path: string) =>
      /(?:^|\/)\.\.?(?:\/|$)|\/\//.test(path) ? posix.normalize(path) : path,
    arguments: (config: string) => ["run", "--adapter", "caddyfile", "--config", config],
  },
];

interface Behind {
  readonly services: Readonly<Record<string, Running>>;
  readonly seen: string[];
  mine(): Promise<number>;
  /** If this function is set, the REST node responds only when `respond` is called. */
  hold: ((respond: () => void) => void) | undefined;
  stop(): Promise<void>;
}

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const ETCD = "/usr/bin/etcd";

const REST = `openapi: 3.1.1
info: { title: exampled, version: "1" }
paths:
  /blocks/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: The block } }
      x-access: read
`;

async function startBehind(): Promise<Behind> {
  const home = makeFolder();
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const anvil = await startDaemon([ANVIL, "--port", `${ports[0]}`, "--silent"], ports[0]);
  const etcd = await startDaemon([
    ...[ETCD, "--data-dir", join(home, "etcd"), "--listen-peer-urls"],
    ...[`http://127.0.0.1:${ports[2]}`, "--listen-client-urls", `http://127.0.0.1:${ports[1]}`],
    ...["--advertise-client-urls", `http://127.0.0.1:${ports[1]}`],
  ], ports[1]);
  const seen: string[] = [];
  const held: Pick<Behind, "hold"> = { hold: undefined };
  const rest = createServer(({ url = "" }, response) => {
    seen.push(url);
    const respond = () => response.setHeader("content-type", "application/json").end("{}");
    if (held.hold) held.hold(respond);
    else respond();
  }).listen(0, "127.0.0.1");
  await once(rest, "listening");
  writeFileSync(join(home, "rest.yaml"), REST);
  const startService = async (name: string, node: object, more: object = {}) => {
    const config = join(home, `${name}.json`);
    const settings = { hosts: ["node.example"], forward: "reads", node, ...more };
    writeFileSync(config, JSON.stringify(settings));
    return await start([EXECUTABLE, "--config", config], {}, NOWHERE);
  };
  const { port } = rest.address() as AddressInfo;
  const services = {
    ethereum: await startService("ethereum", { url: anvil.url }, { metrics: true }),
    etcd: await startService("etcd", { url: etcd.url }),
    rest: await startService("rest", { url: `http://127.0.0.1:${port}`, kind: "none" }, {
      description: "rest.yaml",
    }),
  };
  for (const service of [services.ethereum, services.etcd]) {
    await until(async () => {
      const { paths } = await (await send(new URL("/spec.json", service.url))).json();
      return Object.keys(paths).length > 2;
    });
  }
  return Object.assign(held, {
    services,
    seen,
    async mine() {
      await call(anvil.url, "evm_mine");
      return Number(await call(anvil.url, "eth_blockNumber"));
    },
    async stop() {
      for (const service of Object.values(services)) await service.stop();
      await Promise.all([anvil.stop("SIGKILL"), etcd.stop("SIGKILL")]);
      rest.close();
    },
  });
}

const CALLS = {
  ethereum: { path: "/v1/rpc/eth_chainId", body: "{}", answer: /^"0x7a69"/ },
  etcd: { path: "/v3/maintenance/status", body: "{}", answer: /"version"/ },
} as const;

/** Proxies have misrouted these paths in the past. */
const MALFORMED = [
  "/v1/node/blocks/a%2Fb",
  "/v1/node/blocks/a%252Fb",
  "/v1/node/blocks/%2e%2e",
  "/v1/node/blocks/%2e%2e%2fsecret",
  "/v1/node/blocks/%252e%252e",
  "/v1/node/blocks/..",
  "/v1/node/blocks/../secret",
  "/v1/node/secret/../blocks/7",
  "/v1/node/./blocks/7",
  "/v1/node//blocks/7",
  "/v1/node/blocks/7/",
  "/v1/node/blocks/7;a=b",
  "/v1/node/blocks/..;/secret",
  "/v1/node/blocks/a%5Cb",
  "/v1/node/blocks/a\\b",
  "/v1/node/blocks/%00",
  "/v1/node/blocks/%zz",
  "/v1/node/blocks/%C3%A9",
  "/v1/node/blocks/7%3Fx=1",
  "/v1/node/blocks/7%23x",
  "/v1/node/blocks/7?x=%2F",
  "/v1/node%2Fblocks/7",
  "/v1%2Fnode/blocks/7",
];

/** These paths disguise the prefix `/rest` with `..`, an additional slash, or percent-encoding. */
const DETOURS = [
  "/ethereum/../rest/v1/node/blocks/7",
  "/ethereum/%2e%2e/rest/v1/node/blocks/7",
  "/ethereum/..%2frest/v1/node/blocks/7",
  "/x/../rest/v1/node/blocks/7",
  "//rest/v1/node/blocks/7",
  "/%72est/v1/node/blocks/7",
  "/rest%2Fv1/node/blocks/7",
];

for (const { name, program, snippet, cleans, around, arguments: toArguments } of PROXIES) {
  const proxied = suite(`two nodes behind ${name}, each under a prefix, with TLS at the proxy`);
  const missing = without(program, OPENSSL, ANVIL, ETCD);
  let behind: Behind;
  let proxy: ChildProcess;
  let port: number;

  proxied.before(async () => {
    if (missing) return;
    await makeCertificate();
    behind = await startBehind();
    const { ethereum, etcd, rest } = behind.services;
    port = await freePort();
    const config = join(folder, `${name}.conf`);
    const text = readFileSync(ROOT + snippet, "utf8");
    const hostOf = (service: Running | undefined) => new URL(service!.url).host;
    const two = text.replaceAll("127.0.0.1:8080", hostOf(ethereum))
      .replaceAll("127.0.0.1:8081", hostOf(etcd));
    // The settings for the third service are a copy of those for the first service.
    const third = text.replaceAll("ethereum", "rest").replaceAll("etcd", "unused")
      .replaceAll("127.0.0.1:8080", hostOf(rest));
    writeFileSync(config, around(`${two}\n${third}`, port));
    const env = { HOME: folder, XDG_DATA_HOME: folder, PATH: "/usr/bin" };
    proxy = spawn(program, toArguments(config), { env, stdio: ["ignore", "ignore", "pipe"] });
    await listening(proxy, port);
  });
  proxied.after(async () => {
    proxy?.kill("SIGTERM");
    await behind?.stop();
  });

  testWhere(proxied, missing, "each path gets the same bytes under each prefix", async () => {
    for (const prefix of ["ethereum", "etcd"]) {
      for (const path of ["/v1/spec", "/spec.json", "/spec.yaml", "/favicon.ico"]) {
        for (const coding of ["identity", "gzip"]) {
          const headers = { "accept-encoding": coding };
          const url = new URL(path, behind.services[prefix]!.url);
          // The page shows the node's status, which may change between two requests.
          const same = async () => {
            const answer = await ask(port, `/${prefix}${path}`, headers);
            const direct = await send(url, { headers });
            assert.is(answer.status, 200);
            for (const header of ["content-type", "content-encoding", "cache-control"]) {
              assert.is(answer.headers[header] ?? null, direct.headers.get(header), header);
            }
            return answer.headers.etag === direct.headers.get("etag") &&
              answer.body.equals(Buffer.from(await direct.arrayBuffer()));
          };
          await until(same).catch(() => assert.unreachable(`${prefix}${path} ${coding}`));
        }
      }
      const { status, software } = JSON.parse(
        (await ask(port, `/${prefix}/v1/info`)).body.toString(),
      );
      assert.equal([status, software], ["ok", prefix === "etcd" ? "etcd" : "anvil"]);
    }
  });

  testWhere(proxied, missing, "the explorer's files and links stay below the prefix", async () => {
    const html = (await ask(port, "/etcd/v1/spec")).body.toString();
    const references = [...html.matchAll(/(?:href|src)="(\.\.\/[^"]+)"/g)].map(([, path]) => path!);
    assert.ok(references.length > 3);
    for (const reference of references) {
      const { pathname } = new URL(reference, "https://node.example/etcd/v1/spec");
      assert.match(pathname, /^\/etcd\//);
      assert.is((await ask(port, pathname)).status, 200, pathname);
    }
  });

  testWhere(proxied, missing, "the prefix redirects to the explorer", async () => {
    let url = new URL("https://node.example/ethereum");
    for (let hops = 0; hops < 3 && url.pathname !== "/ethereum/v1/spec"; hops++) {
      const { headers } = await ask(port, url.pathname);
      url = new URL(headers.location ?? "", url);
    }
    assert.is(url.pathname, "/ethereum/v1/spec");
  });

  testWhere(proxied, missing, "a matching ETag gets 304", async () => {
    const { headers } = await ask(port, "/etcd/spec.json");
    const again = await ask(port, "/etcd/spec.json", { "if-none-match": String(headers.etag) });
    assert.is(again.status, 304);
  });

  for (const [prefix, { path, body, answer }] of Object.entries(CALLS)) {
    testWhere(
      proxied,
      missing,
      `the servers in the description of ${prefix} lead to the node`,
      async () => {
        const place = `https://node.example:${port}/${prefix}/spec.json`;
        const { servers, paths } = JSON.parse(
          (await ask(port, `/${prefix}/spec.json`)).body.toString(),
        );
        const operation = paths[path].post;
        const [server] = operation.servers ?? paths[path].servers ?? servers;
        const base = new URL(server.url, place).href.replace(/\/$/, "");
        assert.is(base, `https://node.example:${port}/${prefix}`);
        const headers = {
          "content-type": "application/json",
          "sec-fetch-site": "same-origin",
          origin: new URL(place).origin,
          "x-nodeface": "1",
        };
        const sent = await ask(port, new URL(base + path).pathname, headers, body);
        assert.is(sent.status, 200, sent.body.toString());
        assert.match(sent.body.toString(), answer);
        const foreign = { ...headers, "sec-fetch-site": "cross-site", origin: "https://a.example" };
        assert.is((await ask(port, new URL(base + path).pathname, foreign, body)).status, 403);
      },
    );
  }

  if (name === "nginx") {
    testWhere(
      proxied,
      missing,
      "one address can make three calls at a time, and request any number of pages",
      async () => {
        const held: (() => void)[] = [];
        behind.hold = (respond) => void held.push(respond);
        try {
          const calls = Array.from({ length: 3 }, () => ask(port, "/rest/v1/node/blocks/7"));
          await until(() => Promise.resolve(held.length === 3));
          for (const detour of ["", "v1/info/../", "v1/spec%2f../", "assets/a/../../"]) {
            const path = `/rest/${detour}v1/node/blocks/7`;
            assert.is((await ask(port, path)).status, 429, path);
          }
          for (const path of ["v1/spec", "v1/spec/simple", "spec.json", "v1/info?a=b"]) {
            assert.is((await ask(port, `/rest/${path}`)).status, 200, path);
          }
          for (const respond of held) respond();
          for (const { status } of await Promise.all(calls)) assert.is(status, 200);
        } finally {
          behind.hold = undefined;
        }
      },
    );
  }

  testWhere(proxied, missing, "events arrive one by one, and the stream stays open", async () => {
    const stream = await listen(port, "/ethereum/v1/events?events=head");
    const told = () => stream.text;
    await until(() => Promise.resolve(told().includes("event: snapshot\n")));
    assert.is(stream.coding, undefined);
    for (let i = 0; i < 2; i++) {
      const head = `data: {"height":${await behind.mine()}`;
      await until(() => Promise.resolve(told().includes(head)));
    }
    await until(() => Promise.resolve(/^:$/m.test(told())));
    stream.leave();
    const metrics = new URL("/v1/metrics", behind.services.ethereum!.url);
    await until(async () =>
      /^nodeface_event_listeners 0$/m.test(await (await send(metrics)).text())
    );
  });

  testWhere(proxied, missing, "events are not served for another host name", async () => {
    const answer = await ask(port, "/etcd/v1/events", { host: "attacker.example" });
    // Caddy sends an empty response to requests for other host names.
    if (name === "Caddy") assert.equal([answer.status, answer.body.length], [200, 0]);
    else assert.is(answer.status, 421);
  });

  testWhere(
    proxied,
    missing,
    "a malformed path is refused, or reaches the node in the same form as without the proxy",
    async () => {
      const { rest } = behind.services;
      for (const path of MALFORMED) {
        behind.seen.length = 0;
        const direct = await askDirectly(rest!.url, cleans(path));
        const expected = [...behind.seen];
        behind.seen.length = 0;
        const { status } = await ask(port, `/rest${path}`);
        if (status === 400) assert.equal(behind.seen, [], path);
        else assert.equal([status, ...behind.seen], [direct, ...expected], path);
        for (const target of behind.seen) {
          assert.match(target, /^\/blocks\/[^/?]+(?:\?x=%2F)?$/, `${path} arrived as ${target}`);
          assert.not.match(decodeURIComponent(target), /\/\.\.?(\/|$)/);
        }
      }
    },
  );

  testWhere(
    proxied,
    missing,
    "a detour into a prefix is refused, or treated like the direct path",
    async () => {
      for (const path of DETOURS) {
        behind.seen.length = 0;
        const { status } = await ask(port, path);
        if (status === 200) assert.equal(behind.seen, ["/blocks/7"], path);
        else assert.ok(status >= 400 && behind.seen.length === 0, `${path}: ${status}`);
        if (name === "nginx") assert.is.not(status, 200, path);
      }
    },
  );

  proxied.run();
}

async function makeCertificate(): Promise<void> {
  const command = [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  const files = ["-nodes", "-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const { code, stderr } = await run([...command, ...files, "-subj", "/CN=node.example"]);
  assert.is(code, 0, stderr);
}

function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  content?: string,
) {
  type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer };
  return new Promise<Answer & { headers: { location?: string } }>((resolve, reject) => {
    request({
      host: "127.0.0.1",
      port,
      path,
      method: content === undefined ? "GET" : "POST",
      headers: { host: `node.example:${port}`, ...headers },
      servername: "node.example",
      rejectUnauthorized: false,
      agent: false,
    }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk)).on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as NodeJS.Dict<string | string[]> & { location?: string },
          body: Buffer.concat(chunks),
        }));
    }).on("error", reject).end(content);
  });
}

function listen(port: number, path: string) {
  type Stream = { text: string; coding: string | undefined; leave(): void };
  return new Promise<Stream>((resolve, reject) => {
    const headers = { host: `node.example:${port}`, "accept-encoding": "gzip, br" };
    const sent = request({
      ...{ host: "127.0.0.1", port, path, headers, agent: false },
      servername: "node.example",
      rejectUnauthorized: false,
    }, (response) => {
      const coding = response.headers["content-encoding"];
      const stream: Stream = { text: "", coding, leave: () => void sent.destroy() };
      response.on("data", (part) => stream.text += part).on("error", () => {});
      resolve(stream);
    });
    sent.on("error", reject).end();
  });
}

/** `fetch` would normalize the path. */
function askDirectly(url: string, path: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    plainRequest({ hostname, port, path, agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    }).on("error", reject).end();
  });
}

function listening(child: ChildProcess, port: number): Promise<void> {
  let said = "";
  child.stderr?.on("data", (text) => said += text);
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("exit", () => reject(new Error(said)));
    const knock = () => {
      if (child.exitCode !== null) return;
      const socket = connect(port, "127.0.0.1");
      socket.on("connect", () => socket.end() && resolve());
      socket.on("error", () => setTimeout(knock, 20));
    };
    knock();
  });
}
