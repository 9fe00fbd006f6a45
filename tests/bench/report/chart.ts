/** Bar charts as SVG, in colours that can be read on white and on black. */

/** A bar. */
export interface Bar {
  label: string;
  value: number;
  /** What is written at its end. */
  text: string;
  tone: keyof typeof TONES;
}

/** A chart: bars from top to bottom. */
export interface Chart {
  title: string;
  bars: readonly Bar[];
  /** A value that is marked by a line through all bars. */
  mark?: { value: number; text: string };
}

/** Each has a contrast of at least 3 to white and to GitHub's dark background. */
const TONES = { own: "#1f83e0", bare: "#8a8f98", peer: "#b8792a" } as const;
const TEXT = "#75797f";

const WIDTH = 720, LABELS = 230, TEXTS = 110, ROW = 26, BAR = 16;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** Draws a chart. */
export function drawChart({ title, bars, mark }: Chart): string {
  const room = WIDTH - LABELS - TEXTS;
  const most = Math.max(mark?.value ?? 0, ...bars.map(({ value }) => value)) || 1;
  const x = (value: number) => (LABELS + room * value / most).toFixed(1);
  const top = mark ? 52 : 34;
  const height = top + ROW * bars.length + 12;
  const lines = bars.flatMap(({ label, value, text, tone }, index) => {
    const y = top + ROW * index;
    const width = Math.max(1, room * value / most).toFixed(1);
    const middle = y + BAR - 4;
    const end = LABELS + Number(width) + 8;
    const markAt = mark ? Number(x(mark.value)) : NaN;
    // What is written beside a bar would be crossed by the mark.
    const beside = markAt > end - 4 && markAt < end + 34 ? markAt + 6 : end;
    return [
      `<text x="${LABELS - 10}" y="${middle}" text-anchor="end">${escape(label)}</text>`,
      `<rect x="${LABELS}" y="${y}" width="${width}" height="${BAR}" rx="2" fill="${
        TONES[tone]
      }"/>`,
      `<text x="${beside.toFixed(1)}" y="${middle}">${escape(text)}</text>`,
    ];
  });
  const marks = mark
    ? [
      `<path d="M${x(mark.value)} ${top - 8}V${
        height - 10
      }" stroke="${TEXT}" stroke-dasharray="3 3"/>`,
      `<text x="${x(mark.value)}" y="${top - 12}" text-anchor="middle">${escape(mark.text)}</text>`,
    ]
    : [];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(title)}">`,
    `<g fill="${TEXT}" style="font: ${FONT}">`,
    `<text x="0" y="16" style="font-weight: 600; font-size: 14px">${escape(title)}</text>`,
    ...lines,
    ...marks,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", '"': "&quot;" };

function escape(text: string): string {
  return text.replaceAll(/[&<"]/g, (character) => ESCAPES[character]!);
}
