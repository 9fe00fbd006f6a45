import { runtimeSuite } from "./_suite.ts";
import { startWorkerd } from "./_workerd.ts";

runtimeSuite("workerd", startWorkerd);
