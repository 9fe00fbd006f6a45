/**
 * What the page shows of a description: plain data, which may be made in another thread than the page.
 *
 * @module
 */
import { shorten } from "../untrusted-text.ts";
import { readOutline } from "./read-outline.ts";
import { renderContent } from "./render-content.ts";

/** What the page shows of a description. */
export interface PageParts {
  /** The title of the API, in at most 100 characters. */
  readonly title: string;
  /** A sentence about it, in at most 200 characters. */
  readonly summary: string;
  /** The HTML of the `main` element. */
  readonly content: string;
}

/**
 * Renders what the page shows of a description.
 *
 * @param document an OpenAPI document as JSON values; untrusted
 */
export async function renderParts(document: unknown): Promise<PageParts> {
  const outline = readOutline(document);
  return {
    title: shorten(outline.title, 100),
    summary: shorten(outline.summary || outline.description, 200),
    content: await renderContent(outline),
  };
}
