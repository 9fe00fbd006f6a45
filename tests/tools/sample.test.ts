/** A sample of the table of documents and tools, with only two documents and the fast tools. */
import { SMALL } from "./_documents.ts";
import { testPairs } from "./_suite.ts";
import { QUICK } from "./_tools.ts";

const NAMES = ["webhooks only 3.1", "several files 3.0"];
testPairs(SMALL.filter(({ name }) => NAMES.includes(name)), QUICK);
