// What the page of history makes of the values that the server follows over runs.
import { plural, t } from "./lang.svelte";

/** Fewer have two on neither side of a change (RUNS_LEAST in crates/analyse/src/history.rs). */
export const LEAST = 4;

export type Change = { first: number; last: number; before: number | null; after: number | null; ratio: number | null };
export type Series = { label: string; value: string; operation: string | null; stream: number | null; points: [number, number | null][]; changes: Change[] };

export type Sorted = { changed: Series[]; steady: Series[]; short: Series[] };

/** Values that changed, those that did not, and those of too few runs to tell. */
export function sorted(series: Series[]): Sorted {
  const unchanged = series.filter(({ changes }) => !changes.length);
  const isShort = ({ points }: Series) => points.length < LEAST;
  return { changed: series.filter(({ changes }) => changes.length), steady: unchanged.filter((each) => !isShort(each)), short: unchanged.filter(isShort) };
}

/** What became of the values of so many runs. */
export function title(runs: number, { changed, steady, short }: Sorted): string {
  const verdict = changed.length
    ? plural(changed.length, [`${changed.length} value changed`, `${changed.length} values changed`], [`изменилось ${changed.length} значение`, `изменились ${changed.length} значения`, `изменилось ${changed.length} значений`])
    : short.length && !steady.length
      ? t("too few to tell whether a value changed", "слишком мало, чтобы судить об изменениях")
      : t("no value changed", "ни одно значение не изменилось");
  return `${runs} ${plural(runs, ["run", "runs"], ["прогон", "прогона", "прогонов"])}, ${verdict}`;
}
