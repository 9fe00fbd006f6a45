/** Numbers as readers take them in. */

/** A ratio such as `0.97`; `–` where there is none. */
export function times(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(2);
}

/** A number with groups of three: `12,345`. */
export function whole(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en") : "–";
}

/** A number with a decimal where it is small. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return whole(value);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** A part of 1 in hundredths: `7 %`; `–` where there is none. */
export function percent(part: number | undefined): string {
  return part === undefined || !Number.isFinite(part) ? "–" : `${Math.round(part * 100)} %`;
}

/** Milliseconds as seconds. */
export function seconds(milliseconds: number | null): string {
  return milliseconds === null ? "–" : (milliseconds / 1000).toFixed(2);
}

/** Bytes in kB or MB. */
export function bytes(count: number): string {
  if (!Number.isFinite(count)) return "–";
  return count >= 1e6 ? `${(count / 1e6).toFixed(2)} MB` : `${(count / 1000).toFixed(1)} kB`;
}
