// Documents of tasks and orders (docs/api/openapi.json has all of them), and the names of their states.
import type { Say } from "./lang.svelte";
import { t } from "./lang.svelte";
import type { Standing } from "./words";

export type TaskState = "queued" | "running" | "ended" | "failed" | "lost";
export type Task = {
  id: string;
  change: number;
  state: TaskState;
  reason: Say | null;
  code: string | null;
  exit_code: number | null;
  work: string;
  on: string[];
  label: string | null;
  loads: string[];
  runs: string[];
  current_run: string | null;
  sessions: number;
  created_unix: number;
  started_unix: number | null;
  ended_unix: number | null;
};
export type TaskList = { tasks: Task[]; left_out: number; next?: string | null };

export type Validated = { work: string; on: string[]; loads: string[]; confirms: string[]; overwrites_signatures: string[]; commands: boolean; builds: boolean };

export type Signature = { name: string; label: string | null };
export type Device = { name: string; kind: string; depth: number; identity: string | null; model: string | null; firmware: string | null; transport: string | null; size: number; is_virtual: boolean; rotational: boolean | null };
export type Access = "own_directory" | "nowhere" | { confirm: { identity: string; signatures: string[] } } | { refused: Refusal[] };
export type Refusal = string | Record<string, Record<string, string | number>>;
export type Health = {
  passed: boolean | null;
  critical_warning?: number | null;
  celsius: number | null;
  used_percent: number | null;
  spare_percent: number | null;
  media_errors: number | null;
  power_on_hours: number | null;
  bytes_written?: number | null;
  unsafe_shutdowns?: number | null;
  hot_minutes?: number | null;
};
export type Drive = { device: Device; path: string; serial: string | null; signatures: Signature[]; mounted: string[]; access: Access; health: Health | null };
export type Inventory = { host: { hostname: string; os: string; kernel: string; cpu_model: string; cpus: number; memory: number; root: boolean }; devices: Drive[]; parts: Parts };
type Link = { speed_mt_per_s: number; width: number };
/** Links and temperatures of drives, by kernel name. */
export type Parts = { links: { device: string; address: string; now: Link; best: Link; corrected: number | null }[]; temperatures: { device: string; milli_celsius: number; warning: number | null; critical: number | null }[] };

type Target = { named: string; path: string; identity: string | null; size: number; signatures: Signature[]; devices: Device[] };
export type Preview = {
  suite: string;
  seed: number;
  targets: Target[];
  hosts?: { host: string; targets: Target[] }[];
  writes: { to: "nothing" } | { to: "test_files"; count: number; size_bytes: number } | { to: "target"; range_bytes: number; signatures: string[] };
  steps: string[];
  undo: string[];
  arms: { arm: string; changes: string[] }[];
  fill_bytes: number | null;
  fills: number;
  blocks: number;
  trials: number;
  cases: { label: string; workload: Say; trials: number; writes: boolean; searched?: Say }[];
  not_run: { label: string; reason: Say }[];
  time: { trials_ns: number; examples: { throughput_bytes_per_s: number; fill_ns: number; written_by_trials_bytes: number }[] };
  caveats: { text: Say; advice: Say }[];
  warnings?: Say[];
};

/** What putting a stand up would do; a run on it can be foreseen only when it is up. */
export type StandPlan = {
  plan: {
    name: string;
    is_up: boolean;
    drives: { name: string; id: string; paths: string[]; size: number | null; signatures: string[] }[];
    steps: { layer: string; what: Say; commands: string[]; destroys: string[]; done: boolean }[];
    undo: string[];
  };
};
export const isStandPlan = (of: Preview | StandPlan): of is StandPlan => "plan" in of;

export const isOver = (task: Task): boolean => task.state !== "queued" && task.state !== "running";

/** What a task is called: by its author, or by what it does. */
export const nameOf = (task: Task): string => task.label ?? `${task.work.replace(/\.yaml$/, "")} ${t("on", "на")} ${task.on.join(", ")}`;

