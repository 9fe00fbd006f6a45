/** Reads the status of a node from `/v1/info`, `/v1/health` and the page. */
import * as assert from "uvu/assert";
import type { Nodeface } from "../../src/index.ts";

export interface Seen {
  status: string;
  code: string | undefined;
  reason: string | RegExp | undefined;
  /** The HTTP status of `/v1/health`. */
  health: number;
  /** The status label in the page's header. */
  header: string;
}

/** Asserts that `/v1/info`, `/v1/health` and the page agree. */
export async function see({ fetch }: Pick<Nodeface, "fetch">): Promise<Seen> {
  const get = async (path: string) => await fetch(new Request(`http://localhost${path}`));
  for (;;) {
    const before = await (await get("/v1/info")).json();
    const health = await get("/v1/health");
    const page = await (await get("/v1/spec")).text();
    const after = await (await get("/v1/info")).json();
    // If the status changes between the requests, the responses cannot be compared.
    if (before.status !== after.status || before.status_reason !== after.status_reason) continue;
    const { status, status_code: code, status_reason: reason, status_remedy } = after;
    assert.equal(
      await health.json(),
      JSON.parse(JSON.stringify({
        status,
        status_code: code,
        status_reason: reason,
        status_remedy,
      })),
    );
    const [, header = "", note = ""] =
      /class="state"[^>]*>.*?<b[^>]*>([^<]*)<\/b>.*?<span[^>]*>([^<]*)<\/span>/s.exec(page) ?? [];
    const text = (html: string) =>
      html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    if (reason) {
      // The page shows the reason after the state, as in "Syncing – 12 blocks behind its peers".
      const shown = reason.toLowerCase().replace(/^is /, "");
      assert.ok(text(note).toLowerCase().includes(shown), `${note} / ${reason}`);
    }
    return { status, code, reason, health: health.status, header };
  }
}
