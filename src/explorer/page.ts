/**
 * `GET /v1/spec`: the explorer page, made from `static/explorer.html`. The description is rendered once,
 * the node's header whenever it changes.
 *
 * @module
 */
import type { PageFiles, PageInline } from "../generated/page.js";
import { digest } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import { iconNameOf, type Info, titleOf } from "./describe-info.ts";
import { MARKS, renderHeader } from "./render-header.ts";
import { escape } from "./escape-html.ts";
import type { Icons } from "./icon.ts";
import type { PageParts } from "./page-parts.ts";

/**
 * The content security policy (CSP level 3). The page runs only this service's scripts and the one line that stands in
 * it, which is named by its digest, and sends
 * requests only to this service and the servers of the description; forms without a script to this service. Scalar shows images and sounds from
 * `blob:` URLs; `build/patch-scalar.ts` removes what the policy would block.
 */
const contentSecurityPolicy = (origins: readonly string[], digest: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${digest}'`,
    "style-src 'self' 'unsafe-inline'",
    ["connect-src 'self'", ...origins].join(" "),
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** What the page needs besides its parts. */
export interface PageOptions {
  /** The origins of the description's servers, to which the page may send requests. */
  readonly origins: readonly string[];
  /** A warning about the description, as plain text. */
  readonly notice: string | undefined;
  /** What the operator calls the page, whatever the node is called. */
  readonly title: string | undefined;
  readonly icons: Pick<Icons, "queryOf">;
}

/** The page of one description. */
export interface Page {
  /** Renders the page for an info; returns the last representation if the header has not changed. */
  prepare(info: Info): Promise<Representation>;
  /** What its icon is made of. */
  iconNameOf(info: Info): string;
}

/**
 * Makes the page of a description.
 *
 * @param template HTML with names in braces for the values
 * @param parts what it shows of the description
 * @param files the paths of the page's files
 * @param inline what stands in the page itself
 */
export function createPage(
  template: string,
  { title: api, summary, content }: PageParts,
  files: PageFiles,
  { style, finding, digest: scriptDigest }: PageInline,
  { origins, notice, title, icons }: PageOptions,
): Page {
  const naming = { title, api };
  const iconOf = (info: Info) => `../favicon.ico${icons.queryOf(iconNameOf(info, naming))}`;
  const constant = {
    explorer: files.explorer,
    style,
    finding,
    scalar: files.scalar,
    preload: files.preload.map(preload).join("\n    "),
    modules: files.modules.join(" "),
    description: escape(summary),
    own: escape(title ?? ""),
    api: escape(api),
    notice: notice ? `<p class="notice" role="alert">${escape(notice)}</p>` : "",
    content,
    marks: MARKS,
  };
  let last: { info: Info; header: string; representation: Representation } | undefined;
  const render = async (info: Info, header: string): Promise<Representation> => {
    const title = escape(titleOf(info, naming));
    const html = fill(template, { ...constant, header, title, icon: escape(iconOf(info)) });
    const policy = contentSecurityPolicy(origins, scriptDigest);
    const representation = await represent(html, {
      type: "text/html; charset=utf-8",
      cache: "public, no-cache",
      // After a 304 a browser keeps its old policy, so a new policy needs a new tag.
      tag: await digest(policy + html),
      headers: {
        "content-security-policy": policy,
        // Beyond loopback, plain http has nothing but the referrer to show that a call of ours is ours.
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      },
    });
    last = { info, header, representation };
    return representation;
  };
  return {
    iconNameOf: (info) => iconNameOf(info, naming),
    async prepare(info) {
      if (last?.info === info) return last.representation;
      const header = renderHeader(info, naming, iconOf(info));
      if (last?.header !== header) return await render(info, header);
      last.info = info;
      return last.representation;
    },
  };
}

/** A low priority, since what is opened first needs none of them. */
const preload = (path: string) =>
  `<link rel="modulepreload" href="../assets/${path}" fetchpriority="low">`;

/** Fills a template in one pass, so that braces in a value have no effect. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`static/explorer.html: no value for {${name}}`);
    return value;
  });
}
