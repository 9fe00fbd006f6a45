/**
 * An HTTP client that, unlike `fetch`, adds no `Accept-Encoding` header and does not decode
 * responses.
 */
import { request } from "node:http";

export function send(
  url: URL,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      answer.on("data", (chunk) => chunks.push(chunk)).on("error", reject).on("end", () => {
        const status = answer.statusCode ?? 0;
        const body = method === "HEAD" || [204, 304].includes(status) ? null : new Blob(chunks);
        const fields: [string, string][] = [];
        for (let i = 0; i < answer.rawHeaders.length; i += 2) {
          fields.push([answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!]);
        }
        resolve(new Response(body, { status, headers: fields }));
      });
    });
    sent.on("error", reject).end();
  });
}
