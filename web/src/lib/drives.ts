// One drive: what it says of itself, what lies on it, and its part of a recording.
import type { Chart } from "./api";
import { short } from "./format";
import { t } from "./lang.svelte";
import type { Drive, Health, Inventory, Parts } from "./tasks";

/** As the journal judges it: bits 2 and 32 of a warning say that an NVMe drive is warm, or that its memory region is read-only. */
export const failing = ({ passed, critical_warning: warning }: Health): boolean => (warning ? (warning & (1 | 4 | 8 | 16)) !== 0 : passed === false);

/** A device, and what lies on it in the order of the tree. */
export function tree({ devices }: Inventory, name: string): { drive: Drive; above: Drive[] } | null {
  const at = devices.findIndex(({ device }) => device.name === name);
  const drive = devices[at];
  if (!drive) return null;
  const behind = devices.slice(at + 1);
  const end = behind.findIndex(({ device }) => device.depth <= drive.device.depth);
  return { drive, above: end < 0 ? behind : behind.slice(0, end) };
}

/** Degrees, with the limits that the drive names itself; a limit of zero or less is none. */
export function temperature({ temperatures }: Parts, name: string, health: Health | null): { celsius: number; warning: number | null; critical: number | null } | null {
  const read = temperatures.find(({ device }) => device === name);
  const limit = (milli: number | null | undefined) => (milli && milli > 0 ? milli / 1000 : null);
  const celsius = health?.celsius ?? (read ? Math.round(read.milli_celsius / 1000) : null);
  return celsius === null ? null : { celsius, warning: limit(read?.warning), critical: limit(read?.critical) };
}

/** PCIe links of a drive: one, or one for each port. */
export function links({ links }: Parts, name: string): { text: string; narrow: boolean; corrected: number }[] {
  const words = ({ width, speed_mt_per_s }: { width: number; speed_mt_per_s: number }) => `×${width} · ${short(speed_mt_per_s / 1000)}\u00a0${t("GT/s", "ГТ/с")}`;
  return links
    .filter(({ device }) => device === name)
    .map(({ now, best, corrected }) => {
      const slower = now.width < best.width || now.speed_mt_per_s < best.speed_mt_per_s;
      return { text: words(now) + (slower ? ` (${t("possible", "возможно")} ${words(best)})` : ""), narrow: now.width < best.width, corrected: corrected ?? 0 };
    });
}

/** The lines of one device in the charts of a recording, on the scale of all devices; what is not about devices is left out. */
export function chartsOf(charts: Chart[], name: string): Chart[] {
  const own = (chart: Chart): Chart => ({
    ...chart,
    summary: { en: "", ru: "" },
    panes: chart.panes.map((pane) => ({ ...pane, series: pane.series.filter((line) => line.name.en === name) })).filter(({ series }) => series.length),
  });
  return charts.map(own).filter(({ panes }) => panes.length);
}

/** Whether two identities are of one drive; `null`: they do not tell, because places, files and file systems go from drive to drive. */
export function isSame(one: string | null | undefined, other: string | null | undefined): boolean | null {
  const kind = one?.split(":")[0] ?? "";
  const tells = !!one && !!other?.startsWith(`${kind}:`) && !["path", "fs-uuid", "loop"].includes(kind);
  return tells ? one === other : null;
}
