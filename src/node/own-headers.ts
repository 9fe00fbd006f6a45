/**
 * The headers by which the service names itself at the node.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";

/** Firewalls of hosted nodes refuse requests without a `User-Agent`. */
export const OWN_NAME: string = `nodeface/${VERSION}`;

export const RPC_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json",
  "user-agent": OWN_NAME,
};
