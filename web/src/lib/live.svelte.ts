// A run that goes on, from the events of the server. Keeps what charts draw; asks nothing else.
import type { Say } from "./lang.svelte";
import { SvelteSet } from "svelte/reactivity";
import { type List, get } from "./api";

export type Figures = {
  iops: number;
  throughput_bytes_per_s: number;
  latency_ns_p50: number | null;
  latency_ns_p99: number | null;
  latency_ns_p999: number | null;
  latency_ns_max: number | null;
  errors: number;
};
export type Progress = {
  phase: string;
  step: number;
  steps: number;
  case: string;
  elapsed_ns: number;
  done_share: number;
  left_ns: number | null;
  left_ns_low: number | null;
  left_ns_high: number | null;
  silent_ns: number;
  figures: Figures | null;
};
type EventKind = {
  phase?: string;
  host_lost?: { detail: string };
  run_file_full?: { detail: string };
  unwatched?: { why: Say };
  intervals_merged?: { count: number };
  beside?: { run_id: string; drives: string[] };
  fault?: { what: Say };
};
export type Happened = { elapsed_ns: number; host: number; event: string | EventKind };

/** Pause before a stream that the server refused is asked for again. By eye: what refused it lasts seconds. */
const AGAIN = 3000;
/** Seconds of the run that charts show. */
const SHOWN = 300;

/** Columns of charts: x, IOPS, bytes per second, p50, p99, p99.9. A gap stands between two trials. */
export type Columns = [number[], ...(number | null)[][]];

export class Live {
  progress: Progress | null = $state.raw(null);
  columns: Columns = $state.raw([[], [], [], [], [], []]);
  happened: Happened[] = $state.raw([]);
  phases = new SvelteSet<string>();
  finished: string | null = $state(null);
  connected = $state(false);
  errors = $state(0);

  #run: string;
  #source: EventSource | null = null;
  #closed = false;
  #again = 0;
  #trial = -1;
  #due = 0;
  #rows: (number | null)[][] = [];
  #events: Happened[] = [];

  constructor(run: string) {
    this.#run = run;
    this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#source?.close();
    clearTimeout(this.#again);
    clearTimeout(this.#due);
    this.#due = 0;
  }

  #open(): void {
    const source = new EventSource(`/api/v1/runs/${encodeURIComponent(this.#run)}/events`);
    this.#source = source;
    [this.#trial, this.#rows, this.#events, this.errors] = [-1, [], [], 0];
    source.onopen = () => (this.connected = true);
    source.onerror = () => {
      this.connected = false;
      // A browser comes again after a broken connection, but never after an answer that is no stream, as of a run that is over.
      if (source.readyState === EventSource.CLOSED && !this.#closed) void this.#refused();
    };
    this.#on("progress", (progress: Progress) => {
      this.progress = progress;
      this.phases.add(progress.phase);
    });
    this.#on("second", (second: { trial: number; elapsed_ns: number; figures: Figures }) => this.#second(second.trial, second.elapsed_ns / 1e9, second.figures));
    this.#on("recorded", (happened: Happened) => {
      if (typeof happened.event === "object" && happened.event.phase) this.phases.add(happened.event.phase);
      this.#events.push(happened);
      this.#publish();
    });
    this.#on("finished", ({ state }: { state: string }) => {
      this.close();
      this.finished = state;
    });
  }

  async #refused(): Promise<void> {
    const going = await get<List>(`runs?state=running&limit=200&text=${encodeURIComponent(this.#run)}`).catch(() => null);
    if (this.#closed) return;
    if (!going) this.#again = setTimeout(() => void this.#refused(), AGAIN) as unknown as number;
    else if (going.runs.some(({ name }) => name === this.#run)) this.#again = setTimeout(() => this.#open(), AGAIN) as unknown as number;
    else this.finished = "over";
  }

  #on<T>(name: string, take: (data: T) => void): void {
    this.#source?.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
  }

  #second(trial: number, at: number, f: Figures): void {
    const before = this.#rows.at(-1)?.[0];
    if (trial !== this.#trial && before != null) this.#rows.push([(before + at) / 2, null, null, null, null, null]);
    this.#trial = trial;
    this.#rows.push([at, f.iops, f.throughput_bytes_per_s, f.latency_ns_p50, f.latency_ns_p99, f.latency_ns_p999]);
    const old = this.#rows.findIndex((row) => (row[0] ?? 0) >= at - SHOWN);
    if (old > 0) this.#rows.splice(0, old);
    this.errors += f.errors;
    this.#publish();
  }

  /** What comes in one burst, as to a reader that comes late, is drawn once. */
  #publish(): void {
    this.#due ||= setTimeout(() => {
      this.#due = 0;
      this.columns = [0, 1, 2, 3, 4, 5].map((column) => this.#rows.map((row) => row[column] ?? null)) as Columns;
      this.happened = this.#events.slice();
    }, 50) as unknown as number;
  }
}
