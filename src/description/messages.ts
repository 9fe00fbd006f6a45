/**
 * What the thread that prepares a description and the one that has it done say to each other. The thread
 * has no files and no network: it asks for each file.
 *
 * @module
 */
import type { Content, Prepared, PrepareJob, WrittenYaml } from "./prepare.ts";

/** A file, as it is sent: its URL is a text. */
export interface SentFile {
  readonly url: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isJson: boolean;
  readonly stamp: string;
}

/** What the thread is told: what to do first, then each file that it has asked for. */
export type ToThread =
  | { readonly job: PrepareJob }
  | { readonly url: string; readonly file: SentFile | undefined }
  /** Why a file cannot be had; `isExpected` where that is a finding about it. */
  | { readonly url: string; readonly failure: string; readonly isExpected: boolean };

/** What came of a description, without the YAML, which is still to come, and the page's HTML, which was sent. */
export interface SentPrepared extends Omit<Prepared, "content"> {
  readonly content: Omit<Content, "yaml"> | undefined;
}

/**
 * What the thread says: which file it needs, then the page's HTML part by part and what else came of it, and
 * where there is a content, its YAML.
 */
export type FromThread =
  | { readonly url: string }
  | { readonly html: string }
  | { readonly prepared: SentPrepared }
  | { readonly yaml: WrittenYaml };
