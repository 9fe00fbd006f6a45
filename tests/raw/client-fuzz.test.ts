import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compare } from "./_client-fuzz.ts";

const fuzz = suite("random responses of a node");

fuzz("random responses are parsed as llhttp parses them, or refused", async () => {
  assert.equal((await compare(3000, 20261122)).differences, []);
});

fuzz.run();
