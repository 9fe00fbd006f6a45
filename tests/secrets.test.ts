import { suite } from "uvu";
import * as assert from "uvu/assert";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { check } from "../src/cli/check.ts";
import { files } from "../src/cli/read-config.ts";
import { readConfig } from "./_config.ts";
import { formatMessage } from "../src/cli/output.ts";
import { warnOfReaders } from "../src/platform.ts";
import { lintSettings } from "../src/gateway/lint-settings.ts";
import { Clients } from "../src/gateway/clients.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { checkCredentials } from "../src/node/secrets.ts";
import { withDefaults } from "../src/options.ts";
import { passTime } from "./_clock.ts";
import { NOT_ROOT, testWhere } from "./_needs.ts";
import { contextFor, get } from "./_sources.ts";

const secrets = suite("secrets");

let folder: string;

secrets.before(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeface-secrets-"));
});

secrets.after(async () => {
  delete process.env.CREDENTIALS_DIRECTORY;
  await rm(folder, { recursive: true });
});

async function file(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

async function configured(text: string) {
  const path = await file("nodeface.yaml", text);
  return await readConfig(["check", "--config", path], {}, files);
}

const NO_WINDOWS = process.platform === "win32" ? "needs permissions of POSIX" : undefined;

for (const form of ["$CREDENTIALS_DIRECTORY", "${CREDENTIALS_DIRECTORY}"]) {
  secrets(`${form}/ at the start of a path means the folder of systemd's credentials`, async () => {
    await file("cookie", "user:one");
    process.env.CREDENTIALS_DIRECTORY = folder;
    const { node } = await configured(
      `node: { url: http://127.0.0.1:2, auth: { basic_file: "${form}/cookie" } }`,
    );
    assert.equal(node.auth, { basic_file: `${form}/cookie` });
    let shown: string | null = null;
    const fetch = ((_, init) => {
      shown = new Headers(init?.headers).get("authorization");
      return Promise.resolve(new Response(""));
    }) as typeof globalThis.fetch;
    await get(
      "http://127.0.0.1:2",
      contextFor("http://127.0.0.1:2", {
        fetch,
        auth: node.auth!,
      }),
    );
    assert.is(shown, `Basic ${btoa("user:one")}`);
  });
}

secrets("the token may be a systemd credential", async () => {
  const token = "0123456789abcdef0123456789abcdef";
  await file("token", token);
  process.env.CREDENTIALS_DIRECTORY = folder;
  const place = { token_file: "$CREDENTIALS_DIRECTORY/token" };
  const { clients } = resolveForward({ clients: [{ name: "app", allow: ["reads"], ...place }] });
  assert.is((await new Clients(clients).identify(token)).client?.name, "app");
});

secrets("if systemd passes no credentials, an error says so", async () => {
  delete process.env.CREDENTIALS_DIRECTORY;
  passTime(1000);
  const place = { basic_file: "$CREDENTIALS_DIRECTORY/cookie" };
  assert.equal(await checkCredentials(place), {
    message: "cannot read node.auth.basic_file $CREDENTIALS_DIRECTORY/cookie: " +
      "$CREDENTIALS_DIRECTORY is not set",
    dependsOnReader: true,
  });
});

secrets("a path that starts with another variable is an error", async () => {
  const attempt = configured("node: { auth: { basic_file: $HOME/cookie } }");
  const message = await attempt.then(() => "", ({ message }) => message);
  assert.match(message, "the only variable that it may begin with is $CREDENTIALS_DIRECTORY");
});

for (
  const [mode, who] of [
    [0o644, "every user of this machine (mode 0644)"],
    [0o604, "every user of this machine (mode 0604)"],
    [0o640, "its group (mode 0640)"],
  ] as const
) {
  testWhere(secrets, NO_WINDOWS, `check reports a secret that ${who} can read`, async () => {
    const path = await file("open", "user:one", mode);
    const config = await configured(
      "node: { url: http://127.0.0.1:2, auth: { basic_file: open } }",
    );
    const { report, json } = await check(config);
    const note = `node.auth.basic_file ${path} can be read by ${who}; chmod 600 keeps it secret`;
    assert.match(report, `# Secrets\nnote  ${note}\n`);
    assert.equal(JSON.parse(json).notes, [note]);
  });
}

testWhere(secrets, NO_WINDOWS, "a token file that others can read is reported, too", async () => {
  const token_file = await file("token", "0123456789abcdef0123456789abcdef", 0o644);
  const forward = resolveForward({ clients: [{ name: "app", allow: ["a"], token_file }] });
  const config = { node: { url: "http://127.0.0.1:2" }, host: "127.0.0.1", port: 8080 };
  const judged = await lintSettings(forward, config);
  assert.equal(judged.map(({ level }) => level), ["warn"]);
  assert.match(judged[0]!.message, `token_file ${token_file} can be read by every user`);
});

secrets("two clients with the same token are an error with line and column", async () => {
  const token = "0123456789abcdef0123456789abcdef";
  await file("a.token", `${token}\n`);
  await file("b.token", token);
  const clients = (second: string) =>
    "node: { url: http://127.0.0.1:2 }\nforward:\n  clients:\n" +
    "    - { name: a, allow: [reads], token_file: a.token }\n" +
    `    - { name: b, allow: [reads], token_file: ${second} }\n`;
  const message = await configured(clients("b.token")).then(() => "", ({ message }) => message);
  const path = join(folder, "nodeface.yaml");
  const wrong = "has the same token as clients[0]; each client needs its own";
  assert.is(message, `${path}:5:46: forward.clients[1].token_file ${wrong}`);
  // A file that is missing may be written later.
  await configured(clients("c.token"));
});

secrets("keys in URLs appear neither in a host's log nor in the command's log", () => {
  const told: string[] = [];
  const message = "a source at https://a.example/?api_key=geheim responded with 500";
  const { log } = withDefaults({ log: (message) => told.push(message) });
  log(message, { code: "error", level: "error", error: undefined });
  told.push(formatMessage(message, "warn", new Date()));
  assert.is(told.length, 2);
  for (const line of told) assert.match(line, /\?api_key=\*\*\* responded with 500$/);
});

secrets(
  "a secret file is not reported if it is missing, or if only its owner can read it",
  async () => {
    assert.is(await warnOfReaders("x", await file("closed", "a", 0o600)), undefined);
    assert.is(await warnOfReaders("x", await file("closed", "a", 0o400)), undefined);
    assert.is(await warnOfReaders("x", join(folder, "none")), undefined);
  },
);

testWhere(
  secrets,
  NOT_ROOT,
  "a group-readable file of another user is not reported, since nodes share cookies this way",
  async () => {
    const path = await file("shared", "user:one", 0o640);
    await chown(path, 65_534, 65_534);
    assert.is(await warnOfReaders("x", path), undefined);
  },
);

secrets.run();
