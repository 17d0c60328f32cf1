// What the pages of recordings make of their numbers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite, together;
before(async () => {
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  ({ together } = await vite.ssrLoadModule("/src/lib/together.ts"));
});
after(() => vite?.close());

test("all drives together count an I/O once, whatever lies above them", () => {
  const of = (kind) => ({ kind, iops: { mean: 100, max: 100 } });
  assert.equal(together(["disk", "md", "dm"].map(of)), 100);
  assert.equal(together(["disk", "disk", "loop", "zram"].map(of)), 200);
  assert.equal(together([]), 0);
});
