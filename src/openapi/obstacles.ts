/**
 * Finds the operations that cannot be called: their path template is wrong, or another operation
 * takes all their paths.
 *
 * @module
 */
import { byRank, PathTemplate } from "../http/path-template.ts";
import { isUnambiguous } from "../http/target.ts";
import type { NodeOperation } from "./node-operation.ts";

interface Templated {
  readonly operation: NodeOperation;
  readonly template: PathTemplate;
  readonly rank: string;
}

function templateOf(operation: NodeOperation): Templated {
  const spanning = (operation.parameters ?? [])
    .filter((one) => one.in === "path" && one.multiSegment === true).map(({ name }) => name);
  const template = new PathTemplate(operation.path, (name) => spanning.includes(name));
  return { operation, template, rank: `${operation.method} ${template.rank}` };
}

type Obstacle = Pick<NodeOperation, "obstacle" | "twin">;

export function findObstacles(operations: readonly NodeOperation[]): Map<NodeOperation, Obstacle> {
  const obstacles = new Map<NodeOperation, Obstacle>();
  const reachable: Templated[] = [];
  // More specific templates come first.
  const all = operations.filter(({ isMethod }) => !isMethod).map(templateOf).sort(byRank);
  for (const own of all) {
    const mistake = mistakeIn(own);
    const taker = mistake === undefined ? takerOf(own, reachable) : undefined;
    if (mistake !== undefined) obstacles.set(own.operation, { obstacle: mistake });
    else if (taker) obstacles.set(own.operation, obstacleBy(taker, own));
    else reachable.push(own);
  }
  return obstacles;
}

function mistakeIn({ operation, template }: Templated): string | undefined {
  const { names, spanning, isShort, source } = template;
  const [separator] = /[?#]/.exec(operation.path) ?? [];
  if (separator) return `its path has a ${separator === "?" ? "query" : "fragment"}`;
  if (!isUnambiguous(source.replaceAll("{}", "x"))) {
    return "its path has a semicolon, a dot segment, or two slashes side by side";
  }
  if (!isShort) return "its path has a long text between parameters";
  if (operation.path.includes("}{")) return "its path has two parameters side by side";
  if (new Set(names).size < names.length) return "its path has two parameters with the same name";
  return spanning > 1 ? "its path has two parameters that span several segments" : undefined;
}

function takerOf(own: Templated, before: readonly Templated[]): Templated | undefined {
  // Without multi-segment parameters, only an equal template takes all paths. Of the last two, one
  // may end with a slash.
  const takers = own.template.spanning > 0 ? before : before.slice(-2);
  return takers.find(({ operation, template }) =>
    operation.method === own.operation.method && template.covers(own.template)
  );
}

function obstacleBy({ operation, rank }: Templated, own: Templated): Obstacle {
  return {
    obstacle: `${operation.name} matches the same paths`,
    twin: rank === own.rank ? operation.name : undefined,
  };
}
