/**
 * Renders the explorer's documents from `static/*.html`: Scalar's reference and the simple page,
 * with a common header.
 *
 * @module
 */
import { INLINE_SCRIPTS, TEMPLATES } from "../generated/page.js";
import { digest } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import type { NodeExamples } from "../info/source-cache.ts";
import { describeInfo, type Info, renderHead } from "./head.ts";
import { escape, fill, type Filling, jsonOf, V1 } from "./html.ts";
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

const OTHERS: Readonly<Record<View, string>> = {
  reference: `<a id="other" href="${V1}spec/simple">Simple page</a>`,
  simple: `<a id="other" href="${V1}spec/reference">Full reference</a>`,
};

/**
 * The simple page without its scripts, and so without forms. The styles of `<noscript>` hide what
 * needs a script.
 */
const PLAIN_TEMPLATE = TEMPLATES.simple.replaceAll(
  /<script\b[^]*?<\/script>|<\/?noscript>/g,
  "",
);

const PLAIN =
  '<p class="notice">This page is only for reading, since its host name is not in the ' +
  "setting <code>hosts</code>.</p>";

export interface Page {
  /** @param isPlain if true, prepares the simple page without scripts */
  prepare(
    name: DocumentName,
    isPlain: boolean,
    info: Info,
    examples?: NodeExamples,
  ): Promise<Representation>;
  iconNameOf(info: Info): string;
}

export function createPage(
  { title: api, summary, calls, content, sources, flags, isLarge }: PageParts,
  { origins, notice, title, view: first = isLarge ? "simple" : "reference", icons }: {
    readonly origins: readonly string[];
    readonly notice: string | undefined;
    readonly title: string | undefined;
    readonly view: View | undefined;
    readonly icons: Pick<Icons, "queryOf">;
  },
): Page {
  const naming = { title, api };
  const header = `<header id="node" data-title="${escape(title ?? "")}" data-api="${
    escape(api)
  }"${flags}>`;
  const alert = notice ? `<p class="notice" role="alert">${escape(notice)}</p>` : "";
  const last = new Map<
    string,
    {
      info: Info;
      ofNode: NodeExamples;
      html: string;
      representation: Representation;
    }
  >();
  const render = (
    name: DocumentName,
    isPlain: boolean,
    info: Info,
    ofNode: NodeExamples,
  ): string => {
    const view = isPlain ? "simple" : name || first;
    const text = describeInfo(info, naming);
    const icon = `${V1}../favicon.ico${escape(icons.queryOf(text.iconName))}`;
    const other = isPlain ? "" : OTHERS[view];
    const notes = alert + (isPlain ? PLAIN : calls);
    const values: Filling = {
      v1: V1,
      icon,
      content: view === "simple" ? content : listOf(content),
      title: escape(text.title),
      description: escape(summary),
      head: `${header}${renderHead(text, icon, other, notes)}</header>`,
      examples: view === "simple" && !isPlain ? renderExamples(ofNode, sources) : "",
    };
    return fill(
      isPlain ? PLAIN_TEMPLATE : TEMPLATES[view],
      values,
      name ? "../" : "",
    );
  };
  return {
    iconNameOf: (info) => describeInfo(info, naming).iconName,
    async prepare(name, isPlain, info, ofNode = NONE) {
      const key = isPlain ? `plain ${name}` : name;
      const known = last.get(key);
      if (known?.info === info && known.ofNode === ofNode) {
        return known.representation;
      }
      const html = render(name, isPlain, info, ofNode);
      const representation = known?.html === html
        ? known.representation
        : await representPage(html, contentSecurityPolicy(origins, isPlain));
      last.set(key, { info, ofNode, html, representation });
      return representation;
    },
  };
}

/** Returns the list of operations, with links to the simple page. */
function listOf(content: string): string {
  const list = content.slice(content.indexOf("<ul>"), content.indexOf("</nav>"));
  return list.replaceAll(/(?<=href=.)#/g, `${V1}spec/simple#`);
}

const NONE: NodeExamples = {};

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

function renderExamples(ofNode: NodeExamples, sources: readonly string[]): string {
  const used = Object.entries(ofNode).filter(([place]) => sources.includes(place));
  const json = jsonOf(Object.fromEntries(used));
  return `<script type="application/json" id="examples">${
    json.length > 16_000 ? "{}" : json
  }</script>`;
}
