// The command line that a page shows for an order means that order: the program itself writes it out.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { STEND } from "./site.mjs";

let vite, order, suites;
before(async () => {
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  order = await vite.ssrLoadModule("/src/lib/order.ts");
  ({ suites } = JSON.parse(spawnSync(STEND, ["suites", "--json"], { encoding: "utf8" }).stdout));
});
after(() => vite?.close());

const of = (suite, more = {}) => ({ order: 1, suite: { file: `${suite.name}.yaml`, text: suite.text }, seed: "7", on: ["/tmp"], ...more });

/** What the program makes of a command line. */
function printed(line) {
  assert.ok(line.startsWith("stend run "), line);
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", `exec "$STEND" ${line.slice("stend ".length)} --print-order`], { env: { ...process.env, STEND }, encoding: "utf8" });
  assert.equal(status, 0, `${line}: ${stderr}`);
  return stdout;
}

test("the command line of every built-in suite writes the same order", () => {
  assert.ok(suites.length > 10);
  for (const suite of suites) {
    const is = of(suite);
    assert.equal(printed(order.command(is, suites)), order.written(is), suite.name);
  }
});

test("every option of the form is on the command line, whatever is in it", () => {
  const [suite] = suites;
  for (const more of [
    { label: "it's $HOME \"now\" `x`", repeats: 9, expect: ["rand-read p99 < 5ms", "iops >= 20000"] },
    { on: ["/dev/sdb"], permission: { confirm: ["serial:A B"], overwrite_signatures: ["ext4", "gpt"], commands: true, beside: true } },
    { ssh: "root@db1", on: ["/mnt/a"], observe: ["ssh:nas"] },
    { ssh: ["db1", "db2"], on: ["db1:/dev/sdb", "db2:/dev/sdc"] },
    { on: ["/mnt/a"], against: ["/mnt/b", "/mnt/c d"] },
  ]) {
    const is = of(suite, more);
    assert.equal(printed(order.command(is, suites)), order.written(is), JSON.stringify(more));
  }
});

test("an order that options cannot say is carried out from its file", () => {
  const file = "stend run --order order.json";
  const [suite] = suites;
  assert.equal(order.command(null, suites), file);
  for (const more of [{ suite: { file: "own.yaml", text: suite.text } }, { suite: { file: `${suite.name}.yaml`, text: `${suite.text}# mine\n` } }, { gate: { file: "g.yaml", text: "" } }, { stands: [] }, { on: "text" }]) {
    assert.equal(order.command(of(suite, more), suites), file, JSON.stringify(more));
  }
});

test("what says nothing is left out, and what the form does not know stays", () => {
  const [suite] = suites;
  const is = { ...of(suite), label: "", repeats: undefined, ssh: [], permission: { confirm: [], commands: false }, engine: "fio" };
  assert.deepEqual(JSON.parse(order.written(is)), { ...of(suite), engine: "fio" });
  assert.equal(order.parsed("order: 1"), null);
  assert.equal(order.parsed("[1]"), null);
  assert.match(order.newId(of(suite, { label: "до: ../x" })), /^[A-Za-z0-9_-]{1,40}-[0-9a-f]{10}$/);
});
