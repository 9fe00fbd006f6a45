/** One app for the suites that need no socket. */
import { createNodeface, type Nodeface } from "../src/index.ts";

export const app: Nodeface = createNodeface();

/** Asks the app in-process. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return await app.fetch(new Request(`http://localhost${path}`, init));
}

/** Asks the app in-process, with these request headers. */
export function askWith(headers: Record<string, string>, path: string): Promise<Response> {
  return ask(path, { headers });
}

/** Every path that answers 200 whatever the machine: those of the files change with their content. */
export const PATHS: readonly [path: string, type: string][] = [
  ["/v1/spec", "text/html; charset=utf-8"],
  ["/v1/info", "application/json"],
  ["/v1/health", "application/json"],
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
