/**
 * The explorer page before anything is put into it.
 *
 * @module
 */

/** `static/explorer.html`, with names between braces for what is put in. */
export const TEMPLATE: string;

/** The icon, as SVG. */
export const FAVICON: string;

/** Where the page finds its files, below `/assets/`. */
export interface PageFiles {
  /** The folder of the files in `static/`, named after their content. */
  explorer: string;
  /** The folder of Scalar's files, named after its version and their content. */
  scalar: string;
  /** The scripts that the page always runs besides its first. */
  preload: readonly string[];
  /** The scripts that Scalar takes. */
  modules: readonly string[];
}

export const FILES: PageFiles;

/** What stands in the page, so that nothing has to come before it is seen. */
export interface PageInline {
  /** `static/explorer.css`. */
  style: string;
  /** `static/hide-until-found.js`, without its comment. */
  finding: string;
  /** Its SHA-256 in base64, by which the content security policy allows it. */
  digest: string;
}

export const INLINE: PageInline;