export function taskStanding(task: Task): Standing {
  switch (task.state) {
    case "queued":
      return { glyph: "‖", word: t("waits", "ждёт"), kind: "quiet" };
    case "running":
      return { glyph: "◐", word: t("running", "идёт"), kind: "running" };
    case "lost":
      return { glyph: "!", word: t("lost", "пропала"), kind: "warn" };
    case "failed":
      return { glyph: "✖", word: t("failed", "не выполнена"), kind: "bad" };
    case "ended":
      break;
  }
  if (task.exit_code === 0) return { glyph: "✔", word: t("done", "выполнена"), kind: "good" };
  if (task.exit_code === 10) return { glyph: "✖", word: t("gate failed", "порог не пройден"), kind: "bad" };
  if (task.exit_code === 11) return { glyph: "?", word: t("undecided", "не решено"), kind: "warn" };
  return { glyph: "!", word: t("stopped", "остановлена"), kind: "warn" };
}

/** What a task keeps busy, for people. */
export function load(of: string): string {
  if (of === "local") return t("all of this machine", "вся эта машина");
  const id = of.slice(of.indexOf(":") + 1);
  return of.startsWith("host:") ? t(`the host ${id}`, `машина ${id}`) : t(`the drive ${id}`, `диск ${id}`);
}

/** Why a drive is not written, in the fewest words. */
export function refusal(of: Refusal): string {
  if (typeof of === "string") {
    const words: Record<string, string> = { read_only: t("read-only", "только чтение"), no_identity: t("no stable identity", "нет идентификатора"), foreign_file: t("a file of others", "чужой файл") };
    return words[of] ?? of;
  }
  const [kind = "", facts = {}] = Object.entries(of)[0] ?? [];
  const { at, device, of: group, name, other, pid, why, run } = facts;
  const words: Record<string, string> = {
    mounted: t(`mounted at ${at}`, `смонтирован в ${at}`),
    relative_mounted: t(`${device} is mounted at ${at}`, `${device} смонтирован в ${at}`),
    mounted_elsewhere: t(`${device} is mounted at ${at} by ${name} (process ${pid})`, `${device} смонтирован в ${at}, его видит ${name} (процесс ${pid})`),
    swap: t("used as swap", "подключён как swap"),
    member: t(`member of ${group}`, `входит в ${group}`),
    holder: t(`${device} is built on it`, `на нём построен ${device}`),
    held_by: pid ? t(`opened by ${name}`, `открыт программой ${name}`) : t("held by a program or driver that Stend cannot see", "занят программой или драйвером, которых Stend не видит"),
    fstab: t(`named in fstab for ${at}`, `указан в fstab для ${at}`),
    root_disk: t("the system runs from it", "с него работает система"),
    duplicate_identity: t(`${other} has the same identity`, `такой же идентификатор у ${other}`),
    unreadable: t(`cannot be read: ${why}`, `не читается: ${why}`),
    unreadable_at: t(`cannot be read: ${why}`, `не читается: ${why}`),
    no_permission: t("no permission to read it", "нет прав на чтение"),
    in_use_by_run: t(`measured by ${run}`, `его измеряет ${run}`),
    exported: t(`exported as ${name}`, `отдан по сети как ${name}`),
    mount_in_leftover: t(`remains of a dead run hold a mount at ${at}`, `в остатке прерванного прогона что-то смонтировано: ${at}`),
  };
  return words[kind] ?? kind.replaceAll("_", " ");
}

/** How a drive stands: free to be overwritten after confirmation, or why not. */
export function driveStanding(drive: Drive): Standing {
  if (typeof drive.access === "object" && "confirm" in drive.access) {
    const held = drive.access.confirm.signatures;
    if (held.length) return { glyph: "!", word: t(`holds ${held.join(", ")}`, `содержит ${held.join(", ")}`), kind: "warn" };
    return { glyph: "✔", word: t("free", "свободен"), kind: "good" };
  }
  const reasons = typeof drive.access === "object" ? drive.access.refused.map(refusal) : [];
  return { glyph: "✖", word: t("in use", "занят") + (reasons.length ? `: ${reasons.slice(0, 2).join("; ")}` : ""), kind: "quiet" };
}

/** What `--confirm` wants for a drive; `null`: it cannot be written. */
export const identityOf = (drive: Drive): string | null => (typeof drive.access === "object" && "confirm" in drive.access ? drive.access.confirm.identity : null);

/** Model and serial number, as they stand on its label. */
export const labelOf = (drive: Drive): string => [drive.device.model, drive.serial].filter(Boolean).join(" · ");
