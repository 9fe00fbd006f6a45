import { readFileSync, writeFileSync } from "node:fs";
import { type ChildProcess, spawn } from "node:child_process";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PATHS } from "../_app.ts";
import { send } from "../_http.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { run, type Running } from "../_server.ts";
import { startExecutable } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";
import { freePort } from "./_port.ts";

const folder = makeFolder();
const OPENSSL = "/usr/bin/openssl";

/** How a proxy is configured around its snippet, and started. */
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
        server {
          listen 127.0.0.1:${port} ssl; server_name node.example;
          ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
          ${snippet}
        }
      }`,
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
    arguments: (config: string) => ["run", "--adapter", "caddyfile", "--config", config],
  },
];

for (const { name, program, snippet, around, arguments: toArguments } of PROXIES) {
  const proxied = suite(`behind ${name}, under a prefix, with TLS ending there`);
  const missing = without(program, OPENSSL);
  let server: Running;
  let proxy: ChildProcess;
  let port: number;

  proxied.before(async () => {
    if (missing) return;
    await makeCertificate();
    server = await startExecutable();
    port = await freePort();
    const config = join(folder, `${name}.conf`);
    const text = readFileSync(ROOT + snippet, "utf8");
    const upstream = text.replaceAll("127.0.0.1:8080", new URL(server.url).host);
    writeFileSync(config, around(upstream, port));
    const env = { HOME: folder, XDG_DATA_HOME: folder, PATH: "/usr/bin" };
    proxy = spawn(program, toArguments(config), { env, stdio: ["ignore", "ignore", "pipe"] });
    await listening(proxy, port);
  });
  proxied.after(async () => {
    proxy?.kill("SIGTERM");
    await server?.stop();
  });

  for (const [path] of PATHS) {
    testWhere(proxied, missing, `GET ${path} gives the same bytes`, async () => {
      for (const coding of ["identity", "gzip", "br"]) {
        const headers = { "accept-encoding": coding };
        const answer = await ask(port, `/node${path}`, headers);
        const direct = await send(new URL(path, server.url), { headers });
        assert.is(answer.status, 200);
        for (const header of ["etag", "content-type", "content-encoding", "cache-control"]) {
          assert.is(answer.headers[header] ?? null, direct.headers.get(header), header);
        }
        assert.ok(answer.body.equals(Buffer.from(await direct.arrayBuffer())));
      }
    });
  }

  testWhere(proxied, missing, "the explorer's files and links stay behind the prefix", async () => {
    const html = (await ask(port, "/node/v1/spec")).body.toString();
    const references = [...html.matchAll(/(?:href|src)="(\.\.\/[^"]+)"/g)].map(([, path]) => path!);
    assert.ok(references.length > 3);
    for (const reference of references) {
      const { pathname } = new URL(reference, "https://node.example/node/v1/spec");
      assert.is((await ask(port, pathname)).status, 200, pathname);
    }
  });

  testWhere(proxied, missing, "the prefix leads to the explorer", async () => {
    let url = new URL("https://node.example/node");
    for (let hops = 0; hops < 3 && url.pathname !== "/node/v1/spec"; hops++) {
      const { headers } = await ask(port, url.pathname);
      url = new URL(headers.location ?? "", url);
    }
    assert.is(url.pathname, "/node/v1/spec");
  });

  testWhere(proxied, missing, "a validator that matches is answered with 304", async () => {
    const { headers } = await ask(port, "/node/spec.json");
    const again = await ask(port, "/node/spec.json", { "if-none-match": String(headers.etag) });
    assert.is(again.status, 304);
  });

  proxied.run();
}

async function makeCertificate(): Promise<void> {
  const command = [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  const files = ["-nodes", "-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const { code, stderr } = await run([...command, ...files, "-subj", "/CN=node.example"]);
  assert.is(code, 0, stderr);
}

/** Sends one request over TLS, with the name that the proxy serves. */
function ask(port: number, path: string, headers: Record<string, string> = {}) {
  type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer };
  return new Promise<Answer & { headers: { location?: string } }>((resolve, reject) => {
    request({
      host: "127.0.0.1",
      port,
      path,
      headers: { ...headers, host: `node.example:${port}` },
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
    }).on("error", reject).end();
  });
}

/** Waits until a program takes connections; rejects where it ends instead. */
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
