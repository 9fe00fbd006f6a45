/**
 * The HTML of the explorer's documents, before values are filled in.
 *
 * @module
 */

/** `static/simple.html` and `static/reference.html`, with names in braces as placeholders. */
export const TEMPLATES: Readonly<Record<"reference" | "simple", string>>;

/** The hash sources of the inline scripts in `TEMPLATES`, for the content security policy (CSP level 3, section 2.3.1). */
export const INLINE_SCRIPTS: readonly string[];

/** The icon, as SVG. */
export const FAVICON: string;

/** The folders of files below `/assets/`, each named after its content: those of `static/`, and Scalar's. */
export const FILES: { readonly explorer: string; readonly scalar: string };
