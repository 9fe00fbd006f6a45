/** The smallest server executable that Bun can build, for comparison with Nodeface's executable. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUN } from "../_paths.ts";
import { run } from "../_server.ts";
import { EXECUTABLE } from "./_executable.ts";

const SOURCE = `
const port = Number(process.argv.at(-1));
const server = Bun.serve({
  port,
  hostname: "127.0.0.1",
  development: false,
  fetch: () => new Response('{"status":"ok"}', { headers: { "content-type": "application/json" } }),
});
console.error("nodeface bare on http://127.0.0.1:" + server.port + "/");
`;

export async function makeBare(): Promise<string> {
  const folder = dirname(EXECUTABLE);
  writeFileSync(join(folder, "bare.js"), SOURCE);
  const program = join(folder, "bare");
  const command = [BUN, "build", "--compile", "--minify", "bare.js", `--outfile=${program}`];
  const { code, stderr } = await run(command, {}, { cwd: folder });
  if (code !== 0) throw new Error(stderr);
  return program;
}
