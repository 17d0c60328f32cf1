// Numbers as people read them, by the rules of crates/base/src/format.rs: three significant digits, whole numbers are not cut.
import { lang, t } from "./lang.svelte";

const SPACE = "\u00a0";

const decimals = (value: number): number => {
  const size = Math.abs(value);
  return size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
};

/** A tie goes to the even digit, as on the command line; only halves of powers of two can be one. */
function rounded(value: number, digits: number): string {
  const isTie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  return (isTie ? (Math.round((value * 10 ** digits) / 2) * 2) / 10 ** digits : value).toFixed(digits);
}

/** With exactly so many decimals; groups of three from five digits on. */
export function fixed(value: number, digits: number): string {
  const text = rounded(value, digits);
  let [whole = "", part] = /^-0[.0]*$/.test(text) ? text.slice(1).split(".") : text.split(".");
  if (whole.replace("-", "").length > 4) whole = whole.replace(/(\d)(?=(\d{3})+$)/g, `$1${SPACE}`);
  return part === undefined ? whole : `${whole}${lang() === "ru" ? "," : "."}${part}`;
}

export const number = (value: number): string => fixed(value, decimals(value));

/** A place on an axis: no zeros that say nothing. */
export const short = (value: number): string => trimmed(number(value));

const trimmed = (text: string): string => text.replace(/([.,]\d*?)0+$/, "$1").replace(/[.,]$/, "");

export const count = (value: number): string => fixed(value, 0);

export const percent = (share: number): string => `${fixed(share * 100, 1)}${SPACE}%`;

/** A share whose nines are the point of it (99.999 %): one digit after the last nine, as in crates/report/src/figures.rs. */
export const nines = (share: number): string => `${fixed(share * 100, share < 1 ? nineDigits(share) : 0)}${SPACE}%`;

/** A place on an axis of nines: 1 is 90 %, 2 is 99 %. No zeros that say nothing. */
export function ninesAt(place: number): string {
  const share = 1 - 10 ** -place;
  return `${trimmed(fixed(share * 100, nineDigits(share)))}${SPACE}%`;
}

function nineDigits(share: number): number {
  const count = -Math.log10(Math.max(1 - share, 1e-9));
  // Powers of ten are not exact: 99 % has two nines, not a little more.
  return Math.max(Math.ceil(Math.round(count * 1e6) / 1e6), 2) - 1;
}

/** Half an interval as a share of its value. */
export function plusMinus(half: number): string {
  const percents = half * 100;
  return `±${SPACE}${fixed(percents, percents >= 9.95 ? 0 : percents >= 0.095 ? 1 : 2)}${SPACE}%`;
}

export type Unit = { one: number; name: () => string };

export const NS: Unit = { one: 1, name: () => t("ns", "нс") };
export const US: Unit = { one: 1e3, name: () => t("µs", "мкс") };
export const MS: Unit = { one: 1e6, name: () => t("ms", "мс") };
export const S: Unit = { one: 1e9, name: () => t("s", "с") };

/** The unit that keeps a latency at or above 1. */
export const unitOf = (ns: number): Unit => (ns < 1e3 ? NS : ns < 999_500 ? US : ns < 999_500_000 ? MS : S);

export function latency(ns: number): string {
  const unit = unitOf(ns);
  return `${unit === NS ? ns.toFixed(0) : number(ns / unit.one)}${SPACE}${unit.name()}`;
}

export const throughput = (bytesPerSecond: number): string => `${number(bytesPerSecond / 1e6)}${SPACE}${t("MB/s", "МБ/с")}`;

export const iops = (value: number): string => `${number(value)}${SPACE}IOPS`;

export function bytes(value: number): string {
  const units = lang() === "ru" ? ["Б", "КиБ", "МиБ", "ГиБ", "ТиБ", "ПиБ"] : ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let [scaled, unit] = [value, 0];
  while (scaled >= 1024 && unit + 1 < units.length) [scaled, unit] = [scaled / 1024, unit + 1];
  return `${Number.isInteger(scaled) ? count(scaled) : number(scaled)}${SPACE}${units[unit]}`;
}

/** A span of wall time: `0.5 s`, `42 s`, `3 min 05 s`, `1 h 12 min`. */
export function duration(ns: number): string {
  const [s, min, h] = [t("s", "с"), t("min", "мин"), t("h", "ч")];
  const seconds = ns / 1e9;
  if (seconds < 10) return `${fixed(seconds, seconds.toFixed(1).endsWith(".0") ? 0 : 1)}${SPACE}${s}`;
  const whole = Math.round(seconds);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (whole < 60) return `${whole}${SPACE}${s}`;
  if (whole < 3600) return `${Math.floor(whole / 60)}${SPACE}${min} ${two(whole % 60)}${SPACE}${s}`;
  return `${Math.floor(whole / 3600)}${SPACE}${h} ${two((whole % 3600) / 60)}${SPACE}${min}`;
}

/** A moment in the time of the browser; this year's without the year. */
export const moment = (unixSeconds: number): string => momentIn(unixSeconds, {});

/** The same with its zone, for a page that has times in UTC as well. */
export const zoned = (unixSeconds: number): string => momentIn(unixSeconds, { timeZoneName: "short" });

function momentIn(unixSeconds: number, more: Intl.DateTimeFormatOptions): string {
  const date = new Date(unixSeconds * 1000);
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  const form = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat(lang() === "ru" ? "ru-RU" : "en-GB", { ...form, ...more, year }).format(date);
}
