/** The kind files that the command prints, all of them. */
import { suite } from "uvu";
import { KINDS } from "../src/generated/kinds.js";
import { assertPrinted } from "./_printed-kinds.ts";

const printed = suite("printed kind files");

for (const name of Object.keys(KINDS)) {
  printed(`the file that is printed for ${name} is valid`, () => assertPrinted(name));
}

printed.run();
