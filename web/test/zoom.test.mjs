// Which stretch of a chart is shown, when finer data are asked for, and what is drawn of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite, zoom;
before(async () => {
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  zoom = await vite.ssrLoadModule("/src/lib/zoom.ts");
});
after(() => vite?.close());

const axis = (from, to, unit = "plain") => ({ label: { en: "", ru: "" }, scale: "linear", unit, from, to, names: [] });
/** 600 points over ten hours; behind each, if it is reduced, a minute of intervals. */
const chart = (reduced = true) => ({
  x: axis(0, 36000, "seconds"),
  panes: [{ y: axis(0, 1), series: [{ points: Array.from({ length: 600 }, (_, index) => ({ x: index * 60 + 30, y: 1, envelope: reduced ? [0, 2] : null })) }] }],
});

test("a stretch survives the address of the page, and nothing else is one", () => {
  assert.deepEqual(zoom.rangeOf(zoom.textOf([12.34567, 99])), [12.346, 99]);
  assert.equal(zoom.textOf([-1, 5]), "0-5");
  for (const wrong of [null, "", "5", "5-5", "9-3", "-1-5", "a-b", "1-2-3", "1e3-2e3", "0-9999999999"]) assert.equal(zoom.rangeOf(wrong), null, wrong);
});

test("a stretch stays on the axis, is never too short to be seen, and all of the axis is none", () => {
  assert.deepEqual(zoom.stretch(chart(), [-5, 100]), [0, 100]);
  assert.equal(zoom.stretch(chart(), [-5, 40000]), null);
  assert.equal(zoom.stretch(chart(), [50000, 60000]), null);
  const [from, to] = zoom.stretch(chart(), [100, 100.01]);
  assert.ok(from < 100 && to > 100.01 && Math.abs(to - from - 0.3) < 1e-9);
});

test("finer data are asked for where there are fewer points than pixels, and only if the server has them", () => {
  assert.equal(zoom.wantsFiner(chart(), [0, 3600], 800), true);
  assert.equal(zoom.wantsFiner(chart(), [0, 36000], 600), false);
  assert.equal(zoom.wantsFiner(chart(), [0, 36000], 601), true);
  assert.equal(zoom.wantsFiner(chart(), [31, 32], 800), true, "between two points");
  assert.equal(zoom.wantsFiner(chart(false), [0, 3600], 800), false);
  const asked = (pixels) => new URLSearchParams(zoom.address("a b", 0, [1.23456, 2], pixels).split("?")[1]).get("points");
  assert.deepEqual([0, 349, 351, 9000].map(asked), ["10", "300", "350", "2000"]);
  assert.equal(zoom.address("a b", 3, [1.23456, 2], 400), "runs/a%20b/intervals?from=1.235&to=2&points=400&case=3");
});

const operation = (name, iops) => ({
  operation: name, iops_mean: iops, iops_min: iops.map((value) => value / 2), iops_max: iops.map((value) => value * 2),
  bytes_per_s_mean: iops.map((value) => value * 4096), bytes_per_s_min: iops, bytes_per_s_max: iops,
  latency_ns_p50: [100, null], latency_ns_p99: [5000, null], latency_ns_max: [9000, null],
});
const answer = (resolution_ms) => ({
  resolution_ms, latency_resolution_ms: 1000, is_damaged: false,
  trials: [
    { trial: 0, from_s: 10, at_s: [10.1, 10.3], latency_at_s: [10.5, 11.5], operations: [operation("read", [100, 300])] },
    { trial: 4, from_s: 20, at_s: [20.1, 20.3], latency_at_s: [20.5, 21.5], operations: [operation("read", [200, 50]), operation("sync", [7, 7])] },
  ],
});

test("buckets are a mean and a band that the axis has room for, with a gap between trials", () => {
  const found = zoom.refined(chart(), answer(200), [10, 22]);
  assert.deepEqual([found.x.from, found.x.to], [10, 22]);
  const [rates, reads, syncs] = found.panes;
  assert.equal(rates.series.length, 1, "syncs are no I/Os");
  assert.deepEqual(rates.series[0].points.map(({ x, y }) => [x, y]), [[10.1, 100], [10.3, 300], [20, null], [20.1, 200], [20.3, 50]]);
  assert.deepEqual(rates.series[0].points[1].envelope, [150, 600]);
  assert.ok(rates.y.to >= 600);
  assert.deepEqual(reads.series.map(({ name }) => name.en), ["p50", "p99", "max"]);
  assert.deepEqual([reads.y.from, reads.y.to, reads.y.scale], [100, 10000, "log"]);
  assert.equal(syncs.y.label.en, "sync latency");
  const bytes = chart();
  bytes.panes[0].y.unit = "bytes_per_second";
  assert.equal(zoom.refined(bytes, answer(200), [10, 22]).panes[0].series[0].points[0].y, 409600);
});

test("single intervals have no band", () => {
  const [{ series: [line] }] = zoom.refined(chart(), answer(100), [10, 22]).panes;
  assert.ok(line.points.every(({ envelope }) => !envelope) && line.dots);
});
