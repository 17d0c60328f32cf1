// What pages choose of the documents of the server, and the words and command lines that they show for it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite, cases, cluster, comparison, drives, lang, order, runs, tasks, watched, words;
before(async () => {
  globalThis.localStorage = { getItem: () => null, setItem: () => {} };
  Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] }, configurable: true });
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  const load = (name) => vite.ssrLoadModule(`/src/lib/${name}.ts`);
  lang = await load("lang.svelte");
  [cases, cluster, comparison, drives, order, runs, tasks, watched, words] = [await load("cases"), await load("cluster"), await load("comparison"), await load("drives"), await load("order"), await load("runs"), await load("tasks"), await load("watched"), await load("words")];
});
after(() => vite?.close());

const part = (stream, operation, state, value_ns = null) => ({ stream, operation, latency_quantiles: [{ share: 0.5, state: "at", value_ns: 1 }, { share: 0.99, state, value_ns }] });
const shown = (...operations) => words.quantile(cases.p99({ operations })).replaceAll("\u00a0", "_");

test("the p99 of a case is a bound if one of its parts has only a bound, and unknown if one has too few I/Os", () => {
  lang.setLang("en");
  assert.equal(shown(part(0, "read", "at", 84_200), part(0, "write", "at", 5_000)), "84.2_µs");
  assert.equal(shown(part(0, "read", "above", 84_200)), ">_84.2_µs");
  assert.equal(shown(part(0, "read", "at", 84_200), part(0, "write", "above", 5_000)), ">_84.2_µs");
  assert.equal(shown(part(0, "read", "at", 84_200), part(0, "write", "not_enough")), "–");
  assert.equal(shown(part(0, "write", "at", 84_200), part(0, "sync", "not_enough")), "84.2_µs");
  assert.equal(shown(), "–");
});

test("the half of an interval that is cut at 0 is the upper one", () => {
  const half = (interval_95) => cases.half({ headline: "iops", iops: { value: 200, interval_95 } });
  assert.deepEqual([half([100, 300]), half([0, 600]), half(null), half(undefined)], [0.5, 2, null, null]);
});

test("an operation has a name beside others, and its stream where there are several", () => {
  lang.setLang("en");
  const names = (...operations) => cases.parts({ operations }).map((each) => cases.partName({ operations }, each));
  assert.deepEqual(names(part(0, "write", "at"), part(0, "sync", "at")), [""]);
  assert.deepEqual(names(part(0, "sync", "at"), part(0, "read", "at"), part(0, "write", "at")), ["read", "write"]);
  assert.deepEqual(names(part(0, "write", "at"), part(1, "write", "at")), ["stream 1: write", "stream 2: write"]);
});

test("runs of one name are told apart", () => {
  const run = (run, label) => ({ run, label, arm: null, suite: "small", started_unix_s: 1 });
  assert.deepEqual(comparison.names([run("R-1", "a"), run("R-2", "a"), run("R-3", "b")]), ["a · R-1", "a · R-2", "b"]);
});

