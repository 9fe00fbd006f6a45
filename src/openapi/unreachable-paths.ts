/**
 * Tells which operations no path can reach, or only paths that can be read in two ways. They are shown and cannot be
 * called.
 *
 * @module
 */
import { parsePathTemplate, type PathTemplate } from "../http/path-template.ts";

interface Operation {
  readonly name: string;
  readonly isMethod: boolean;
  readonly method: string;
  readonly path: string;
  readonly parameters:
    | readonly { readonly name: string; readonly in: string; readonly multiSegment?: unknown }[]
    | undefined;
}

interface Templated<Of> {
  readonly operation: Of;
  readonly template: PathTemplate;
  readonly spans: (name: string) => boolean;
}

/** Stands for what a name may take: a character that no encoded literal has. */
const ANY = "\uf8ff";

/** How many segments a name that spans takes in samples: who takes all of these takes any number. */
const SPANNED = [1, 2, 50];

/** Finds why operations cannot be called by their paths: clauses for people. */
export function findObstacles<Of extends Operation>(operations: readonly Of[]): Map<Of, string> {
  const obstacles = new Map<Of, string>();
  const byMethod = new Map<string, Templated<Of>[]>();
  for (const operation of operations.filter(({ isMethod }) => !isMethod)) {
    const { parameters = [], path, method } = operation;
    const spanning = new Set(
      parameters.filter((one) => one.in === "path" && one.multiSegment === true)
        .map(({ name }) => name),
    );
    const spans = (name: string) => spanning.has(name);
    const template = parsePathTemplate(path, spans);
    const obstacle = ambiguityOf(path, template.names, spans);
    if (obstacle !== undefined) obstacles.set(operation, obstacle);
    else {
      if (!byMethod.has(method)) byMethod.set(method, []);
      byMethod.get(method)!.push({ operation, template, spans });
    }
  }
  for (const all of byMethod.values()) {
    const rankOf = ({ template: { rank } }: Templated<Of>) => rank;
    all.sort((a, b) => rankOf(a) < rankOf(b) ? -1 : rankOf(a) > rankOf(b) ? 1 : 0);
    for (const [at, own] of all.entries()) {
      // A literal takes only some of what a name takes: who has no name that spans loses to nobody but a twin.
      const last = all[at - 1];
      const isTwin = last && rankOf(last) === rankOf(own) &&
        last.template.source === own.template.source;
      const others = own.template.names.some(own.spans) ? all.slice(0, at) : [];
      const samples = others.length > 0 ? samplesOf(own) : [];
      const taker = isTwin
        ? last
        : others.find(({ template }) => samples.every((path) => template.match(path)));
      if (taker) obstacles.set(own.operation, `${taker.operation.name} takes all of its paths`);
    }
  }
  return obstacles;
}

/** Why the paths of a template can be read in two ways; `undefined` if they cannot. */
function ambiguityOf(
  path: string,
  names: readonly string[],
  spans: (name: string) => boolean,
): string | undefined {
  if (path.includes("}{")) return "two names stand side by side in its path";
  if (new Set(names).size < names.length) return "its path has a name twice";
  if (names.filter(spans).length > 1) return "two names of its path span segments";
  return undefined;
}

/** Paths of a template whose names that span take several numbers of segments. */
function samplesOf({ template: { names, source }, spans }: Templated<unknown>): string[] {
  return SPANNED.map((count) => {
    let at = 0;
    const several = Array(count).fill(ANY).join("/");
    return source.replaceAll("{}", () => spans(names[at++]!) ? several : ANY);
  });
}
