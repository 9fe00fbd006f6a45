/** Loads the descriptions beside this file, and others from a text. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Finding } from "../../src/openapi/diagnostics.ts";
import { prepare } from "../../src/description/prepare.ts";
import { identityOf } from "../../src/http/content-coding.ts";
import type { DescriptionPlace } from "../../src/description/place.ts";
import { inspectDescription, type PlaceOptions } from "../../src/description/watch.ts";
import type { Form } from "../../src/openapi/serve-description.ts";
import type { Whereabouts } from "../../src/openapi/servers.ts";
import type { Json } from "../../src/json/values.ts";
import { parseJson } from "../../src/json/lossless.ts";
import { ROOT } from "../_paths.ts";

/** The path of a file in this folder. */
export const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The text of this service's own description. */
export const OWN: string = readFileSync(`${ROOT}spec/openapi.yaml`, "utf8");

/** What is said of a description, and both forms of what is shown of it. */
export interface Loaded {
  findings: readonly Finding[];
  origins: readonly string[];
  document: Json | undefined;
  json: string;
  yaml: string;
}

/** Loads one of the files of this folder, or a text, and merges the service's own description. */
export async function load(
  place: DescriptionPlace,
  where: Whereabouts & Pick<PlaceOptions, "forward"> = NEAR,
  own: string = OWN,
): Promise<Loaded> {
  const found = typeof place === "string" ? pathOf(place) : place;
  const { content, findings } = await inspectDescription({
    place: found,
    own: parse(own),
    prepare,
    ...where,
  });
  const text = async (form: Form | undefined) =>
    new TextDecoder().decode(form && await identityOf(form));
  const yaml = await content?.yaml;
  return {
    findings,
    origins: content?.origins ?? [],
    document: content && parseJson(await text(content.json)) as Json,
    json: await text(content?.json),
    yaml: await text(yaml && "form" in yaml ? yaml.form : undefined),
  };
}

/** The YAML form as values. */
export function parseYaml(yaml: string): Json {
  return parse(yaml, { maxAliasCount: -1, intAsBigInt: false }) as Json;
}

const NEAR = { base: "http://127.0.0.1:9053" };
