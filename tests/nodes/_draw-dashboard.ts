/**
 * Draws the panels of `deploy/grafana.json` from their queries, where there is no Grafana: with its
 * layout, titles and legends, but not with its look.
 */
import { launch } from "../browser/_browser.ts";
import { GAP, type Line, type Panel, type Prometheus, readDashboard } from "./_dashboard.ts";

type Range = readonly [start: number, end: number];

/** The size of a cell of Grafana's grid, in pixels. */
const CELL = { width: 62, height: 34 };
const COLORS = [
  ...["#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#705da0"],
  ...["#37872d", "#fade2a", "#c4162a", "#3274d9"],
];
const STATES: Readonly<Record<string, string>> = {
  green: "#73bf69",
  "light-blue": "#8ab8ff",
  blue: "#3274d9",
  orange: "#ff780a",
  "dark-orange": "#fa6400",
  red: "#f2495c",
  purple: "#a352cc",
  text: "#8e8e8e",
};

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function format(value: number, unit = "none"): string {
  if (unit === "bytes") return `${(value / 2 ** 20).toFixed(0)} MiB`;
  if (unit === "percentunit") return `${(100 * value).toFixed(0)} %`;
  if (unit === "s") return formatSeconds(value);
  const digits = Number.isInteger(value) ? 0 : value < 10 ? 2 : 1;
  return `${value.toFixed(digits)}${unit === "reqps" ? " /s" : ""}`;
}

function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${(1000 * seconds).toFixed(0)} ms`;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const days = seconds / 86400;
  if (days < 1) return `${(24 * days).toFixed(1)} h`;
  return days < 365 ? `${days.toFixed(1)} d` : `${(days / 365.25).toFixed(1)} years`;
}

interface Box {
  readonly width: number;
  readonly height: number;
}

function drawSeries(
  panel: Panel,
  lines: readonly Line[],
  [start, end]: Range,
  box: Box,
  marks: readonly number[],
): string {
  const { unit, custom } = panel.fieldConfig!.defaults;
  const isLogarithmic = custom?.scaleDistribution?.type === "symlog";
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  if (values.length === 0) return `<p class="none">unknown</p>`;
  const [least, most] = [Math.min(0, ...values), Math.max(1e-9, ...values) * 1.05];
  const left = 62, bottom = 16;
  const share = (value: number) =>
    isLogarithmic
      ? Math.log10(Math.max(1, value)) / Math.log10(Math.max(10, most))
      : (value - least) / (most - least);
  const x = (time: number) => left + (box.width - left - 6) * (time - start) / (end - start);
  const y = (value: number) => 4 + (box.height - bottom - 4) * (1 - share(value));
  const paths = lines.map(({ points }, at) => {
    const parts = points.map(([time, value], i) => {
      const isGap = i === 0 || time - points[i - 1]![0] > GAP;
      return `${isGap ? "M" : "L"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    return `<path d="${parts.join("")}" stroke="${COLORS[at % COLORS.length]}"/>`;
  });
  const steps = isLogarithmic ? [1, Math.sqrt(most), most] : [0, most / 2, most];
  const scale = steps.map((value) =>
    `<line x1="${left}" x2="${box.width}" y1="${y(value)}" y2="${y(value)}"/>` +
    `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${format(value, unit)}</text>`
  );
  const dashes = marks.map((time) =>
    `<line class="mark" x1="${x(time)}" x2="${x(time)}" y1="0" y2="${box.height - bottom}"/>`
  );
  return svg(box, [...scale, ...dashes, ...paths, timesOf([start, end], x, box.height)]);
}

const svg = ({ width, height }: Box, parts: readonly string[]) =>
  `<svg width="${width}" height="${height}">${parts.join("")}</svg>`;

function timesOf([start, end]: Range, x: (time: number) => number, height: number): string {
  const step = 30;
  const times = [];
  for (let time = Math.ceil(start / step) * step; time < end; time += step) {
    const label = new Date(time * 1000).toISOString().slice(11, 19);
    times.push(`<text x="${x(time)}" y="${height - 2}" text-anchor="middle">${label}</text>`);
  }
  return times.filter((_, at) => at % 2 === 1).join("");
}

/** The number of points after which there is room for the name of a state. */
const WIDTH_MIN = 4;

function drawStates(panel: Panel, lines: readonly Line[], [start, end]: Range, box: Box): string {
  const options = panel.fieldConfig!.defaults.mappings![0]!.options;
  const left = 100, row = (box.height - 16) / lines.length;
  const x = (time: number) => left + (box.width - left) * (time - start) / (end - start);
  const rows = lines.map(({ name, points }, at) => {
    const top = at * row;
    const parts = points.map(([time, value], i) => {
      const { color, text } = options[`${value}`]!;
      const isNew = points[i - 1]?.[1] !== value && points[i + WIDTH_MIN]?.[1] === value;
      const rectangle = `<rect x="${x(time)}" y="${top + 2}" width="${
        x(start + 2.1) - left
      }" height="${row - 4}"
          fill="${STATES[color]}"/>`;
      return [
        rectangle,
        isNew
          ? `<text class="state" x="${x(time) + 3}" y="${top + row / 2 + 4}">${text}</text>`
          : "",
      ];
    });
    const label = `<text x="${left - 6}" y="${top + row / 2 + 4}" text-anchor="end">${name}</text>`;
    return label + parts.map(([rectangle]) => rectangle).join("") +
      parts.map(([, text]) => text).join("");
  });
  return svg(box, [...rows, timesOf([start, end], x, box.height)]);
}

