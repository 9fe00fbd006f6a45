/** @module */
export function writeStamp(stamp: string, root?: string): void;
export function isCurrent(root?: string, stamp?: string): boolean;
export function stampOf(root?: string): string;
