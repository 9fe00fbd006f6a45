/**
 * Renders the explorer's documents from `static/*.html`: Scalar's reference and the simple page,
 * with a common header.
 *
 * @module
 */
import { INLINE_SCRIPTS, STYLES, TEMPLATES } from "../generated/page.js";
import { digest } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import type { NodeExamples } from "../info/source-cache.ts";
import { describeInfo, type HeadText, renderHead, type ShownInfo } from "./head.ts";
import { fill, type Html, jsonOf, markup, trustOwn, V1 } from "./html.ts";
import type { Icons } from "./files.ts";
import type { View } from "./page-settings.ts";
import type { PageParts } from "./render-content.ts";

/** The segment after `/v1/spec/` in the path of a document; empty for `/v1/spec`. */
export type DocumentName = View | "";

/** Allows blob URLs, which Scalar uses for images and media. */
const contentSecurityPolicy = (origins: readonly string[], isPlain: boolean) =>
  [
    "default-src 'none'",
    isPlain ? "script-src 'none'" : ["script-src 'self'", ...INLINE_SCRIPTS].join(" "),
    "style-src 'self' 'unsafe-inline'",
    ["connect-src 'self'", ...origins].join(" "),
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The link to the other view, for each view. */
const OTHER_VIEW: Readonly<Record<View, Html>> = {
  reference: markup`<a id="other" href="${V1}spec/simple">Simple page</a>`,
  simple: markup`<a id="other" href="${V1}spec/reference">Full reference</a>`,
};

const PLAIN = markup`
  <p class="notice">This page is only for reading, since its host name is not in the
    setting <code>hosts</code>.</p>`;

export interface PageOptions {
  /** The origins to which the page may send requests. */
  readonly origins: readonly string[];
  /** A sentence above the description. */
  readonly notice: string | undefined;
  /** The version of the description that is shown, as in its documents. */
  readonly version: string;
  readonly title: string | undefined;
  /** @default the simple page for a large description, or else Scalar's */
  readonly view: View | undefined;
  readonly icons: Icons;
}

interface Document {
  readonly info: ShownInfo;
  readonly ofNode: NodeExamples;
  readonly html: string;
  readonly representation: Representation | Promise<Representation>;
}

export class Page {
  readonly #parts: PageParts;
  readonly #options: PageOptions;
  /** What was prepared last, by the name of the document. */
  readonly #prepared = new Map<string, Document>();

  constructor(parts: PageParts, options: PageOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  iconNameOf(info: ShownInfo): string {
    return this.#describe(info).iconName;
  }

  /** @param isPlain if true, prepares the simple page without scripts */
  async prepare(
    name: DocumentName,
    isPlain: boolean,
    info: ShownInfo,
    ofNode: NodeExamples = NO_EXAMPLES,
  ): Promise<Representation> {
    const key = isPlain ? `plain ${name}` : name;
    const known = this.#prepared.get(key);
    if (known?.info === info && known.ofNode === ofNode) return await known.representation;
    const html = this.#render(name, isPlain, info, ofNode);
    const policy = contentSecurityPolicy(this.#options.origins, isPlain);
    // Requests that come meanwhile wait for the same page.
    const representation = known?.html === html
      ? known.representation
      : representPage(html, policy);
    const prepared = { info, ofNode, html, representation };
    this.#prepared.set(key, prepared);
    try {
      return await representation;
    } catch (error) {
      if (this.#prepared.get(key) === prepared) this.#prepared.delete(key);
      throw error;
    }
  }

  #describe(info: ShownInfo): HeadText {
    return describeInfo(info, { title: this.#options.title, api: this.#parts.title });
  }

  #render(name: DocumentName, isPlain: boolean, info: ShownInfo, ofNode: NodeExamples): string {
    const { title: api, summary, calls, content, sources, flags, isLarge } = this.#parts;
    const { notice, version, title = "", view: usual, icons } = this.#options;
    const view = isPlain ? "simple" : name || usual || (isLarge ? "simple" : "reference");
    const text = this.#describe(info);
    const icon = markup`${V1}../favicon.ico${icons.queryOf(text.iconName)}`;
    const lines = markup`
      ${notice && markup`<p class="notice" role="alert">${notice}</p>`}
      ${isPlain ? PLAIN : calls}`;
    const values = {
      v1: V1,
      icon,
      list: content.list,
      total: content.total,
      content: content.main,
      title: text.title,
      description: summary,
      head: markup`
        <header id="node" data-title="${title}" data-api="${api}" data-version="${version}"${flags}>
          ${renderHead(text, icon, !isPlain && OTHER_VIEW[view], lines)}
        </header>`,
      examples: view === "simple" && !isPlain && renderExamples(ofNode, sources),
      styles: markup`<style>${trustOwn(STYLES[view])}</style>`,
    };
    const simplePage = view === "simple" ? "" : `${V1}spec/simple`;
    return fill(TEMPLATES[isPlain ? "plain" : view], values, name ? "../" : "", simplePage);
  }
}

const NO_EXAMPLES: NodeExamples = {};

async function representPage(html: string, policy: string): Promise<Representation> {
  return await represent(html, {
    type: "text/html; charset=utf-8",
    cache: "public, no-cache",
    // After a 304, a browser keeps the old policy, so a new policy needs a new `ETag`.
    tag: await digest(policy + html),
    headers: {
      "content-security-policy": policy,
      // Over plain http, browsers send `Sec-Fetch-Site` only to loopback addresses, so the
      // gateway also reads the referrer.
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  });
}

function renderExamples(ofNode: NodeExamples, sources: readonly string[]): Html {
  const used = Object.entries(ofNode).filter(([place]) => sources.includes(place));
  const json = jsonOf(Object.fromEntries(used));
  const shown = json.length > 16_000 ? "{}" : json;
  return markup`<script type="application/json" id="examples">${shown}</script>`;
}
