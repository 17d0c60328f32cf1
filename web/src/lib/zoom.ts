// Zoom of a chart over time: which stretch is shown, whether the server has finer data of it, and the chart that these make.
import type { Axis, Chart, Series } from "./api";
import type { Say } from "./lang.svelte";

/** Seconds since the start of the run. */
export type Range = [from: number, to: number];

/** What a chart needs to show a part of itself in more detail. */
export type Zoom = {
  /** Name of the run in the list, and `case` of its result. */
  run: string;
  case: number;
  /** The part that is shown; null: all. */
  range: Range | null;
  set: (range: Range | null) => void;
};

type OperationIntervals = {
  operation: string;
  iops_mean: number[];
  iops_min: number[];
  iops_max: number[];
  bytes_per_s_mean: number[];
  bytes_per_s_min: number[];
  bytes_per_s_max: number[];
  latency_ns_p50: (number | null)[];
  latency_ns_p99: (number | null)[];
  latency_ns_max: (number | null)[];
};
type TrialIntervals = { trial: number; from_s: number; at_s: number[]; latency_at_s: number[]; operations: OperationIntervals[] };
export type Intervals = { resolution_ms: number; latency_resolution_ms: number; is_damaged: boolean; trials: TrialIntervals[] };

/** Fewest and most buckets that the server makes. */
const POINTS: Range = [10, 2000];
/** Shortest stretch that is shown: three intervals of the recorder. */
const LEAST = 0.3;
/** Length of an interval of the recorder. */
export const INTERVAL_MS = 100;
/** With fewer points a line pretends to know what lies between them, as in crates/analyse/src/charts/mod.rs. */
const LINE_FROM = 30;

/** Operations in the order of the charts. */
const OPERATIONS: [string, Say][] = [
  ["read", { en: "read", ru: "чтение" }],
  ["write", { en: "write", ru: "запись" }],
  ["discard", { en: "discard", ru: "освобождение" }],
  ["write_zeroes", { en: "write of zeroes", ru: "запись нулей" }],
  ["sync", { en: "sync", ru: "синхронизация" }],
];

const rounded = (seconds: number): number => Math.round(Math.max(seconds, 0) * 1000) / 1000;

/** As the address of the page has it. */
export const textOf = ([from, to]: Range): string => `${rounded(from)}-${rounded(to)}`;

export function rangeOf(text: string | null): Range | null {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from < to && to <= 1e9 ? [from, to] : null;
}

/** The part of a range that lies on the axis of a chart, not shorter than can be told apart; null: all of the axis, or nothing of it. */
export function stretch({ x }: Chart, range: Range | null): Range | null {
  if (!range) return null;
  const short = Math.max((LEAST - (range[1] - range[0])) / 2, 0);
  const [from, to] = [Math.max(range[0] - short, x.from), Math.min(range[1] + short, x.to)];
  return from < to && (from > x.from || to < x.to) ? [from, to] : null;
}

/** Several intervals stand behind points of a chart. */
export const isReduced = ({ panes }: Chart): boolean => (panes[0]?.series ?? []).some(({ points }) => points.some(({ envelope }) => envelope));

/** Whether a stretch has fewer points than there are pixels for, and the server has more. */
export function wantsFiner(chart: Chart, [from, to]: Range, pixels: number): boolean {
  const shown = (chart.panes[0]?.series ?? []).map(({ points }) => points.filter(({ x, y }) => y !== null && x >= from && x <= to).length);
  return isReduced(chart) && Math.max(0, ...shown) < pixels;
}

/** Where the server has a stretch. The number of points follows the width roughly, so that a page which is made wider asks rarely. */
export function address(run: string, index: number, range: Range, pixels: number): string {
  const points = Math.min(Math.max(Math.floor(pixels / 50) * 50, POINTS[0]), POINTS[1]);
  const query = new URLSearchParams({ from: String(rounded(range[0])), to: String(rounded(range[1])), points: String(points), case: String(index) });
  return `runs/${encodeURIComponent(run)}/intervals?${query}`;
}

type Points = Series["points"];

/** Points of an operation over all trials, with a gap between two of them. */
function points(trials: TrialIntervals[], operation: string, of: (trial: TrialIntervals, columns: OperationIntervals) => Points): Points {
  return trials.flatMap((trial, index) => {
    const columns = trial.operations.find((each) => each.operation === operation);
    return columns ? [...(index ? [{ x: trial.from_s, y: null }] : []), ...of(trial, columns)] : [];
  });
}

function line(name: Say, quantity: string, variant: number, points: Points): Series {
  return { name, quantity, variant, points, labels: [], joined: false, dots: points.filter(({ y }) => y !== null).length < LINE_FROM };
}

const largest = (lines: Series[]): number => lines.reduce((most, { points }) => points.reduce((most, { y, envelope }) => Math.max(most, y ?? 0, envelope?.[1] ?? 0), most), 0);

/** The chart of a stretch in which the answer of the server is drawn. */
export function refined(chart: Chart, { trials, resolution_ms }: Intervals, [from, to]: Range): Chart {
  const operations = OPERATIONS.filter(([operation]) => trials.some((trial) => trial.operations.some((each) => each.operation === operation)));
  const whole = chart.panes[0]?.y;
  if (!whole) return chart;
  const isBytes = whole.unit === "bytes_per_second";
  const rates = operations
    .filter(([operation]) => operation !== "sync")
    .map(([operation, name], variant) =>
      line(name, isBytes ? "throughput" : "iops", variant, points(trials, operation, ({ at_s }, columns) => {
        const [mean, min, max] = isBytes ? [columns.bytes_per_s_mean, columns.bytes_per_s_min, columns.bytes_per_s_max] : [columns.iops_mean, columns.iops_min, columns.iops_max];
        return at_s.map((x, index): Points[number] => ({ x, y: mean[index] ?? null, envelope: resolution_ms > INTERVAL_MS ? [min[index] ?? 0, max[index] ?? 0] : null }));
      })),
    );
  const most = largest(rates);
  const panes: Chart["panes"] = [{ y: { ...whole, from: 0, to: most > 0 ? most * 1.05 : 1 }, series: rates }];
  for (const [operation, name] of operations) {
    const of = (column: "latency_ns_p50" | "latency_ns_p99" | "latency_ns_max") =>
      points(trials, operation, ({ latency_at_s }, columns) => latency_at_s.map((x, index) => ({ x, y: columns[column][index] ?? null })));
    const lines = [
      line({ en: "p50", ru: "p50" }, "latency", 0, of("latency_ns_p50")),
      line({ en: "p99", ru: "p99" }, "latency", 1, of("latency_ns_p99")),
      line({ en: "max", ru: "макс." }, "latency", 2, of("latency_ns_max")),
    ];
    const values = lines.flatMap(({ points }) => points.flatMap(({ y }) => (y === null ? [] : [Math.max(y, 1)])));
    if (values.length) panes.push({ y: decades({ en: `${name.en} latency`, ru: `${name.ru}, задержка` }, values), series: lines });
  }
  return { ...chart, x: { ...chart.x, from, to }, panes };
}

/** A logarithmic axis over whole decades. */
function decades(label: Say, values: number[]): Axis {
  const [least, most] = values.reduce<Range>(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, 1]);
  const [from, to] = [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most))];
  return { label, scale: "log", unit: "latency_ns", from, to: to > from ? to : from * 10, names: [] };
}
