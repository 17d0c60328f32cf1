// Several hosts over the same time, from their recordings: each on one scale, and the sum of what all of them do. Only sums of like things.
import type { Chart, Series } from "./api";
import { t } from "./lang.svelte";
import { type Recording, secondsOf } from "./watched";

/** Places of the common axis. By eye: a place is then as wide as a line. */
const PLACES = 300;
/** The most hosts of one chart: with their sum these are as many lines as an eye tells apart. */
export const HOSTS_MAX = 5;

const both = (word: string) => ({ en: word, ru: word });

/** The stretch of time that all of them have, in seconds since 1970; `null`: there is none. */
export function common(all: Recording[]): { from: number; to: number } | null {
  const from = Math.max(...all.map(({ first_sample_unix_s }) => first_sample_unix_s));
  const to = Math.min(...all.map(({ first_sample_unix_s, span_ns }) => first_sample_unix_s + span_ns / 1e9));
  return to > from ? { from, to } : null;
}

/** The whole number below, or the next one if only rounding keeps the value from it. */
const whole = (value: number): number => Math.floor(value + 1e-9);

/** Means of a host in each place; `null` where it has no value. */
function placed(recording: Recording, chart: Chart, line: Series, from: number, step: number, places: number): (number | null)[] {
  const unit = secondsOf(chart, recording);
  const sums = Array.from({ length: places }, () => ({ sum: 0, count: 0 }));
  for (const { x, y } of line.points) {
    const place = sums[whole((recording.first_sample_unix_s - from + x * unit) / step)];
    if (place && y !== null) [place.sum, place.count] = [place.sum + y, place.count + 1];
  }
  return sums.map(({ sum, count }) => (count ? sum / count : null));
}

/** Operations and bytes per second of all drives of each host, and of all hosts; `null` without a common time. */
export function cluster(all: Recording[]): Chart | null {
  const time = common(all);
  if (!time) return null;
  const length = time.to - time.from;
  // A place is no shorter than a point of the coarsest recording, so that none is empty.
  const step = Math.max(1, length / PLACES, ...all.map(({ span_ns, samples }) => span_ns / 1e9 / Math.min(600, Math.max(1, samples - 1))));
  // Behind the last whole place some hosts may have no point.
  const places = Math.max(1, whole(length / step));
  const minutes = (place: number) => ((place + 0.5) * step) / 60;
  const pane = (unit: string, label: { en: string; ru: string }, quantity: string): Chart["panes"][number] => {
    const lines = all.map((recording) => {
      const chart = recording.charts.find(({ id }) => id === "recording-total");
      const line = chart?.panes.find(({ y }) => y.unit === unit)?.series[0];
      // A host whose drives do nothing has no such line: it adds nothing, and is no gap.
      return chart && line ? placed(recording, chart, line, time.from, step, places) : Array.from({ length: places }, () => 0);
    });
    const sum = Array.from({ length: places }, (_, place) => {
      const here = lines.map((line) => line[place] ?? null);
      return here.some((y) => y === null) ? null : here.reduce<number>((total, y) => total + (y ?? 0), 0);
    });
    const drawn = (name: { en: string; ru: string }, variant: number, values: (number | null)[]): Series => ({ name, quantity, variant, dots: places < 30, joined: false, labels: [], points: values.map((y, place) => ({ x: minutes(place), y })) });
    const series = [drawn({ en: "all hosts", ru: "все хосты" }, 0, sum), ...lines.map((line, index) => drawn(both(all[index]?.host ?? ""), index + 1, line))];
    const most = Math.max(0, ...series.flatMap(({ points }) => points.map(({ y }) => y ?? 0)));
    return { y: { label, scale: "linear", unit: unit as Chart["x"]["unit"], from: 0, to: most ? most * 1.05 : 1, names: [] }, series };
  };
  return {
    id: "cluster",
    title: { en: "Several hosts on one scale", ru: "Несколько хостов на одной шкале" },
    summary: { en: "The sum has a value only where every host has one.", ru: "Сумма есть только там, где есть значения всех хостов." },
    x: { label: { en: "time since the beginning of the common time, min", ru: "время от начала общего промежутка, мин" }, scale: "linear", unit: "plain", from: 0, to: length / 60, names: [] },
    bands: [],
    events: [],
    panes: [pane("plain", both("IOPS"), "iops"), pane("bytes_per_second", { en: "throughput, MB/s", ru: "пропускная способность, МБ/с" }, "throughput")],
  };
}

/** Why these cannot be added up; empty: they can. */
export function refusal(all: Recording[]): string {
  const hosts = all.map(({ host }) => host);
  const twice = hosts.find((host, index) => hosts.indexOf(host) !== index);
  if (twice !== undefined) return t(`Two recordings are of ${twice}: its I/Os would count twice.`, `Две записи — одного хоста ${twice}: его операции посчитались бы дважды.`);
  return common(all) ? "" : t("These recordings have no time in common.", "У этих записей нет общего времени.");
}
