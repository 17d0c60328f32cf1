// What the page of a comparison calls its runs and its values. Asks nothing.
import type { Comparison, Ratio, Side } from "./api";
import { moment } from "./format";
import { t } from "./lang.svelte";
import { operation, quantile, rate } from "./words";

export type Row = { case: string; run: string; what: string; ratio: Ratio; values: string };

/** Names of the runs in their order. Runs of one name have their ids behind it. */
export function names(runs: Comparison["runs"]): string[] {
  const called = runs.map((run) => run.label ?? run.arm ?? `${run.suite} ${moment(run.started_unix_s)}`);
  return called.map((name, index) => (called.filter((other) => other === name).length > 1 ? `${name} · ${runs[index]?.run}` : name));
}

/** `p99 read`; with its stream where a case has several, as `stend compare` writes it. */
function latencyName(base: Side, stream: number, kind: string): string {
  const several = base.latencies.some((latency) => latency.stream > 0);
  return several ? t(`p99, stream ${stream + 1}: ${operation(kind)}`, `p99, поток ${stream + 1}: ${operation(kind)}`) : `p99 ${operation(kind)}`;
}

/** Every value of every run beside that of the baseline: what changed most for the worse first. */
export function rows(of: Comparison): Row[] {
  const rows: Row[] = [];
  const called = names(of.runs);
  for (const { label, headline, sides } of of.cases) {
    const base = sides[0];
    sides.forEach((side, index) => {
      if (!side || !base || !index) return;
      const add = (what: string, ratio: Ratio | null, values: string) => ratio && rows.push({ case: label, run: called[index] ?? "", what, ratio, values });
      const told = (value: number | null) => (value === null ? "–" : rate(value, headline));
      add(t("rate, more is better", "скорость, больше — лучше"), side.rate_ratio, `${told(base.rate.value)} → ${told(side.rate.value)}`);
      for (const { stream, operation: kind, p99, p99_ratio } of side.latencies) {
        const before = base.latencies.find((other) => other.stream === stream && other.operation === kind);
        add(`${latencyName(base, stream, kind)}, ${t("less is better", "меньше — лучше")}`, p99_ratio, `${quantile(before?.p99)} → ${quantile(p99)}`);
      }
    });
  }
  const weight = { worse: 0, better: 1, differs_slightly: 2, inconclusive: 3, equivalent: 4 };
  const size = ({ ratio }: Row) => Math.abs(Math.log(ratio.value || 1));
  return rows.sort((a, b) => weight[a.ratio.verdict] - weight[b.ratio.verdict] || size(b) - size(a));
}
