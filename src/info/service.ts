/**
 * `GET /v1/info` where no node is configured: what the service says of itself.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";

/** One JSON object, open to any further key; a key whose value is not known is left out. */
export interface Info {
  /** What the operator calls this node. */
  name: string;
  software: string;
  version: string;
  /** When the service started, RFC 3339. */
  started_at: string;
  status: "ok";
  /** Where the rest of the interface is: references relative to the URL of the info itself. */
  links: Record<string, string>;
}

/** A function of a host's own that says what its node is. */
export type OwnInfo = () =>
  | Readonly<Record<string, unknown>>
  | Promise<Readonly<Record<string, unknown>>>;

/**
 * Prepares what a host tells of its node.
 *
 * @param own tells it
 * @param version the version of the service, which moves under `api`
 */
export async function prepareHostInfo(own: OwnInfo, version: string): Promise<Representation> {
  return form({ status: "ok", ...await own(), api: { software: "nodeface", version }, links });
}

/**
 * Prepares the description of the service itself.
 *
 * @param version the version of the service
 * @param startedAt when it started
 */
export function prepareServiceInfo(version: string, startedAt: Date): Promise<Representation> {
  const info: Info = {
    name: "nodeface",
    software: "nodeface",
    version,
    started_at: startedAt.toISOString(),
    status: "ok",
    links,
  };
  return form(info);
}

/** Where the rest of the interface is. */
const links = {
  explorer: "spec",
  description_json: "../spec.json",
  description_yaml: "../spec.yaml",
  health: "health",
};

function form(info: object): Promise<Representation> {
  return represent(JSON.stringify(info, null, 2) + "\n", {
    type: "application/json",
    cache: "public, max-age=1",
  });
}
