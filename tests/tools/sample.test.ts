/** A sample of the table of documents and tools, with those that are quick. */
import { SMALL } from "./_documents.ts";
import { testPairs } from "./_suite.ts";
import { QUICK } from "./_tools.ts";

// Each is served with our own operations, and the first has no others.
const NAMES = ["webhooks only 3.1", "several files 3.0"];
testPairs(SMALL.filter(({ name }) => NAMES.includes(name)), QUICK);
