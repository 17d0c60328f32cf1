// Names of states, phases and verdicts, and what events of a run that goes on mean.
import type { Happened } from "./live.svelte";
import { say, t } from "./lang.svelte";
import type { Headline, Listed, Quantile, State, Status, Verdict } from "./api";
import { fixed, iops, latency, throughput } from "./format";

export const rate = (value: number, headline: Headline): string => (headline === "iops" ? iops(value) : throughput(value));

/** A percentile; a lower bound and a missing one are called so. */
export function quantile(found: Quantile | { state: string; value_ns?: number | null } | undefined): string {
  if (found?.value_ns == null) return "–";
  return `${found.state === "above" ? ">\u00a0" : ""}${latency(found.value_ns)}`;
}

export const share = (ratio: number): string => `${fixed(ratio * 100, 1)}\u00a0%`;

export type Standing = { glyph: string; word: string; kind: "running" | "good" | "bad" | "warn" | "quiet" };

/** How a run stands. */
export function standing(state: State | null | undefined, goingOn: boolean, broken = false): Standing {
  if (broken) return { glyph: "✖", word: t("unreadable", "не читается"), kind: "bad" };
  if (goingOn) return { glyph: "◐", word: t("running", "идёт"), kind: "running" };
  switch (state?.state) {
    case "complete":
      return { glyph: "✔", word: t("complete", "завершён"), kind: "good" };
    case "suspended":
      return { glyph: "‖", word: t("waits for you", "ждёт вас"), kind: "warn" };
    case "ended":
      return { glyph: "!", word: t("ended early", "прерван"), kind: "warn" };
    default:
      return { glyph: "!", word: t("lost", "оборван"), kind: "warn" };
  }
}

export const standingOf = (run: Listed): Standing => standing(run.state, run.going_on === true, !!run.error || run.gone);

export const PHASES = ["preflight", "provision", "calibrate", "fill", "arm", "measure", "clean_up", "replay"] as const;
/** Phases that every run has; others are shown when they come. */
export const ALWAYS: readonly string[] = ["preflight", "provision", "measure", "clean_up"];

export function phase(name: string): string {
  switch (name) {
    case "preflight":
      return t("look at target", "осмотр");
    case "provision":
      return t("prepare", "подготовка");
    case "calibrate":
      return t("ceilings", "потолки");
    case "fill":
      return t("fill", "заполнение");
    case "arm":
      return t("switch arm", "смена варианта");
    case "measure":
      return t("measure", "измерение");
    case "clean_up":
      return t("clean up", "уборка");
    case "replay":
      return t("replay writes", "повтор записей");
    default:
      return name;
  }
}

export function verdict(of: Verdict): { glyph: string; word: string } {
  switch (of) {
    case "better":
      return { glyph: "▲", word: t("better", "лучше") };
    case "worse":
      return { glyph: "▼", word: t("worse", "хуже") };
    case "differs_slightly":
      return { glyph: "≠", word: t("differs slightly", "слегка отличается") };
    case "equivalent":
      return { glyph: "≈", word: t("equivalent", "равноценно") };
    default:
      return { glyph: "?", word: t("undecided", "не решено") };
  }
}

export function status(of: Status): { glyph: string; word: string; kind: Standing["kind"] } {
  switch (of) {
    case "pass":
      return { glyph: "✔", word: t("passed", "пройдена"), kind: "good" };
    case "fail":
      return { glyph: "✖", word: t("failed", "не пройдена"), kind: "bad" };
    case "warn":
      return { glyph: "!", word: t("warning", "предупреждение"), kind: "warn" };
    case "screening_only":
      return { glyph: "!", word: t("screening only", "только для оценки"), kind: "quiet" };
    case "not_measurable":
      return { glyph: "?", word: t("not measurable", "не проверить"), kind: "quiet" };
    default:
      return { glyph: "–", word: t("not applicable", "не применима"), kind: "quiet" };
  }
}

export function operation(name: string): string {
  const words: Record<string, string> = {
    read: t("read", "чтение"),
    write: t("write", "запись"),
    discard: t("discard", "освобождение"),
    write_zeroes: t("write zeroes", "запись нулей"),
    sync: t("sync", "синхронизация"),
  };
  return words[name] ?? name;
}

/** What speaks against the numbers of a run that goes on; `null`: nothing does. */
export function warning({ event }: Happened): string | null {
  if (typeof event === "string") return event === "stop_requested" ? t("A stop was asked for.", "Запрошена остановка.") : null;
  if (event.host_lost) return t("The worker is gone: ", "Рабочий процесс пропал: ") + event.host_lost.detail;
  if (event.run_file_full) return t("The run file cannot be written: ", "Файл прогона не записывается: ") + event.run_file_full.detail;
  if (event.unwatched) return t("The machine is not watched: ", "За машиной нет наблюдения: ") + say(event.unwatched.why);
  if (event.intervals_merged) {
    const { count } = event.intervals_merged;
    return t(`The stream was slow, merged intervals: ${count}.`, `Поток был медленным, объединено интервалов: ${count}.`);
  }
  if (event.beside) {
    const drives = event.beside.drives.join(", ");
    return t(`Run ${event.beside.run_id} loads ${drives}, too.`, `Прогон ${event.beside.run_id} тоже нагружает ${drives}.`);
  }
  if (event.fault) return t("Event: ", "Событие: ") + say(event.fault.what);
  return null;
}
