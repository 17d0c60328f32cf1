// Orders that are repeated or carried out later, as the API has them, and the words for what became of their times.
import type { Say } from "./lang.svelte";
import { t } from "./lang.svelte";
import type { Standing } from "./words";

export type Outcome = "running" | "passed" | "failed" | "undecided" | "error" | "missed" | "skipped";
export type Due = { due_unix: number; outcome: Outcome; reason: Say | null; missed: number; task: string | null; notice: "none" | "pending" | "sent" | "failed"; notice_error: Say | null };
export type Schedule = {
  id: string;
  cron: string | null;
  /** When it comes once. */
  at_unix: number | null;
  baseline: string | null;
  loss_percent: number;
  notify: string | null;
  notify_when: "problems" | "always";
  paused: boolean;
  work: string;
  on: string[];
  label: string | null;
  next_unix: number | null;
  first_run: string | null;
  times: Due[];
};

/** The query that says all of a schedule but its order. */
export function repeated(of: Schedule, paused: boolean): string {
  const words = new URLSearchParams({ loss: String(of.loss_percent), notify_when: of.notify_when, paused: String(paused) });
  if (of.cron !== null) words.set("cron", of.cron);
  if (of.at_unix !== null) words.set("at", `${new Date(of.at_unix * 1000).toISOString().slice(0, 19)}Z`);
  if (of.baseline) words.set("baseline", of.baseline);
  if (of.notify) words.set("notify", of.notify);
  return words.toString();
}

export function outcome({ outcome }: Due): Standing {
  switch (outcome) {
    case "running":
      return { glyph: "◐", word: t("running", "идёт"), kind: "running" };
    case "passed":
      return { glyph: "✔", word: t("passed", "пройдено"), kind: "good" };
    case "failed":
      return { glyph: "✖", word: t("failed", "не пройдено"), kind: "bad" };
    case "undecided":
      return { glyph: "?", word: t("undecided", "не решено"), kind: "warn" };
    case "error":
      return { glyph: "✖", word: t("not carried out", "не выполнено"), kind: "bad" };
    case "missed":
      return { glyph: "!", word: t("missed", "пропущено"), kind: "warn" };
    case "skipped":
      return { glyph: "!", word: t("left out", "не начато"), kind: "warn" };
  }
}
