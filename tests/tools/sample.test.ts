/** A sample of the table of documents and tools, with the fast ones. */
import { SMALL } from "./_documents.ts";
import { testPairs } from "./_suite.ts";
import { QUICK } from "./_tools.ts";

// Each is served with our own operations; the first one has no others.
const NAMES = ["webhooks only 3.1", "several files 3.0"];
testPairs(SMALL.filter(({ name }) => NAMES.includes(name)), QUICK);
