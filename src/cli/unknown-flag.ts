/**
 * What to say of a flag that is none. Loaded for that alone: it reads the whole table of the configuration.
 *
 * @module
 */
import { didYouMean, nearest } from "../nearest.ts";
import { configuration } from "../options-schema.ts";
import { SWITCHES } from "../settings/commands.ts";
import { COMMAND, type CommandSetting } from "../settings/flags-and-variables.ts";
import { partsOf, type Schema } from "../settings/schema-builders.ts";
import { quote } from "../untrusted-text.ts";

/** How many of the places of a key are named. */
const PLACES_MAX = 3;

/**
 * Says what is meant by a flag that is none: another flag, or a key of the configuration.
 *
 * @param flag as it was given, with its dashes
 */
export function describeUnknownFlag(flag: string): string {
  const settings: readonly CommandSetting[] = Object.values<CommandSetting>(COMMAND);
  const key = flag.replace(/^-+/, "").replaceAll("-", "_").toLowerCase();
  const places = key === "node" ? ["node.url"] : [...placesOf(key, configuration())];
  const standing = settings.filter((setting) =>
    places[0] !== undefined && setting.key === places[0]
  );
  const flags = standing.flatMap(({ flag }) => flag === undefined ? [] : [`--${flag}`]);
  const known = [
    ...settings.flatMap(({ flag }) => flag === undefined ? [] : [`--${flag}`]),
    ...Object.values(SWITCHES).flatMap(({ flags }) => flags),
  ];
  return `unknown option ${quote(flag)}${hint()}`;

  function hint(): string {
    if (flags.length > 0) return didYouMean(flags.join(" and "));
    if (standing.length > 0) {
      return "; the URL of the node needs none, as in nodeface http://127.0.0.1:8545";
    }
    if (places.length > 0) {
      return `; it is a key of the configuration: ${places.slice(0, PLACES_MAX).join(", ")}`;
    }
    // A short one is near to any other short one, but for its case.
    const isShort = !flag.startsWith("--");
    const meant = isShort
      ? known.find((other) => other.toLowerCase() === flag.toLowerCase())
      : nearest(flag, known.filter((other) => other.startsWith("--")));
    return didYouMean(meant) || "; see nodeface --help";
  }
}

/** The places of a key in the configuration, the outer ones first. */
function* placesOf(key: string, schema: Schema, path = ""): Generator<string> {
  const { entries = {}, options = [] } = partsOf(schema);
  if (Object.hasOwn(entries, key)) yield path + key;
  for (const [name, inner] of Object.entries(entries)) {
    yield* placesOf(key, inner, `${path}${name}.`);
  }
  for (const option of options) yield* placesOf(key, option, path);
}
