/**
 * The documents of the explorer before anything of a description or a node is put into them.
 *
 * @module
 */

/** A document. */
export interface PageTemplate {
  /** `static/simple.html` or `static/reference.html`, with names between braces for what is put in. */
  readonly html: string;
  /** The SHA-256 in base64 of each script that stands in it: the content security policy allows these. */
  readonly digests: readonly string[];
}

/** The documents. */
export const TEMPLATES: Readonly<Record<"reference" | "simple", PageTemplate>>;

/** The icon, as SVG. */
export const FAVICON: string;

/** The folders of files below `/assets/`, each named after its content: those of `static/`, and Scalar's. */
export const FILES: { readonly explorer: string; readonly scalar: string };
