/** nginx and Caddy (`apt-get install nginx caddy`), configured by the files in `deploy/`. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";
import { dial } from "../raw/_socket.ts";

interface ProxyProgram {
  readonly path: string;
  readonly file: string;
  /** Returns a complete configuration, which has a server around each text. */
  around(servers: readonly ProxyServer[], folder: string): string;
  words(config: string, folder: string): readonly string[];
}

interface ProxyServer {
  readonly port: number;
  readonly text: string;
}

export const PROXIES: Readonly<Record<"nginx" | "Caddy", ProxyProgram>> = {
  nginx: {
    path: "/usr/sbin/nginx",
    file: "nginx.conf",
    around: (servers, folder) => `
      daemon off; pid ${folder}/nginx.pid; error_log stderr; worker_processes 1;
      events {}
      http {
        access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        ${
      servers.map(({ port, text }) => `server {\nlisten 127.0.0.1:${port};\n${text}\n}`)
        .join("\n")
    }
      }`,
    words: (config, folder) => ["-p", folder, "-c", config],
  },
  Caddy: {
    path: "/usr/bin/caddy",
    file: "Caddyfile",
    around: (servers) =>
      `{\nadmin off\n}\n${
        servers.map(({ port, text }) => `http://127.0.0.1:${port} {\n${text}\n}`).join("\n")
      }`,
    words: (config) => ["run", "--adapter", "caddyfile", "--config", config],
  },
};

export class DeployProxy {
  /** The addresses of the services behind the proxy, in the given order. */
  readonly urls: readonly string[];
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(urls: readonly string[], child: ChildProcess, folder: string) {
    this.urls = urls;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(name: keyof typeof PROXIES, services: readonly string[]) {
    const { path, file, around, words } = PROXIES[name];
    const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
    const text = await readFile(join(ROOT, "deploy", file), "utf8");
    const servers: ProxyServer[] = [];
    for (const service of services) {
      const { host } = new URL(service);
      servers.push({ port: await freePort(), text: text.replaceAll("127.0.0.1:8080", host) });
    }
    const config = join(folder, file);
    await writeFile(config, around(servers, folder));
    const env = { HOME: folder, XDG_DATA_HOME: folder, PATH: "/usr/bin" };
    const child = spawn(path, words(config, folder), { env, stdio: "ignore" });
    const origins = servers.map(({ port }) => `http://127.0.0.1:${port}`);
    for (const origin of origins) {
      await until(() => dial(origin).then((socket) => !!socket.destroy(), () => false));
    }
    return new DeployProxy(origins.map((origin) => `${origin}/ethereum`), child, folder);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.kill("SIGTERM");
    await ended;
    await rm(this.#folder, { recursive: true });
  }
}
