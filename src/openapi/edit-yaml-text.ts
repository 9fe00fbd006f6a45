/**
 * Makes changes to the text of a YAML document, so that its comments and its order stay.
 *
 * @module
 */
import {
  type Block,
  type Characters,
  contentStart,
  nameOf,
  ofBytes,
  splitBlock,
} from "./yaml-blocks.ts";
import { joinBytes } from "../bytes.ts";
import type { Edit } from "./document-edits.ts";
import { type Json, objectOf, setMember } from "../json/values.ts";
import { formatItems, formatYaml } from "./serialize.ts";

const LF = 10;

/** A part of a text and what is to stand there. */
interface Change {
  start: number;
  end: number;
  text: string;
}

/** The changes below a key. */
interface Place {
  edit?: Edit;
  readonly members: Map<string, Place>;
}

/**
 * Makes changes to a text.
 *
 * @param bytes a YAML document in UTF-8
 * @param edits what to change
 * @param edited the document with the changes made: where the text offers no place for one, what is
 * around it is written anew
 * @returns `undefined` where the text is not laid out as a block mapping
 */
export function insertEdits(
  bytes: Uint8Array,
  edits: readonly Edit[],
  edited: Json,
): Uint8Array<ArrayBuffer> | undefined {
  const text = ofBytes(bytes);
  const block = splitBlock(text, contentStart(text), text.length);
  if (!block) return undefined;
  const root: Place = { members: new Map() };
  for (const edit of edits) {
    let place = root;
    for (const key of edit.path) {
      const next = place.members.get(key) ?? { members: new Map() };
      place.members.set(key, next);
      place = next;
    }
    place.edit = edit;
  }
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, text: inserted } of changesOf(text, block, root, edited)) {
    pieces.push(bytes.subarray(at, start));
    const last = pieces.findLast(({ length }) => length > 0)?.at(-1) ?? LF;
    pieces.push(encoder.encode(last === LF ? inserted : `\n${inserted}`));
    at = end;
  }
  return joinBytes([...pieces, bytes.subarray(at)]);
}

/** The changes within a block mapping, in the order of the text. */
function changesOf(text: Characters, block: Block, { members }: Place, edited: Json): Change[] {
  const changes: Change[] = [];
  const { indent, entries } = block;
  const missing = new Map(members);
  for (const entry of entries) {
    const name = nameOf(entry);
    const place = missing.get(name);
    if (!place) continue;
    missing.delete(name);
    const { start, bodyStart, contentEnd, end, isBare } = entry;
    const { edit } = place;
    if (isBare && edit?.kind === "items") {
      const indent = /^( *)- /m.exec(text.slice(bodyStart, contentEnd))?.[1]?.length;
      if (indent !== undefined) {
        changes.push({ start: contentEnd, end: contentEnd, text: formatItems(edit.value, indent) });
        continue;
      }
    }
    const inner = isBare && edit?.kind !== "value" ? splitBlock(text, bodyStart, end) : undefined;
    if (!inner) {
      const value: Json = {};
      setMember(value, name, edited[name]);
      changes.push({ start, end: contentEnd, text: formatYaml(value, indent) });
      continue;
    }
    changes.push(...changesOf(text, inner, place, objectOf(edited[name])));
    if (edit?.kind === "members") changes.push(after(inner, formatYaml(edit.value, inner.indent)));
  }
  const added: Json = {};
  for (const name of missing.keys()) setMember(added, name, edited[name]);
  if (missing.size > 0) changes.push(after(block, formatYaml(added, indent)));
  return changes;
}

/** Something put after the last content of a block. */
function after({ entries }: Block, text: string): Change {
  const { contentEnd } = entries.at(-1)!;
  return { start: contentEnd, end: contentEnd, text };
}
