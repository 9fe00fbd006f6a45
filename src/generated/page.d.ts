/**
 * The HTML of the explorer's documents, before values are filled in.
 *
 * @module
 */

/** The files `static/*.html`, with names in braces as placeholders. */
export const TEMPLATES: Readonly<Record<"reference" | "simple" | "plain", string>>;

/** The styles in CSS. The plain page has those of the simple page. */
export const STYLES: Readonly<Record<"reference" | "simple", string>>;

/** The hashes of the inline scripts in `TEMPLATES`, as CSP sources (CSP level 3, section 2.3.1). */
export const INLINE_SCRIPTS: readonly string[];

export const FAVICON: string;

/**
 * The folders below `/assets/` with the explorer's and Scalar's files. Their names change with the
 * content.
 */
export const FILES: { readonly explorer: string; readonly scalar: string };
