/** Tests two of the documents with the fast tools. */
import { SMALL } from "./_documents.ts";
import { testPairs } from "./_suite.ts";
import { QUICK } from "./_tools.ts";

const NAMES = ["webhooks only 3.1", "several files 3.0"];
testPairs(SMALL.filter(({ name }) => NAMES.includes(name)), QUICK);
