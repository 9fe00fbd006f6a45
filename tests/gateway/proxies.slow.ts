/**
 * Tests calls through nginx and Caddy (`apt-get install nginx caddy`), configured as in
 * `docs/proxies.md`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { TOKEN, WITH_TOKEN } from "./_beside.ts";

const OPENSSL = "/usr/bin/openssl";

/** `around` returns a complete configuration that contains the manual's example. */
const PROXIES = {
  nginx: {
    program: "/usr/sbin/nginx",
    around: (text: string, port: number, folder: string) => `
      daemon off; pid ${folder}/nginx.pid; error_log stderr; worker_processes 1;
      events {}
      http {
        access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        ${
      text.replace("listen 443", `listen 127.0.0.1:${port}`)
        .replaceAll("/etc/nginx/node.example", `${folder}/node.example`)
    }
      }`,
    arguments: (config: string, folder: string) => ["-p", folder, "-c", config],
  },
  caddyfile: {
    program: "/usr/bin/caddy",
    around: (text: string, port: number, folder: string) => `
{
  admin off
  auto_https disable_redirects
}
${
      text.replace(
        "node.example {",
        `https://node.example:${port} {
  bind 127.0.0.1
  tls ${folder}/node.example.pem ${folder}/node.example.key`,
      )
    }`,
    arguments: (config: string) => ["run", "--adapter", "caddyfile", "--config", config],
  },
} as const;

const DESCRIPTION = {
  openapi: "3.1.1",
  info: { title: "exampled", version: "1" },
  paths: {
    "/items/{name}": {
      get: {
        parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
        responses: { 200: { description: "An item" } },
        "x-access": "read",
      },
    },
    "/secret": { get: { responses: { 200: { description: "A secret" } }, "x-access": "secret" } },
    "/break": { post: { responses: { 200: { description: "None" } }, "x-access": "write" } },
  },
};

for (const [name, { program, around, arguments: toArguments }] of Object.entries(PROXIES)) {
  const proxied = suite(`calls behind ${name}`);
  const missing = without(program, OPENSSL);
  let lines: string[] = [];
  let node: Server;
  let service: Running;
  let proxy: ChildProcess;
  let port: number;

  proxied.before(async () => {
    if (missing) return;
    const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
    await makeCertificate(folder);
    node = createServer((request, response) => {
      lines.push(`${request.method} ${request.url}`);
      if (request.url === "/break") return request.socket.destroy();
      response.writeHead(200, { "content-type": "application/json" }).end('{"a":1.0}');
    });
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    const { port: nodePort } = node.address() as { port: number };
    const files = {
      "openapi.json": DESCRIPTION,
      "nodeface.yaml": {
        node: { url: `http://127.0.0.1:${nodePort}`, kind: "none" },
        description: "openapi.json",
        hosts: ["node.example"],
        forward: {
          open: ["reads"],
          clients: [{ name: "app", allow: ["POST /break"], token_env: "CALLS_TOKEN" }],
        },
      },
    };
    for (const [file, value] of Object.entries(files)) {
      await writeFile(join(folder, file), JSON.stringify(value));
    }
    const command = [...COMMANDS.Node, "--config", join(folder, "nodeface.yaml")];
    service = await start(command, { CALLS_TOKEN: TOKEN });
    port = await freePort();
    const page = await readFile(join(ROOT, "docs/proxies.md"), "utf8");
    const text = new RegExp(`^\`\`\`${name}\\n([^]*?)^\`\`\``, "m").exec(page)![1]!;
    const config = join(folder, `${name}.conf`);
    const upstream = text.replaceAll("127.0.0.1:8080", new URL(service.url).host);
    await writeFile(config, around(upstream, port, folder));
    const env = { HOME: folder, XDG_DATA_HOME: folder, PATH: "/usr/bin" };
    proxy = spawn(program, toArguments(config, folder), { env, stdio: "ignore" });
    await until(() => isListening(port));
  });
  proxied.after(async () => {
    proxy?.kill("SIGTERM");
    await service?.stop();
    node?.close();
  });
  proxied.before.each(() => {
    lines = [];
  });

  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    askOver(port, path, { method, headers });

  testWhere(
    proxied,
    missing,
    "a read succeeds for programs and for pages of the same origin",
    async () => {
      const origin = `https://node.example:${port}`;
      const pages = [
        {},
        { origin, "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty" },
        { origin },
      ];
      for (const headers of pages) {
        const { status, body } = await ask("/v1/node/items/1", headers);
        assert.equal([status, body], [200, '{"a":1.0}']);
      }
      const foreign = await ask("/v1/node/items/1", { origin: "https://evil.example" });
      assert.is(foreign.status, 403);
      assert.equal(lines, Array(3).fill("GET /items/1"));
    },
  );

  testWhere(proxied, missing, "a path arrives exactly as sent, or not at all", async () => {
    assert.is((await ask("/v1/node/items/a%252Fb%20c")).status, 200);
    assert.equal(lines, ["GET /items/a%252Fb%20c"]);
    lines = [];
    const malformed = [
      // No request for these paths must reach the node, even if a proxy rewrites the path.
      ...["/v1/node//items/1", "/v1//node/items/1", "//v1/node/items/1"],
      ...["//v1/node/secret", "/v1//node/secret", "/v1/node//secret", "/v1/node/secret/"],
      ...["/v1/node/items/../secret", "/v1/node/items/%2e%2e/secret", "/v1/node/%73ecret"],
      ...["/v1/node/items/..%2fsecret", "/v1/node/items/a%2fb", "/v1/node/items/%5c..%5csecret"],
      ...["/v1/node/SECRET", "/v1/node/secret;x", "/v1/node/items/a%00", "/v1/node/items/a%0d%0ab"],
    ];
    for (const path of malformed) {
      const { status } = await ask(path);
      assert.ok(status >= 300 && status < 500, `${path} gets ${status}`);
    }
    assert.equal(lines, []);
  });

  testWhere(proxied, missing, "a write whose connection breaks is sent only once", async () => {
    assert.is((await ask("/v1/node/break", {}, "POST")).status, 401);
    assert.equal(lines, []);
    assert.is((await ask("/v1/node/break", WITH_TOKEN, "POST")).status, 502);
    // After a call that failed, the service asks whether the node responds at all.
    assert.equal(lines.filter((line) => line !== "HEAD /"), ["POST /break"]);
  });

  proxied.run();
}

async function makeCertificate(folder: string): Promise<void> {
  const command = [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  const files = ["-keyout", `${folder}/node.example.key`, "-out", `${folder}/node.example.pem`];
  const { code, stderr } = await run([...command, "-nodes", ...files, "-subj", "/CN=node.example"]);
  assert.is(code, 0, stderr);
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.on("connect", end(true)).on("error", end(false));
  });

/** Sends `path` exactly as given, without normalization. */
function askOver(
  port: number,
  path: string,
  { method, headers }: { method: string; headers: Record<string, string> },
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request({
      ...{ host: "127.0.0.1", port, path, method, agent: false },
      headers: { ...headers, host: `node.example:${port}` },
      servername: "node.example",
      rejectUnauthorized: false,
    }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => body += text)
        .on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
    }).on("error", reject).end();
  });
}
