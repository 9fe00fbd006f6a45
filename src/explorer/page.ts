/**
 * `GET /v1/spec`: the explorer page, from the template `static/explorer.html`. What comes from the
 * description is rendered once, and the header of the node put in for every state it is in.
 *
 * @module
 */
import type { PageFiles } from "../generated/page.js";
import { digest } from "../http/digest.ts";
import { represent, type Representation } from "../http/representation.ts";
import { renderContent } from "./content.ts";
import { type Info, nameOf, renderHeader, TABLES } from "./header.ts";
import { shorten } from "../text.ts";
import { escape } from "./html.ts";
import { readOutline } from "./outline.ts";

/**
 * What the page may do: run this service's own files, ask this service and the servers of the
 * description, and show what it was answered (CSP level 3). An image or a sound that was answered is
 * shown from a `blob:` URL. What Scalar would do beyond this is taken out of it by `build/patch-scalar.ts`.
 */
const contentSecurityPolicy = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ["connect-src 'self'", ...origins].join(" "),
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** What is known of a description besides what it says. */
export interface Described {
  /** The origins of its servers, which the page may ask. */
  readonly origins: readonly string[];
  /** What a reader should know of it, as plain text. */
  readonly notice: string | undefined;
}

/** The page of one description. */
export interface Page {
  /**
   * The page for what is known of the node, if that is what it was made for the last time.
   *
   * @param info the object of `GET /v1/info`
   */
  peek(info: Info): Representation | undefined;
  /**
   * Prepares the page for what is known of the node. Only the header is rendered; where it says
   * what it said the last time, the representation is the last one too.
   *
   * @param info the object of `GET /v1/info`
   */
  prepare(info: Info): Promise<Representation>;
}

/**
 * Makes the page of a description.
 *
 * @param template the page, with names between braces for what is put in
 * @param document the OpenAPI document as JSON values, whoever wrote it
 * @param files where the page finds its files
 * @param described what else is known of the document
 */
export async function createPage(
  template: string,
  document: unknown,
  files: PageFiles,
  { origins, notice }: Described = { origins: [], notice: undefined },
): Promise<Page> {
  const outline = readOutline(document);
  const lasting = {
    explorer: files.explorer,
    scalar: files.scalar,
    preload: files.preload.map(preload).join("\n    "),
    description: escape(shorten(outline.summary || outline.description, 200)),
    notice: notice ? `<p class="notice" role="alert">${escape(notice)}</p>` : "",
    content: await renderContent(outline),
    ...TABLES,
  };
  const title = shorten(outline.title, 100);
  let last: { info: Info; header: string; representation: Representation } | undefined;
  const render = async (info: Info, header: string): Promise<Representation> => {
    const name = nameOf(info);
    const same = name.toLowerCase() === title.toLowerCase();
    const html = fill(template, {
      ...lasting,
      header,
      title: escape(same ? title : `${name} · ${title}`),
    });
    const policy = contentSecurityPolicy(origins);
    const representation = await represent(html, {
      type: "text/html; charset=utf-8",
      cache: "public, no-cache",
      // A 304 leaves a browser with the policy it has: another one makes another page.
      tag: await digest(new TextEncoder().encode(policy + html)),
      headers: {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      },
    });
    last = { info, header, representation };
    return representation;
  };
  return {
    peek: (info) => last?.info === info ? last.representation : undefined,
    async prepare(info) {
      const header = renderHeader(info);
      if (last?.header !== header) return await render(info, header);
      last.info = info;
      return last.representation;
    },
  };
}

/** Below the priority of the style sheet, without which nothing is shown. */
const preload = (path: string) =>
  `<link rel="modulepreload" href="../assets/${path}" fetchpriority="low">`;

/** Puts values into a template in one pass: a brace in a value stands for nothing. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`static/explorer.html: nothing is known as {${name}}`);
    return value;
  });
}
