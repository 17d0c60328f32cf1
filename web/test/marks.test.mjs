// Requests and command lines of what people say of problems.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite, marks;
before(async () => {
  // Five and a half hours east of UTC all year.
  process.env.TZ = "Asia/Kolkata";
  globalThis.localStorage = { getItem: () => null, setItem: () => {} };
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  marks = await vite.ssrLoadModule("/src/lib/marks.ts");
});
after(() => vite?.close());

test("a request and its command line mean the same, whatever a comment or a name holds", () => {
  const comment = ` it's the "fan"; rm -rf / & `;
  const wish = { kind: "mute", what: "object:mpatha/sdb", until: "8h", comment };
  const { method, address } = marks.request("a b", wish);
  assert.deepEqual([method, address.split("?")[0]], ["PUT", "recordings/a%20b/journal/mute"]);
  const query = new URLSearchParams(address.split("?")[1]);
  assert.deepEqual(Object.fromEntries(query), { what: "object:mpatha/sdb", until: "8h", comment: comment.trim() });
  assert.equal(marks.command("a b", wish), `stend journal 'a b' --mute object:mpatha/sdb --until 8h --comment 'it'\\''s the "fan"; rm -rf / &'`);
  assert.equal(marks.command("R-1", { kind: "acknowledge", problem: "3fa9c1d2-5", comment: "" }), "stend journal R-1 --acknowledge 3fa9c1d2-5");
  assert.deepEqual(marks.request("R-1", { kind: "unacknowledge", problem: "3fa9c1d2-5" }), { method: "DELETE", address: "recordings/R-1/journal/acknowledgement?problem=3fa9c1d2-5" });
});

test("a time of the browser becomes a time in UTC", () => {
  assert.equal(marks.untilOf("2026-11-22T11:30"), "2026-11-22T06:00Z");
  assert.equal(marks.untilOf(""), "");
  assert.equal(marks.untilOf("no time"), "");
});
