/** Runs an attack in its own process, so that it does not delay the measurement. */
import process from "node:process";
import { ATTACKS } from "./_cost-attacks.ts";

process.on("message", async ({ name, url }: { name: string; url: string }) => {
  const { act } = ATTACKS.find((attack) => attack.name === name)!;
  process.send?.(await act!(url));
});
process.on("disconnect", () => process.exit());
