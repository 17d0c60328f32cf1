// Documents of the API, as far as the console reads them (docs/api/openapi.json has all), and asking for them.
import type { Say } from "./lang.svelte";
import { t } from "./lang.svelte";
import { session } from "./session.svelte";

export type State = { state: "open" | "complete" | "suspended" | "ended"; reason?: Say | null; instruction?: string | null };

export type Problem = { status: number; detail: string; message?: Say; hint?: Say | null };

export type Listed = {
  name: string;
  size_bytes: number;
  gone?: boolean;
  error?: { message: Say; hint: Say | null } | null;
  label?: string | null;
  suite?: string | null;
  targets?: string[] | null;
  state?: State | null;
  going_on?: boolean | null;
  started_unix_s?: number | null;
  trials?: number | null;
  cases?: number | null;
  result?: { case: string; headline: Headline; iops: number | null; throughput_bytes_per_s: number | null } | null;
};
export type List = { runs: Listed[]; left_out: number; next?: string | null };

export type Summary = {
  run: string;
  headline: Say;
  verdict: Say;
  publishable: boolean;
  cases: number;
  telling: number[];
  checks_passed: number;
  checks_warned: number;
  checks_failed: number;
  caveats: number;
};

export type Headline = "iops" | "throughput";
export type Interval = [number | null, number | null] | null;
export type Measured = { value: number | null; interval_95: Interval; n: number };
export type Quantile = { share: number; state: string; value_ns?: number | null };
export type Operation = {
  stream: number;
  operation: string;
  iops: Measured;
  censored: number;
  latency_max_ns: number | null;
  latency_quantiles: Quantile[];
};
export type Status = "pass" | "warn" | "fail" | "not_measurable" | "screening_only" | "not_applicable";
export type Check = { id: string; name: Say; status: Status; measured: Say; limit: Say; meaning: Say };
export type Axis = { label: Say; scale: "linear" | "log" | "nines"; unit: ChartUnit; from: number; to: number; names: Mark[] };
export type ChartUnit = "plain" | "seconds" | "latency_ns" | "bytes_per_second" | "share" | "bytes";
export type Mark = { at: number; name: Say; detail: Say };
export type Series = { name: Say; quantity: string; variant: number; dots: boolean; joined: boolean; labels: Say[]; points: { x: number; y: number | null; envelope?: [number, number] | null }[] };
export type Field = {
  columns: [number, number][];
  rows: [number, number][];
  cells: { column: number; row: number; value: number }[];
  steps: number[];
  name: Say;
};
export type Chart = {
  id: string;
  title: Say;
  summary: Say;
  x: Axis;
  bands: { from: number; to: number; label: Say }[];
  events: Mark[];
  panes: { y: Axis; series: Series[]; field?: Field | null }[];
};
export type Case = {
  case: number;
  label: string;
  workload: Say;
  headline: Headline;
  trials: number;
  iops: Measured;
  throughput_bytes_per_s: Measured;
  operations: Operation[];
  checks: Check[];
  charts: Chart[];
};
export type Findings = {
  run: string;
  suite: string;
  label?: string | null;
  stand?: string | null;
  targets: string[];
  started_unix_s: number;
  elapsed_ns: number;
  state: State;
  grade: "screening" | "publishable";
  grade_banner: Say;
  verdict: Say;
  cases: Case[];
  caveats: { text: Say; advice: Say }[];
  across: Chart[];
  charts: Chart[];
  not_run: { label: string; reason: Say }[];
};

export type Verdict = "better" | "worse" | "differs_slightly" | "equivalent" | "inconclusive";
export type Ratio = {
  state: string;
  value: number | null;
  interval_95: Interval;
  verdict: Verdict;
  coloured: boolean;
  explanation: Say;
};
export type Side = {
  trials: number;
  failed_checks: string[];
  rate: { value: number | null };
  rate_ratio: Ratio | null;
  latencies: { stream: number; operation: string; p99: { state: string; value_ns?: number | null }; p99_ratio: Ratio | null }[];
};
export type Condition = { condition: string; name: Say; values: Say[] };
export type Comparison = {
  runs: { run: string; label: string | null; arm: string | null; suite: string; targets: string[]; started_unix_s: number }[];
  interleaved: boolean;
  margin: number;
  conditions_changed: Condition[];
  conditions_same: Condition[];
  cases: { label: string; headline: Headline; sides: (Side | null)[] }[];
  unmatched: { label: string; runs: number[] }[];
  checks: Check[];
};

export type Suite = {
  name: string;
  about: Say;
  text: string;
  takes?: { fill_bytes: number; files_bytes: number; time_at_most: boolean; time_ns: number } | null;
};

/** Why there is no answer, worded by the server. */
export class Failed extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** An answer of the API. */
export async function get<T>(address: string, signal?: AbortSignal): Promise<T> {
  return (await asked(address, { signal: signal ?? null, headers: { Accept: "application/json" } })).json() as Promise<T>;
}

/** An answer that is text. */
export const getText = async (address: string): Promise<string> => (await asked(address, {})).text();

/** Asks for a change, or for something that takes a body. The answer comes with its headers. */
export async function send<T>(method: "POST" | "PUT" | "DELETE", address: string, body = "", signal?: AbortSignal): Promise<{ data: T; headers: Headers }> {
  const answer = await asked(address, { method, body, signal: signal ?? null, headers: { Accept: "application/json" } });
  return { data: (await answer.json()) as T, headers: answer.headers };
}

/** Sends a file as it is, and gets what became of it. */
export async function sendFile<T>(address: string, body: Blob): Promise<T> {
  return (await asked(address, { method: "POST", body, headers: { Accept: "application/json", "Content-Type": "application/octet-stream" } })).json() as Promise<T>;
}

async function asked(address: string, how: RequestInit): Promise<Response> {
  const answer = await fetch(`/api/v1/${address}`, how).catch((error: unknown) => {
    if (how.signal?.aborted) throw error;
    const message = { en: "the server does not answer", ru: "сервер не отвечает" };
    throw new Failed({ status: 0, detail: message.en, message, hint: { en: "is `stend serve` running?", ru: "запущен ли `stend serve`?" } });
  });
  // The page stays as it is, with what was typed into it: the frame shows where to sign in.
  session.ended = answer.status === 401;
  if (answer.ok) return answer;
  const problem: unknown = await answer.json().catch(() => null);
  throw new Failed((problem as Problem | null) ?? { status: answer.status, detail: t("an answer that is none", "непонятный ответ") });
}
