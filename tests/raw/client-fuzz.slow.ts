/**
 * Parses random responses. `NODEFACE_FUZZ` sets the number of responses, and `NODEFACE_SEED` sets
 * the seed.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compare } from "./_client-fuzz.ts";

const COUNT = Number(process.env.NODEFACE_FUZZ ?? 120_000);
const SEED = Number(process.env.NODEFACE_SEED ?? Date.now() % 1_000_000);

const fuzz = suite(`${COUNT} random responses of a node, seed ${SEED}`);

fuzz("random responses are parsed as llhttp parses them, or refused", async () => {
  const { counts, known, differences } = await compare(COUNT, SEED);
  console.log({ ...counts, ...known });
  assert.equal(differences, []);
});

fuzz.run();
