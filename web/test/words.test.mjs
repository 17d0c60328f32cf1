// Numbers and plurals, as the command line writes them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite, format, lang;
before(async () => {
  globalThis.localStorage = { getItem: () => null, setItem: () => {} };
  Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] }, configurable: true });
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  lang = await vite.ssrLoadModule("/src/lib/lang.svelte.ts");
  format = await vite.ssrLoadModule("/src/lib/format.ts");
});
after(() => vite?.close());

test("plural forms are right in both languages", () => {
  const of = (count) => lang.plural(count, ["step", "steps"], ["шаг", "шага", "шагов"]);
  lang.setLang("ru");
  assert.equal([0, 1, 2, 5, 11, 12, 21, 22, 25, 101, 111].map(of).join(" "), "шагов шаг шага шагов шагов шагов шаг шага шагов шаг шагов");
  lang.setLang("en");
  assert.equal([0, 1, 2, 21].map(of).join(" "), "steps step steps steps");
});

test("numbers are those of the command line", () => {
  const shown = (...values) => values.join(" | ").replaceAll("\u00a0", "_");
  lang.setLang("en");
  assert.equal(shown(...[0, 0.1234, 1.2345, 12.345, 123.45, 1234.5, 412_345.6, -0.0004].map(format.number)), "0 | 0.123 | 1.23 | 12.3 | 123 | 1234 | 412_346 | 0.000");
  assert.equal(shown(...[0, 0.5, 2.5, 5, 10, 100, 1_500_000].map(format.short)), "0 | 0.5 | 2.5 | 5 | 10 | 100 | 1_500_000");
  assert.equal(shown(format.latency(842), format.latency(84_200), format.latency(1_200_000), format.latency(999_600)), "842_ns | 84.2_µs | 1.20_ms | 1.00_ms");
  assert.equal(shown(format.duration(5e8), format.duration(42e9), format.duration(185e9), format.duration(4320e9)), "0.5_s | 42_s | 3_min 05_s | 1_h 12_min");
  lang.setLang("ru");
  assert.equal(shown(format.throughput(3.1e9), format.bytes(6.5 * 2 ** 30), format.plusMinus(0.021)), "3100_МБ/с | 6,50_ГиБ | ±_2,1_%");
});

test("no two places of an axis of nines are alike", () => {
  const places = [0.301, 1, 2, 3, 4, 5, 6];
  const shown = () => places.map(format.ninesAt).join(" | ").replaceAll("\u00a0", "_");
  lang.setLang("en");
  assert.equal(shown(), "50_% | 90_% | 99_% | 99.9_% | 99.99_% | 99.999_% | 99.9999_%");
  assert.deepEqual([0.5, 0.9, 0.999, 0.99995, 1].map(format.nines).map((text) => text.replace("\u00a0", "_")), ["50.0_%", "90.0_%", "99.90_%", "99.9950_%", "100_%"]);
  lang.setLang("ru");
  assert.equal(format.ninesAt(4), "99,99\u00a0%");
});

test("a moment beside times in UTC names its zone", () => {
  lang.setLang("en");
  const zone = (at) => format.zoned(at).slice(format.moment(at).length).trim();
  assert.match(zone(1_700_000_000), /^(UTC|GMT|[A-Z]{3,5})([+-]\d+(:\d+)?)?$/);
});

// Svelte drops blanks where a block begins: ` · ` has to be an expression there.
test("no text of a page begins with a blank where a block begins", () => {
  const files = readdirSync(new URL("../src/", import.meta.url), { recursive: true }).filter((name) => name.endsWith(".svelte"));
  const dropped = files.flatMap((name) => {
    const text = readFileSync(new URL(`../src/${name}`, import.meta.url), "utf8");
    return [...text.matchAll(/\{(?:#if|:else)[^}\n]*\} [^\s<].*/g)].map(([found]) => `${name}: ${found.slice(0, 80)}`);
  });
  assert.deepEqual(dropped, []);
});
