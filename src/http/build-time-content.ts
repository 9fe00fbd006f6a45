/**
 * Unpacks the contents that `build/generated-modules.ts` packs into modules. They are base64, which every bundler
 * and runtime accepts.
 *
 * @module
 */
import { type ContentCoding, type EncodedContent, gunzip } from "./encode-content.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A content as base64, by coding. It has `identity` only if it has no `gzip`. */
export type PackedContent = Readonly<Partial<Record<ContentCoding, string>>>;

/** Decodes every coding of a content; `identity` is made from gzip. */
export async function unpack({ br, gzip, identity }: PackedContent): Promise<EncodedContent> {
  const gz = gzip === undefined ? undefined : fromBase64(gzip);
  return {
    identity: gz ? await gunzip(gz) : fromBase64(identity ?? ""),
    ...(gz && { gzip: gz }),
    ...(br !== undefined && { br: fromBase64(br) }),
  };
}

function fromBase64(text: string): Bytes {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
  return bytes;
}
