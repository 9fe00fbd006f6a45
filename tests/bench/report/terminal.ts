/** What a part says when it is done, before the report is written. */
import type { PartId } from "../cli/options.ts";
import { LINES } from "../explorers/lines.ts";
import type { Results } from "../results.ts";
import { explorerTable } from "./explorer.ts";
import { clientsTable, sizesTable } from "./growth.ts";
import { requestsTable } from "./requests.ts";
import { startTable } from "./start.ts";

const WRITERS: { [Id in PartId]: (result: NonNullable<Results[Id]>["result"]) => string } = {
  requests: requestsTable,
  start: startTable,
  explorer: (result) =>
    LINES.map(({ name }) => `On a ${name} line\n${explorerTable(result, name)}`).join("\n\n"),
  growth: (result) => `${sizesTable(result)}\n\n${clientsTable(result)}`,
};

/** Writes a part's tables. */
export function printPart(part: PartId, results: Results): string {
  return (WRITERS[part] as (result: unknown) => string)(results[part]!.result);
}
