/** A service that tests can call without a network connection. */
import { createNodeface, type Nodeface } from "../src/index.ts";

export const app: Nodeface = createNodeface();

export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return await app.fetch(new Request(`http://localhost${path}`, init));
}

export function askWith(headers: Record<string, string>, path: string): Promise<Response> {
  return ask(path, { headers });
}

/**
 * The paths whose responses have an `ETag`, with their media types. Paths below `/assets/` are
 * omitted.
 */
export const PATHS: readonly [path: string, type: string][] = [
  ["/v1/spec", "text/html; charset=utf-8"],
  ["/v1/spec/reference", "text/html; charset=utf-8"],
  ["/v1/spec/simple", "text/html; charset=utf-8"],
  ["/v1/info", "application/json"],
  ["/v1/health", "application/json"],
  ["/v1/ready", "application/json"],
  ["/spec.json", "application/json"],
  ["/spec.yaml", "application/yaml"],
  ["/v1/spec.json", "application/json"],
  ["/v1/spec.yaml", "application/yaml"],
  [
    "/.well-known/api-catalog",
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ],
  ["/favicon.ico", "image/svg+xml"],
];
