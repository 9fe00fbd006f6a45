/**
 * What `nodeface check` says of the description: which one is shown and why, and what is wrong with it.
 *
 * @module
 */
import { createFetchDescription } from "../description/fetch-description.ts";
import { createNodeReader, placeBelow, reasonIn } from "../description/unnamed-description.ts";
import { askOffer, type KnownNode, knowNode } from "../description/known-interface.ts";
import { createPrepare } from "../description/thread.ts";
import type { Prepared } from "../description/prepare.ts";
import { inspectDescription, type PlaceOptions } from "../description/watch.ts";
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import type { KindInterface } from "../kinds/interface.ts";
import { errorsFirst, formatDiagnostic } from "../openapi/diagnostics.ts";
import { type Offer, offered, readInterface } from "../openapi/kind.ts";
import { KIND_FILES } from "../openapi/load.ts";
import { documentOf } from "../openapi/serve.ts";
import { ownDescription } from "../resources/own-description.ts";
import { excerpt, printable } from "../untrusted-text.ts";
import type { Section } from "./check-report-types.ts";
import type { Config } from "./configuration.ts";

/** The description that is shown, as far as it matters to what can be called. */
export interface Described extends Partial<Pick<Prepared, "content" | "basePaths">> {
  readonly sections: Section[];
  /** Where it is; `undefined` where the kind of the node has it, or where there is none. */
  readonly from?: string | undefined;
}

/**
 * Describes the description, where there is one.
 *
 * @param kind the name of the node's kind
 * @param info what the node says of its software
 */
export async function describeDescription(
  { description, servers, node, kinds, forward = "off" }: Config,
  kind: string | undefined,
  info: Readonly<Record<string, unknown>>,
): Promise<Described> {
  const title = "Description";
  const of = (verdict: Omit<Section, "title">, prepared: Prepared, from?: string) => ({
    ...{ sections: [{ title, ...verdict }], from },
    ...{ content: prepared.content, basePaths: prepared.basePaths },
  });
  const inspect = async (options: Partial<PlaceOptions> & Pick<PlaceOptions, "place">) => {
    const own = await documentOf(await ownDescription(false).get());
    const { url, public_url: publicUrl } = node;
    const prepare = createPrepare(() => {});
    const where = { base: url, node: url, publicUrl, servers };
    const fetch = createFetchDescription(node, () => Promise.resolve({ ...KINDS, ...kinds }));
    return await inspectDescription({ own, prepare, forward, fetch, ...where, ...options });
  };
  if (description === "none") return { sections: [] };
  if (description !== undefined) {
    const inspected = await inspect({ place: description });
    const verdict = verdictOn(inspected, "Shown is what is configured");
    return of(verdict, inspected, description);
  }
  const known = kind === undefined ? undefined : knowNode(node, kind, KINDS, kinds, info);
  if (!known) return { sections: [] };
  const asked = await askOffer(known).catch((error: Error) => error);
  const { software, version } = known;
  const offer = asked instanceof Error ? { software, version } : asked;
  const readOther = createNodeReader(known, () => offer);
  const about = { kind: { title: known.title, version: VERSION }, readOther };
  let before = "";
  if (known.description && node.url !== undefined) {
    const { place, name } = placeBelow(node.url, known.description);
    const inspected = await inspect({ place, ...about, itself: node.url });
    if (inspected.content) {
      const verdict = verdictOn(inspected, `Shown is what the node serves itself at ${name}`);
      return of(verdict, inspected, name);
    }
    const reason = printable(reasonIn(inspected.diagnostics));
    before = `There is no description of the node at ${name}: ${reason}\n`;
  }
  if (!known.hasInterface) {
    return { sections: before === "" ? [] : [{ title, text: before, troubles: [] }] };
  }
  const inspected = await inspect({ place: new URL(KIND_FILES.interface), ...about });
  const why = `Shown is what nodes of the kind ${known.kind} offer${
    lackingOf(
      known,
      asked,
      readInterface(JSON.parse(new TextDecoder().decode(await known.loadInterface()))),
    )
  }`;
  const { text, ...verdict } = verdictOn(inspected, why);
  return of({ text: before + text, ...verdict }, inspected);
}

/** What is said of how much of a kind's interface a node has. */
function lackingOf(
  { listing }: KnownNode,
  offer: Offer | Error,
  parts: KindInterface,
): string {
  if (offer instanceof Error) return `; what this one lacks is not known: it ${offer.message}`;
  const names = (of: typeof parts) => [
    ...of.openrpc?.methods.map(({ name }) => name) ?? [],
    ...Object.keys(of.openapi?.paths ?? {}),
  ];
  const has = new Set(names(offered(parts, offer)));
  // What other software has is none of its.
  const { software } = offer;
  const lacking = names(offered(parts, { software })).filter((name) => !has.has(name));
  if (lacking.length === 0) return "";
  const why = listing && offer.names ? "does not list" : `is too old for (${offer.version})`;
  return `, but for ${lacking.length} that this one ${why}: ${excerpt(lacking.join(", "), 400)}`;
}

/** What came of a description. */
function verdictOn(
  { diagnostics, content }: Pick<Prepared, "diagnostics" | "content">,
  shown: string,
): Omit<Section, "title"> {
  const sorted = errorsFirst(diagnostics);
  const lines = sorted
    .map((one) => `${one.level.padEnd(5)} ${formatDiagnostic(one)}\n`);
  const errors = diagnostics.filter(({ level }) => level === "error").length;
  const troubles = [
    ...content ? [] : ["the description cannot be shown"],
    ...errors > 0 ? [`errors in the description: ${errors}`] : [],
  ];
  const last = content
    ? `${shown}\nThe description can be shown\n`
    : "The description cannot be shown\n";
  const told = sorted.map(({ level, file, line, column, message, more }) => ({
    ...{ level, file, line, column, message },
    ...more !== undefined && { more },
  }));
  const data = {
    description: { shown: !!content, ...content && { because: shown }, findings: told },
  };
  return { text: `${lines.join("")}${last}`, troubles, data };
}
