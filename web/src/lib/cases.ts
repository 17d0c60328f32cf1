// What pages show of the cases of a run; numbers come from the server and are only chosen here.
import type { Case, Check, Findings, Measured } from "./api";

/** The rate that is the headline of a case. */
export const rateOf = (of: Case): Measured => (of.headline === "iops" ? of.iops : of.throughput_bytes_per_s);

/** Half of the interval as a part of the value, as the report writes it. */
export function half(of: Case): number | null {
  const { value, interval_95 } = rateOf(of);
  const [low, high] = interval_95 ?? [null, null];
  return value && low !== null && high !== null ? (high - low) / 2 / value : null;
}

/** Largest p99 of the operations of a case; of a mix the slower part decides. */
export function p99(of: Case): number | null {
  const found = of.operations.filter(({ operation }) => operation !== "sync").map(({ latency_quantiles }) => latency_quantiles.find(({ share }) => share === 0.99)?.value_ns);
  const known = found.filter((ns): ns is number => ns != null);
  return known.length ? Math.max(...known) : null;
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
