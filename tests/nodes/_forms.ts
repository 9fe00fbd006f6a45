/**
 * Sends each form of the simple page with its initial values, and also runs the form's `curl` line.
 * No browser is used.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  canBeSent,
  fillIn,
  type OperationForm,
  requestOf,
  writeCurl,
} from "../../src/explorer/form-request.ts";
import { isOwnPath } from "../../src/http/own-paths.ts";
import type { NodeExamples } from "../../src/info/source-cache.ts";
import { startBeside } from "../gateway/_beside.ts";
import type { AskedNode } from "./_interface.ts";

export interface SentForms {
  /** HTTP statuses by operation name. */
  readonly sent: ReadonlyMap<string, number>;
  /** The operations with a field that only the user can fill in. */
  readonly asking: readonly string[];
  /** The operations for which the form and the `curl` line get different responses. */
  readonly differing: readonly string[];
  /** The responses with a status other than 200, by operation name. */
  readonly texts: ReadonlyMap<string, string>;
}

export function readForms(html: string): { forms: OperationForm[]; examples: NodeExamples } {
  const forms = [...html.matchAll(/data-try='([^']*)'/g)].map(([, json]) => JSON.parse(json!));
  const [, examples = "{}"] = /id="examples">(.*?)<\/script>/s.exec(html) ?? [];
  return { forms, examples: JSON.parse(examples) };
}

/** Skips the service's own operations. */
export async function sendForms(node: AskedNode, kind: string): Promise<SentForms> {
  const { url, service } = await startBeside(node, kind, "reads");
  const sent = new Map<string, number>();
  const texts = new Map<string, string>();
  const [asking, differing]: string[][] = [[], []];
  try {
    const html = await (await fetch(`${url}/v1/spec/simple`)).text();
    const { forms, examples } = readForms(html);
    const isWanted = ({ address, isEndless }: OperationForm) =>
      (/^\/v1\/(node|rpc)/.test(address) || !isOwnPath(address)) && !isEndless;
    for (const form of forms.filter(isWanted)) {
      const name = `${form.method} ${form.address}`.replace("GET /v1/rpc/", "").replace(
        "POST /v1/rpc/",
        "",
      );
      const filled = fillIn(form, examples);
      if (!canBeSent(form, filled)) {
        asking!.push(name);
        continue;
      }
      const request = requestOf(form, filled, url);
      const { method, body } = request;
      const headers = { "X-Nodeface": "1", ...Object.fromEntries(request.headers) };
      const response = await fetch(request.url, { method, headers, ...body && { body } });
      const text = await response.text();
      sent.set(name, response.status);
      if (response.status !== 200) texts.set(name, text);
      const line = writeCurl(request, {});
      const { stdout } = await promisify(execFile)("sh", ["-c", `${line} -s`], {
        maxBuffer: 64 * 1024 * 1024,
      });
      if (shape(stdout) !== shape(text)) {
        differing!.push(`${name}: ${line}\n${stdout.slice(0, 200)}`);
      }
    }
  } finally {
    await service.stop();
  }
  return { sent, asking: asking!, differing: differing!, texts };
}

/** Numbers may differ between two responses to the same request. */
const shape = (text: string) => text.replaceAll(/\d+/g, "0").slice(0, 300);
