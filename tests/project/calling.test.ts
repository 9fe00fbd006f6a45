import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import { PROGRAMS } from "../nodes/_asked-nodes.ts";
import { type Daemon, freePort, startDaemon, until } from "../nodes/_daemon.ts";

/** A part of a page: a file that is written, or commands that are given. */
interface Block {
  readonly kind: "yaml" | "console";
  /** The name of the file, by which the kind is followed or with which the content begins. */
  readonly file: string | undefined;
  readonly text: string;
}

const PAGES = ["docs/calling.md", "README.md"];
const calling = suite("what the pages say of calling the node");

/** The nodes that the pages have, and where they are here. */
let anvil: Daemon;
let exampled: Server;
let places: Record<string, string>;

calling.before.each(async () => {
  const port = await freePort();
  anvil = await startDaemon([PROGRAMS.ethereum!.path, "--port", String(port)], port);
  const answers: Record<string, unknown> = {
    "/blocks/7": { height: 7 },
    "/stats": { blocks: 8 },
  };
  exampled = createServer(({ url = "" }, response) => {
    response.writeHead(url in answers ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  await new Promise<void>((resolve) => exampled.listen(0, "127.0.0.1", resolve));
  const { port: other } = exampled.address() as { port: number };
  places = { "127.0.0.1:8545": `127.0.0.1:${port}`, "127.0.0.1:9000": `127.0.0.1:${other}` };
});

calling.after.each(async () => {
  exampled?.close();
  await anvil?.stop();
});

for (const page of PAGES) {
  calling(`every command of ${page} does what it says there`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
    let service: Running | undefined;
    const located = (text: string) => {
      const own = service && { "127.0.0.1:8080": new URL(service.url).host };
      return Object.entries({ ...places, ...own })
        .reduce((text, [there, here]) => text.replaceAll(there, here), text);
    };
    const launch = async (words: readonly string[]) => {
      await service?.stop();
      service = await start([...absolute(COMMANDS.Node), ...words], {}, { cwd: folder });
      const { url } = service;
      // It may begin before the node has been asked of what kind it is.
      await until(async () => {
        const { paths } = await (await fetch(new URL("spec.json", url))).json();
        return Object.keys(paths).length > 2;
      }, 30_000);
    };
    try {
      for (const { kind, file, text } of blocksOf(await callingPart(page))) {
        if (kind === "yaml") {
          if (file) await writeFile(join(folder, file), located(text));
          continue;
        }
        for (const { command, printed } of commandsOf(text)) {
          const [program = "", ...words] = located(command).split(/\s+/);
          if (program !== "nodeface") {
            assertPrinted(await shell(located(command), folder), printed, command);
          } else if (words[0] === "check") {
            const { stdout } = await run([...absolute(COMMANDS.Node), ...words]);
            for (const line of printed.split("\n")) assert.match(stdout, `${line}\n`);
          } else await launch(words);
        }
      }
    } finally {
      await service?.stop();
      await rm(folder, { recursive: true });
    }
  });
}

/** The whole of the page about it, and of another one the part that is. */
async function callingPart(page: string): Promise<string> {
  const text = await readFile(join(ROOT, page), "utf8");
  if (page !== "README.md") return text;
  const [, part] = /^## Calling the node\n([^]*?)^## /m.exec(text) ?? [];
  assert.ok(part, "README.md has a part about it");
  return part;
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(yaml|console)(?: (\S+))?\n([^]*?)^```/gm)]
    .map(([, kind, name, text]) => ({
      kind: kind as Block["kind"],
      file: name ?? /^# (\S+\.yaml)\n/.exec(text!)?.[1],
      text: text!,
    }));
}

/** The commands, which begin with `$`, each with what is printed below it. */
function commandsOf(text: string): { command: string; printed: string }[] {
  return text.split(/^\$ /m).slice(1).map((part) => {
    const [, command = "", printed = ""] =
      /^((?:\\\n|[^'"\n]|'[^']*'|"[^"]*")*)\n([^]*)$/.exec(part) ??
        [];
    return { command: command.replaceAll("\\\n", " "), printed: printed.trimEnd() };
  });
}

/** With the path of the program, as the command runs in another folder. */
const absolute = (command: readonly string[]) =>
  command.map((word) =>
    word === "tsx"
      ? `${ROOT}node_modules/tsx/dist/esm/index.mjs`
      : word.replace(/^src\//, `${ROOT}src/`)
  );

const shell = (command: string, cwd: string) =>
  new Promise<string>((resolve, reject) => {
    execFile(
      "sh",
      ["-c", command.replace("curl ", "curl --silent ")],
      { cwd },
      (error, stdout) => error ? reject(error) : resolve(stdout),
    );
  });

/** In what is printed, … stands for any part. */
function assertPrinted(actual: string, printed: string, command: string): void {
  const parts = printed.split("…").map((part) => part.replace(/[\\^$.|?+()[\]{}*]/g, "\\$&"));
  assert.match(actual.trimEnd(), new RegExp(`^${parts.join("[^]*")}$`), command);
}

calling.run();
