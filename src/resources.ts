/**
 * What is answered with, each part made when it is first asked for.
 *
 * @module
 */
import { prepareCatalog } from "./openapi/api-catalog.ts";
import { type Description, documentOf, prepareOwn } from "./openapi/serve-description.ts";
import type { DescriptionReport, Live } from "./openapi/watch.ts";
import { formatFinding } from "./openapi/diagnostics.ts";
import { type Assets, createAssets, prepareFavicon } from "./explorer/assets.ts";
import { readManifest, readPrepared } from "./explorer/manifest.ts";
import type { Page } from "./explorer/page.ts";
import type { Representation } from "./http/representation.ts";
import { createAlone, isAlone } from "./info/service-info.ts";
import type { LiveInfo } from "./info/snapshot.ts";
import { type Awaitable, once } from "./lazy.ts";
import type { NodefaceOptions } from "./options.ts";
import type { Platform } from "./platform.ts";

/**
 * Everything there is to answer with; each rejects where one of this package's files is missing, and
 * `live` where a setting of the node or of the info cannot be understood.
 */
export interface Prepared {
  description(): Awaitable<Live<() => Awaitable<Page>>>;
  live(): Awaitable<LiveInfo>;
  catalog(): Awaitable<Representation>;
  favicon(): Awaitable<Representation>;
  assets(): Awaitable<Assets>;
}

/**
 * Makes what is answered with. Nothing is read before it is asked for.
 *
 * @param platform reads this package's files
 * @param options what the service was made with
 */
export function prepare(platform: Platform, options: NodefaceOptions): Prepared {
  const { startedAt = new Date(), log = console.error, onError = console.error } = options;
  const { node, info, operations = [], description: place, onDescription: report = complain } =
    options;
  const text = async (path: string) => new TextDecoder().decode(await platform.read(path));
  const manifest = () => readManifest(platform);
  const own = async (form: "spec.json" | "spec.yaml") =>
    await readPrepared(platform, form, (await manifest()).description[form]);
  const pageOf = async ({ document, origins, notice }: Omit<Description, "json" | "yaml">) => {
    const { createPage } = await import("./explorer/page.ts");
    const template = await text("static/explorer.html");
    return await createPage(template, document, await manifest(), platform, { origins, notice });
  };
  const description = once(async (): Promise<Live<() => Awaitable<Page>>> => {
    const [json, yaml] = await Promise.all([own("spec.json"), own("spec.yaml")]);
    const alone = await prepareOwn({ json, yaml }, operations, platform);
    const current = { json: alone.json, yaml: alone.yaml, page: once(() => pageOf(alone)) };
    const url = node?.url || undefined;
    if (place === "none" || (place === undefined && url === undefined)) {
      return { current, refresh: () => Promise.resolve() };
    }
    const where = { base: url, publicUrl: node?.public_url };
    const described = { alone, own: documentOf(json), operations, platform, report, ...where };
    const make = async (said: Omit<Description, "json" | "yaml">) => {
      const page = await pageOf(said);
      return () => page;
    };
    if (place !== undefined) {
      const { keepCurrent } = await import("./openapi/watch.ts");
      return await keepCurrent({ place, ...described }, make);
    }
    const { keepFound } = await import("./openapi/discover.ts");
    const path = async () => (await kinds())[(await live()).kind ?? ""]?.description;
    const ask = async () => await (await live()).current();
    return keepFound({ url: url!, path, ask, log, ...described }, current, make);
  });
  const kinds = async () => (await import("./kinds/index.ts")).KINDS;
  const live = once(async () => {
    const { version } = await manifest();
    const service = { software: "nodeface", version, started_at: startedAt.toISOString() };
    if (isAlone(node, info)) return createAlone(service, node, info);
    const hasKind = node?.url || node?.kind;
    const [{ createInfo }, known] = await Promise.all([
      import("./info/monitor.ts"),
      hasKind ? kinds() : {},
    ]);
    return createInfo({ service, node, info, kinds: known, log, onError });
  });
  return {
    description,
    live,
    catalog: once(prepareCatalog),
    favicon: once(async () => prepareFavicon(await text("static/favicon.svg"))),
    assets: once(async () => createAssets(await manifest(), platform)),
  };
}

/** Says what is wrong with a description where nobody else does. */
function complain({ findings }: DescriptionReport): void {
  for (const finding of findings) console.error(formatFinding(finding));
}