test("every reason against a drive has words", () => {
  const source = readFileSync(new URL("../../crates/record/src/refusal.rs", import.meta.url), "utf8");
  const variants = source.slice(source.indexOf("pub enum Refusal {"), source.indexOf("\n}\n")).matchAll(/^ {4}([A-Z]\w+)( \{)?/gm);
  const found = [...variants].map(([, name, facts]) => ({ kind: name.replaceAll(/(?<!^)[A-Z]/g, "_$&").toLowerCase(), facts }));
  assert.ok(found.length > 15);
  const bare = found.filter(({ kind, facts }) => {
    const said = tasks.refusal(facts ? { [kind]: { at: "/x", device: "sda", of: "y", name: "z", other: "sdb", pid: 7, run: "R", why: "w" } } : kind);
    return said === kind || said === kind.replaceAll("_", " ");
  });
  assert.deepEqual(bare.map(({ kind }) => kind), []);
  assert.match(tasks.refusal({ held_by: { pid: 0, name: "" } }), /cannot see/);
});

test("the command line of the list has every filter of the page", () => {
  const line = (facts) => runs.listCommand((name) => facts[name] ?? "");
  assert.equal(line({}), "stend list --all");
  assert.equal(line({ where: "block = 4k", state: "complete", suite: "oltp", target: "/mnt/my disk" }), `stend list --all --where 'block = 4k and state = complete and suite = oltp and target contains "/mnt/my disk"'`);
  assert.equal(line({ text: "it's", label: "and" }), `stend list --all --where 'label contains "and"' | grep -iF -e 'it'\\''s'`);
});

test("a suite that is chosen is not one whose name has its name in it", () => {
  const words = (facts) => Object.fromEntries(runs.asked(["text", "where", "suite", "target"], (name) => facts[name] ?? ""));
  assert.deepEqual(words({ suite: "oltp", target: "/mnt", where: "block = 4k" }), { target: "/mnt", where: "block = 4k and suite = oltp" });
  assert.deepEqual(words({ suite: "two words" }), { where: 'suite = "two words"' });
  assert.deepEqual(words({ text: "x" }), { text: "x" });
});

test("an order whose permission is null is one without permission", () => {
  const [suite] = [{ name: "quick", text: "suite: quick\n" }];
  const is = { order: 1, suite: { file: "quick.yaml", text: suite.text }, on: ["/mnt"], permission: null };
  assert.equal(order.command(is, [suite]), "stend run quick --on /mnt");
  assert.ok(!order.written(is).includes("permission"));
});

test("the counter of open problems leads to a recording that has some", () => {
  const of = (recording, critical, warning) => ({ recording, host: "h", critical, warning });
  assert.equal(watched.openPage({ recordings: [of("R-1", 0, 0), of("R 2", 0, 3)] }), "/journal?state=open&recording=R+2");
  assert.equal(watched.openPage({ recordings: [of("R-1", 0, 0)] }), "/journal?state=open");
});

test("a click on a chart finds what ran, happened and was wrong within half a minute", () => {
  const s = (seconds) => seconds * 1e9;
  const recording = { span_ns: s(1200), first_sample_unix_s: 1_700_000_000, runs: [{ run: "R-1", suite: "quick", from_ns: s(100), to_ns: s(200) }, { run: "R-2", suite: "quick", from_ns: s(400), to_ns: s(500) }], events: [s(231), s(240)].map((at_ns) => ({ at_ns, name: {} })) };
  const problem = (id, opened, closed) => ({ id, opened_unix_s: 1_700_000_000 + opened, closed_unix_s: closed && 1_700_000_000 + closed });
  const problems = [problem("a", 10, 20), problem("b", 10, null), problem("c", 205, 300), problem("d", 300, null)];
  const found = watched.around(recording, problems, 205);
  assert.deepEqual([found.from_s, found.to_s], [175, 235]);
  assert.deepEqual([found.runs.map(({ run }) => run), found.events.length, found.problems.map(({ id }) => id)], [["R-1"], 1, ["b", "c"]]);
  // A chart of minutes; and a recording of which a point is an hour.
  assert.equal(watched.secondsOf({ x: { to: 20 } }, recording), 60);
  assert.equal(watched.around({ ...recording, span_ns: s(600 * 3600) }, [], 5000).from_s, 1400);
});

test("a drive has what lies on it, its own lines in the charts, and a link that is narrower than possible is marked", () => {
  lang.setLang("en");
  const of = (name, depth) => ({ device: { name, depth } });
  const inventory = { devices: [of("sda", 0), of("sda1", 1), of("dm-0", 2), of("sdb", 0), of("sdb1", 1)] };
  const above = (name) => drives.tree(inventory, name)?.above.map(({ device }) => device.name);
  assert.deepEqual([above("sda"), above("sda1"), above("sdb"), above("sdc")], [["sda1", "dm-0"], ["dm-0"], ["sdb1"], undefined]);

  const line = (en) => ({ name: { en, ru: en } });
  const charts = [{ id: "recording-drives", panes: [{ series: [line("sda"), line("sdb")] }, { series: [line("sda")] }] }, { id: "recording-host", panes: [{ series: [line("busy")] }] }];
  const own = drives.chartsOf(charts, "sdb");
  assert.deepEqual(own.map(({ id, panes }) => [id, panes.map(({ series }) => series.map(({ name }) => name.en))]), [["recording-drives", [["sdb"]]]]);

  const link = (device, width) => ({ device, now: { width, speed_mt_per_s: 16_000 }, best: { width: 4, speed_mt_per_s: 16_000 }, corrected: null });
  const links = drives.links({ links: [link("sda", 2), link("sdb", 4)] }, "sda").map(({ text, narrow }) => [text.replaceAll("\u00a0", "_"), narrow]);
  assert.deepEqual(links, [["×2 · 16_GT/s (possible ×4 · 16_GT/s)", true]]);

  const parts = { temperatures: [{ device: "sda", milli_celsius: 41_500, warning: 70_000, critical: 0 }] };
  assert.deepEqual(drives.temperature(parts, "sda", null), { celsius: 42, warning: 70, critical: null });
  assert.equal(drives.temperature(parts, "sda", { celsius: 39 }).celsius, 39);
  assert.equal(drives.temperature(parts, "sdb", null), null);
});

test("a drive of a recording is another one only if both have a name of their own", () => {
  const { isSame } = drives;
  assert.deepEqual([isSame("wwn:0x1", "wwn:0x1"), isSame("wwn:0x1", "wwn:0x2"), isSame("serial:a", "serial:b")], [true, false, false]);
  // What is known of a virtual drive without opening it is its place, and else its file system.
  for (const other of [null, undefined, "path:pci-0,1", "serial:a"]) assert.equal(isSame("fs-uuid:a", other), null);
  assert.equal(isSame("path:pci-0,1", "path:pci-1,1"), null);
  assert.equal(isSame(null, "wwn:0x1"), null);
});

test("hosts are summed where each has a value, on the time that all have, and never one host twice", () => {
  lang.setLang("en");
  // A point after each so many seconds on an axis of seconds: `rate` operations each.
  const of = (host, first, seconds, rate, gap = -1, every = 1) => ({
    host, first_sample_unix_s: first, span_ns: seconds * 1e9, samples: seconds / every + 1,
    charts: [{ id: "recording-total", x: { to: seconds }, panes: [{ y: { unit: "plain" }, series: [{ points: Array.from({ length: seconds / every }, (_, s) => ({ x: (s + 0.5) * every, y: s === gap ? null : rate })) }] }] }],
  });
  const [a, b] = [of("a", 1000, 10, 100), of("b", 1004, 10, 20, 1)];
  assert.deepEqual(cluster.common([a, b]), { from: 1004, to: 1010 });
  const [iops, bytes] = cluster.cluster([a, b]).panes;
  assert.deepEqual(iops.series.map(({ name }) => name.en), ["all hosts", "a", "b"]);
  assert.deepEqual(iops.series.map(({ points }) => points.map(({ y }) => y)), [[120, null, 120, 120, 120, 120], [100, 100, 100, 100, 100, 100], [20, null, 20, 20, 20, 20]]);
  // Drives that moved no bytes have no such pane.
  assert.ok(bytes.series.every(({ points }) => points.every(({ y }) => y === 0)));
  // Samples that are further apart than places of the axis leave no holes, however they lie to each other.
  for (const offset of [0, 7, 15, 20]) {
    const [sum] = cluster.cluster([of("a", 1000, 600, 100, -1, 30), of("b", 1000 + offset, 600, 20, -1, 30)]).panes[0].series;
    assert.ok(sum.points.length > 15 && sum.points.every(({ y }) => y === 120), `${offset} s`);
  }
  assert.equal(cluster.cluster([a, of("b", 2000, 10, 1)]), null);
  assert.match(cluster.refusal([a, of("b", 2000, 10, 1)]), /no time in common/);
  assert.match(cluster.refusal([a, of("a", 1000, 10, 1)]), /count twice/);
  assert.equal(cluster.refusal([a, b]), "");
});