const NUMBERS: Readonly<Record<string, readonly [column: string, unit: string]>> = {
  D: ["height", "none"],
  E: ["age of head", "s"],
  F: ["peers", "none"],
};
const COLUMNS = [
  ...["instance", "status", "code", "chain", "software", "version"],
  ...["height", "age of head", "peers"],
];

function drawTable(lines: readonly Line[]): string {
  const rows = new Map<string, Record<string, string>>();
  for (const { labels, points, target } of lines) {
    const row = rows.get(labels.instance!) ?? {};
    rows.set(labels.instance!, Object.assign(row, labels));
    const [column, unit] = NUMBERS[target.refId] ?? [];
    if (column) row[column] = format(points[0]![1], unit);
  }
  const names = COLUMNS.map((name) => `<th>${name === "code" ? "reason" : name}`).join("");
  const cells = [...rows.values()].map((row) =>
    `<tr>${COLUMNS.map((name) => `<td>${escape(row[name] ?? "")}`).join("")}`
  );
  return `<table><tr>${names}${cells.join("")}</table>`;
}

function legendOf(lines: readonly Line[]): string {
  const names = lines.map(({ name }, at) =>
    `<span><i style="background:${COLORS[at % COLORS.length]}"></i>${escape(name)}</span>`
  );
  const more = names.length - LEGEND_MAX;
  return names.slice(0, LEGEND_MAX).join("") + (more > 0 ? `<span>and ${more} more</span>` : "");
}
const LEGEND_MAX = 7;

const STYLE = `
  * { margin: 0; box-sizing: border-box }
  body { background: #111217; color: #ccccdc; font: 12px/1.3 sans-serif; position: relative }
  section { position: absolute; background: #181b1f; border: 1px solid #2c3235; padding: 6px;
    overflow: hidden }
  h2 { font-size: 13px; font-weight: 500; margin-bottom: 4px }
  h1 { position: absolute; font-size: 15px; font-weight: 500; padding: 8px }
  svg { display: block } path { fill: none; stroke-width: 1.5 } line { stroke: #2c3235 }
  .mark { stroke: #ff780a; stroke-dasharray: 3 3; opacity: 0.7 }
  text { fill: #9fa7b3; font-size: 11px } .state { fill: #111217; font-weight: 600 }
  table { border-collapse: collapse; width: 100%; font-size: 11px; white-space: nowrap }
  th, td { text-align: left; padding: 5px 4px; border-bottom: 1px solid #2c3235 }
  th { font-weight: 500; color: #6e9fff } .none { padding: 30px; text-align: center }
  span { margin-right: 10px; font-size: 11px; white-space: nowrap; display: inline-block } i { display: inline-block; width: 10px; height: 3px;
    margin-right: 4px; vertical-align: middle }`;

async function drawPanel(
  prometheus: Prometheus,
  panel: Panel,
  range: Range,
  marks: readonly number[],
): Promise<string> {
  const { x, y, w, h } = panel.gridPos;
  const place = `left:${x * CELL.width}px;top:${y * CELL.height}px`;
  if (panel.type === "row") return `<h1 style="${place}">${escape(panel.title)}</h1>`;
  const lines = await prometheus.panel(panel, range);
  const box = { width: w * CELL.width - 22, height: h * CELL.height - 44 };
  const chart = { ...box, height: box.height - 36 };
  const content = panel.type === "table"
    ? drawTable(lines)
    : panel.type === "state-timeline"
    ? drawStates(panel, lines, range, box)
    : drawSeries(panel, lines, range, chart, marks) + legendOf(lines);
  const size = `width:${w * CELL.width - 4}px;height:${h * CELL.height - 4}px`;
  return `<section style="${place};${size}"><h2>${escape(panel.title)}</h2>${content}</section>`;
}

/** Writes a PNG file. */
export async function drawDashboard(
  prometheus: Prometheus,
  path: string,
  range: Range,
): Promise<void> {
  const { panels, annotations } = await readDashboard();
  const marks = [];
  for (const annotation of annotations.list) {
    if (annotation.expr) marks.push(...await prometheus.times(annotation, range));
  }
  const parts = [];
  for (const panel of panels) parts.push(await drawPanel(prometheus, panel, range, marks));
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  const size = { width: 24 * CELL.width, height: rows * CELL.height };
  const browser = await launch();
  const page = await browser.newPage({ viewport: size });
  await page.setContent(`<style>${STYLE}</style>${parts.join("")}`);
  await page.screenshot({ path });
  await page.close();
  await browser.close();
}
