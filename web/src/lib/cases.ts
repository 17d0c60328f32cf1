// What pages show of the cases of a run; numbers come from the server and are only chosen here.
import type { Case, Check, Findings, Measured, Operation, Quantile } from "./api";
import { t } from "./lang.svelte";
import { operation } from "./words";

/** The rate that is the headline of a case. */
export const rateOf = (of: Case): Measured => (of.headline === "iops" ? of.iops : of.throughput_bytes_per_s);

/** Half of the interval as a part of the value, as the report writes it: the upper half, since the lower end is cut at 0. */
export function half(of: Case): number | null {
  const { value, interval_95 } = rateOf(of);
  const high = interval_95?.[1] ?? null;
  return value && high !== null ? (high - value) / value : null;
}

/** The operations of a case that move data: what is shown of it. */
export const parts = (of: Case): Operation[] => of.operations.filter(({ operation }) => operation !== "sync");

/** This quantile of an operation. */
export const quantileOf = (of: Operation, wanted: number): Quantile | undefined => of.latency_quantiles.find(({ share }) => Math.abs(share - wanted) < 1e-9);

/**
 * The p99 of the slowest part of a case. If one part is only known to be above its value, so is the largest of all;
 * if one has too few I/Os, the largest is not known at all.
 */
export function p99(of: Case): Quantile | undefined {
  const found = parts(of).map((part) => quantileOf(part, 0.99));
  const known = found.filter((each): each is Quantile & { value_ns: number } => each?.value_ns != null);
  if (!known.length || known.length < found.length) return undefined;
  const slowest = known.reduce((most, each) => (each.value_ns > most.value_ns ? each : most));
  return known.some(({ state }) => state === "above") ? { ...slowest, state: "above" } : slowest;
}

/** What an operation of a case is called beside others: its name, and its stream where there are several. */
export function partName(of: Case, { stream, operation: name }: Operation): string {
  if (parts(of).length < 2) return "";
  const word = operation(name);
  return of.operations.some((other) => other.stream > 0) ? t(`stream ${stream + 1}: ${word}`, `поток ${stream + 1}: ${word}`) : word;
}

export type Group = { check: Check; of: Judged[] };

/** Checks of the same number and result together: what they mean is the same in every case. */
export function grouped(judged: Judged[]): Group[] {
  const groups = new Map<string, Group>();
  for (const each of judged) {
    const key = `${each.check.id} ${each.check.status} ${each.check.meaning.en}`;
    const known = groups.get(key);
    if (known) known.of.push(each);
    else groups.set(key, { check: each.check, of: [each] });
  }
  return [...groups.values()];
}

export type Judged = { label: string; check: Check };

/** All checks of a run that apply, the worst first. */
export function checks(findings: Findings): Judged[] {
  const weight = { fail: 0, warn: 1, screening_only: 2, not_measurable: 3, pass: 4, not_applicable: 5 };
  const all = findings.cases.flatMap(({ label, checks }) => checks.map((check) => ({ label, check })));
  return all.filter(({ check }) => check.status !== "not_applicable").sort((a, b) => weight[a.check.status] - weight[b.check.status]);
}
