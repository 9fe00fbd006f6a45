/**
 * The variables with which Kubernetes names its services to containers: a service with the name
 * `nodeface` sets `NODEFACE_PORT` to `tcp://10.0.0.1:8080`.
 *
 * @module
 */

/** Tells whether a variable is such a link, and not a setting. */
export const isServiceLink = (name: string, text: string): boolean =>
  /_PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(text);

/** Tells whether only Kubernetes sets a variable of this name. */
export const isOfServiceLink = (name: string): boolean =>
  /_(?:SERVICE_(?:HOST|PORT\w*)|PORT_\d+_\w+)$/.test(name);
