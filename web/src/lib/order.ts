// An order as JSON, the command line that means the same, and what the form reads and writes of it. Asks nothing and starts nothing.
import type { Suite } from "./api";

export type Permission = { confirm?: string[]; overwrite_signatures?: string[]; commands?: boolean; beside?: boolean };
export type Order = {
  order: number;
  suite?: { file: string; text: string };
  seed?: string;
  repeats?: number;
  on?: string[];
  against?: string[];
  ssh?: string | string[];
  observe?: string[];
  permission?: Permission;
  label?: string;
  expect?: string[];
};

/** Keys in the order in which `stend run --print-order` writes them, others behind. */
const KEYS = ["order", "suite", "seed", "repeats", "on", "against", "ssh", "observe", "permission", "label", "expect"] as const;

/** The order that a text holds; `null`: it is no JSON object, as YAML is none, which only the server reads. */
export function parsed(text: string): Order | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Order) : null;
  } catch {
    return null;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || value === false || (typeof value === "object" && value !== null && Object.values(value).every(isEmpty));

/** The text of an order. What says nothing is left out, because an order has no empty keys. */
export function written(order: Order): string {
  // A text that a person edits may hold `null` there.
  const permission = order.permission ?? {};
  const kept = Object.entries(permission).filter(([, value]) => !isEmpty(value));
  const known: Record<string, unknown> = { ...order, permission: Object.fromEntries(kept) };
  const names = [...KEYS, ...Object.keys(order).filter((key) => !(KEYS as readonly string[]).includes(key))];
  return `${JSON.stringify(Object.fromEntries(names.filter((key) => !isEmpty(known[key])).map((key) => [key, known[key]])), null, 2)}\n`;
}

/** 32 random bits: below what every reader of JSON takes for a whole number. */
export const newSeed = (): string => String(crypto.getRandomValues(new Uint32Array(1))[0]);

/** An id for a task: sent again it means the same task, so it is drawn once for a text. */
export function newId(order: Order | null): string {
  const name = (order?.label ?? order?.suite?.file ?? "order").replace(/\.yaml$/, "").replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const random = [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(16).padStart(2, "0"));
  return `${name.slice(0, 40) || "order"}-${random.join("")}`;
}

/** The suite of an order if it is a built-in one, unchanged. */
export const builtIn = (order: Order, suites: Suite[]): Suite | undefined => suites.find(({ name, text }) => order.suite?.file === `${name}.yaml` && order.suite.text === text);

export const hostsOf = (order: Order): string[] => (typeof order.ssh === "string" ? [order.ssh] : (order.ssh ?? []));

/** A word as a shell takes it. */
export const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The command line that means this order, or that carries out its file where options cannot say all of it. */
export function command(order: Order | null, suites: Suite[]): string {
  const file = "stend run --order order.json";
  if (!order || Object.keys(order).some((key) => !(KEYS as readonly string[]).includes(key))) return file;
  const suite = builtIn(order, suites);
  const lists = [order.on, order.against, order.observe, order.expect, order.permission?.confirm, order.permission?.overwrite_signatures, hostsOf(order)];
  if (!suite || lists.some((list) => list !== undefined && !Array.isArray(list))) return file;
  const option = (name: string, values: (string | undefined)[] = []) => values.flatMap((value) => (value ? [`--${name}`, quoted(value)] : []));
  const flag = (name: string, on: boolean | undefined) => (on ? [`--${name}`] : []);
  const permission = order.permission ?? {};
  return [
    "stend run",
    suite.name,
    ...option("ssh", hostsOf(order)),
    ...option("on", order.on),
    ...option("against", order.against),
    ...option("observe", order.observe),
    ...option("name", [order.label]),
    ...option("seed", [order.seed]),
    ...option("repeats", [order.repeats?.toString()]),
    ...option("expect", order.expect),
    ...option("confirm", permission.confirm),
    ...option("overwrite-signature", permission.overwrite_signatures),
    ...flag("allow-commands", permission.commands),
    ...flag("beside", permission.beside),
  ].join(" ");
}
