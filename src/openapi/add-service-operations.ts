/**
 * This service's own operations, as they stand in the description of a node.
 *
 * @module
 */
import { type DocumentOfHost, withDocumentOfHost } from "./add-host-document.ts";
import { addOperations, type DescribedOperation, type Document } from "./add-host-operations.ts";
import { referencesOf } from "./references.ts";
import { type Place, structureOf } from "./document-structure.ts";
import { NODE, THIS_SERVICE } from "./server-url.ts";
import { basePathsOf } from "./servers.ts";
import { operationsOf } from "./operations-of-path-item.ts";
import { type Json, listOf, objectOf, setMember } from "../json/values.ts";
import { mergeComponents } from "./merge-components.ts";

/** The paths that are shown beside those of a node: the others are of the page, and of this description. */
const SHOWN = ["/v1/info", "/v1/health", "/v1/ready", "/v1/metrics"];

/** The tag that all of them have; it stands after the node's. */
export const TAG = "About this service";
const TAG_DESCRIPTION = "What this node is and how it is doing.";

/** What stands before the names of their components. */
const PREFIX = "Nodeface";

/** Its answers come from here, whatever the servers of the node are. */
const SERVERS = [{ url: THIS_SERVICE, description: "The service that shows this description" }];

/**
 * A description with this service's operations.
 *
 * What the description says of one of the same paths stays.
 *
 * @param own this service's own description, which says nothing that OpenAPI 3.0 has no word for
 * @param node the node's description, which is left as it is
 * @param ofHost further operations of a host, which are added whatever the node's says
 * @param documentOfHost what the host says of the whole
 */
export function withServiceOperations(
  own: Json,
  node: Json,
  ofHost: readonly DescribedOperation[] = [],
  documentOfHost: DocumentOfHost = {},
): Json {
  const { document, operations } = withDocumentOfHost(node, ofHost, documentOfHost);
  const theirs = withRoom(document);
  const bases = basePathsOf(document);
  const isTheirs = (path: string) =>
    bases.some((base) => path.startsWith(base) && Object.hasOwn(theirs, path.slice(base.length)));
  const operationIds = new Set(
    Object.values(theirs).flatMap((item) =>
      operationsOf(item).map(({ operation }) => operation.operationId)
    ),
  );
  const paths: Json = {};
  for (const [path, item] of Object.entries(objectOf(own.paths))) {
    const { get } = item as { get: Json };
    if (!SHOWN.includes(path) || isTheirs(path)) continue;
    const operationId = free(`nodeface${capital(String(get.operationId))}`, operationIds);
    paths[path] = { get: { ...get, operationId, tags: [TAG], security: [], servers: SERVERS } };
  }
  const described = operations.map((added) => ({
    ...added,
    operation: { servers: SERVERS, ...added.operation },
  }));
  if (Object.keys(paths).length + described.length === 0) return { ...document, paths: theirs };
  const used = usedComponents(own, paths);
  const { components, rename } = mergeComponents(
    objectOf(document.components),
    used,
    (name) => PREFIX + name,
  );
  const added = addOperations({ paths: rename(paths) } as Document, described).paths;
  const tags = listOf(document.tags);
  // Where no tag is declared, they are shown as they come: the only one declared would go first.
  const isTagNew = tags.length > 0 && !tags.some((tag) => objectOf(tag).name === TAG);
  return {
    ...document,
    paths: { ...theirs, ...added },
    ...(Object.keys(used).length > 0 && { components }),
    ...(isTagNew && { tags: [...tags, { name: TAG, description: TAG_DESCRIPTION }] }),
  };
}

/**
 * The paths of a node's description. What stands at one of the shown paths but is called at the node gets a
 * shorter path, and what is left of it goes into its server.
 */
function withRoom({ servers, paths: all }: Json): Json {
  const paths: Json = {};
  for (const [path, item] of Object.entries(objectOf(all))) {
    const [{ url } = {} as Json] = listOf(objectOf(item).servers ?? servers).map(objectOf);
    const [, base, rest] = /^(\/[^/]+)(\/.+)$/.exec(path) ?? [];
    const isMoved = SHOWN.includes(path) && String(url).startsWith(NODE) &&
      !Object.hasOwn(objectOf(all), rest!);
    if (isMoved) setMember(paths, rest!, { ...objectOf(item), servers: [{ url: url + base! }] });
    else setMember(paths, path, item);
  }
  return paths;
}

/** The components that some values refer to, and those that these refer to. */
function usedComponents(own: Json, values: Json): Record<string, Json> {
  const used: Record<string, Json> = {};
  const structure = structureOf(own);
  const queue: Place[] = [{ shape: "paths", value: values }];
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const { ref, expected } of referencesOf(next, structure)) {
      const [section = "", name = ""] = ref.split("/").slice(2);
      const component = objectOf(objectOf(own.components)[section])[name] as Json;
      if (used[section]?.[name]) continue;
      (used[section] ??= {})[name] = component;
      queue.push({ shape: expected, value: component });
    }
  }
  return used;
}

/** A name that is not taken yet, which it is from now on. */
function free(name: string, taken: Set<unknown>): string {
  let found = name;
  for (let i = 2; taken.has(found); i++) found = `${name}${i}`;
  taken.add(found);
  return found;
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
