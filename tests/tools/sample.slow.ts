/** Runs the fast tools on two of the documents in `_documents.ts`. */
import { SMALL } from "./_documents.ts";
import { testPairs } from "./_suite.ts";
import { QUICK } from "./_tools.ts";

const NAMES = ["webhooks only 3.1", "odd 2.0"];
testPairs(SMALL.filter(({ name }) => NAMES.includes(name)), QUICK);
