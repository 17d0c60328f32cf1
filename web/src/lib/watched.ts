// Recordings of hosts and their journals, as far as the console reads them.
import type { Chart, State } from "./api";
import { get, type List, type Listed } from "./api";
import { t, type Say } from "./lang.svelte";

export type Spread = { mean: number; max: number };
export type RecordedDrive = {
  name: string;
  /** `disk`, `loop`, `md`, `dm`, … */
  kind: string;
  /** What stays with it when its name goes to another. */
  identity?: string | null;
  iops: Spread;
  throughput_bytes_per_s: Spread;
  read_latency_ns?: Spread | null;
  write_latency_ns?: Spread | null;
  queue_depth: Spread;
  busy_share: Spread;
};
export type Recording = {
  run: string;
  label?: string | null;
  host: string;
  started_unix_s: number;
  first_sample_unix_s: number;
  span_ns: number;
  samples: number;
  state: State;
  cpu_busy_share?: Spread | null;
  io_some_share?: Spread | null;
  drives: RecordedDrive[];
  idle: string[];
  runs?: ConcurrentRun[];
  events?: { at_ns: number; name: Say }[];
  charts: Chart[];
};
/** A run of the host while it was recorded; times are after the first sample. */
export type ConcurrentRun = { run: string; suite: string; label?: string | null; from_ns: number; to_ns: number };

export type Severity = "warning" | "critical";
export type HostProblem = {
  /** Of this occurrence; its first eight digits are those of all. */
  id: string;
  rule: string;
  category: string;
  severity: Severity;
  object: string;
  state: "open" | "closed";
  opened_unix_s: number;
  closed_unix_s?: number | null;
  times: number;
  name: Say;
  evidence: Say;
  advice: Say;
  acknowledged?: { by: string; at_unix_s: number; comment?: string | null } | null;
  muted_until_unix_s?: number | null;
};
/** `what` is what takes it back. */
export type Mute = { what: string; object: string; rule?: string | null; name?: Say | null; until_unix_s: number; by: string; comment?: string | null };
export type Journal = { run: string; host: string; rules_version: string; problems: HostProblem[]; mutes: Mute[] };

/** Problems that are open in recordings that are written now; of too many the oldest are only counted. */
export type OpenProblems = { recordings: { recording: string; host: string; critical: number; warning: number }[]; left_out: number };

/** The open problems of one of these recordings: the newest that has any. */
export function openPage({ recordings }: OpenProblems): string {
  const query = new URLSearchParams({ state: "open" });
  const first = recordings.find(({ critical, warning }) => critical + warning > 0);
  if (first) query.set("recording", first.recording);
  return `/journal?${query}`;
}

/** The recordings that the server has, the newest first. */
export const recordings = async (): Promise<Listed[]> => (await get<List>("recordings?limit=200")).runs;

/** How often a recording that goes on is asked for: what it shows is of hours. */
const EVERY = 15_000;

/** Asks what `look` asks, and again while the recording goes on or there was no answer. What is returned ends that. */
export function whileItGoesOn(name: string, look: (signal: AbortSignal) => Promise<void>, take: (goesOn: boolean, error: unknown) => void): () => void {
  const stop = new AbortController();
  let [waiting, goesOn] = [0, false];
  const ask = async () => {
    let failed: unknown = null;
    try {
      // The file of a recorder that was killed is as open as that of one that goes on: the list knows which it is.
      const [, all] = await Promise.all([look(stop.signal), recordings()]);
      goesOn = all.some((one) => one.name === name && one.going_on === true);
    } catch (error) {
      failed = error;
    }
    if (stop.signal.aborted) return;
    take(goesOn, failed);
    if (goesOn || failed) waiting = setTimeout(() => void ask(), EVERY) as unknown as number;
  };
  void ask();
  return () => {
    stop.abort();
    clearTimeout(waiting);
  };
}

export const CATEGORIES = ["node", "port", "path", "drive", "array", "pool", "temperature"] as const;

export const category = (of: string): string =>
  ({
    node: t("machine", "машина"),
    port: t("network", "сеть"),
    path: t("paths", "пути"),
    drive: t("drives", "накопители"),
    array: t("arrays", "массивы"),
    pool: t("pools", "пулы"),
    temperature: t("temperature", "температура"),
  })[of] ?? of;

/** Seconds of a unit of the time axis of a recording, which is as long as the recording, and at least a second. */
export const secondsOf = (chart: Chart, { span_ns }: Recording): number => Math.max(span_ns / 1e9, 1) / chart.x.to;

/** Half of what counts as the same moment, in seconds. By eye: a cause may be noticed half a minute later. */
const NEAR = 30;
/** Places on the axis of a chart of the server: a point of a long recording is longer than a minute. */
const PLACES = 600;

export type Around = { from_s: number; to_s: number; runs: ConcurrentRun[]; events: { at_ns: number; name: Say }[]; problems: HostProblem[] };

/** What ran, what happened and which problems were open around a moment, in seconds after the first sample. */
export function around({ span_ns, first_sample_unix_s, runs = [], events = [] }: Recording, problems: HostProblem[], at: number): Around {
  const half = Math.max(NEAR, span_ns / 1e9 / PLACES);
  const [from_s, to_s] = [at - half, at + half];
  const meets = (begin: number, end: number) => begin <= to_s && end >= from_s;
  const after = (unix: number) => unix - first_sample_unix_s;
  return {
    from_s,
    to_s,
    runs: runs.filter(({ from_ns, to_ns }) => meets(from_ns / 1e9, to_ns / 1e9)),
    events: events.filter(({ at_ns }) => meets(at_ns / 1e9, at_ns / 1e9)),
    problems: problems.filter(({ opened_unix_s, closed_unix_s }) => meets(after(opened_unix_s), closed_unix_s ? after(closed_unix_s) : Infinity)),
  };
}
