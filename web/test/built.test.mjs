// The built files: as small as promised, and what the sources give.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const web = new URL("..", import.meta.url).pathname;
const committed = join(web, "../crates/serve/assets/console");
const tree = (folder) => Object.fromEntries(readdirSync(folder, { recursive: true }).filter((name) => name.includes(".")).sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));

test("all scripts together stay below what the first view may load", () => {
  const scripts = Object.entries(tree(committed)).filter(([name]) => name.endsWith(".js"));
  const size = scripts.reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
  console.log(`${scripts.length} script, ${(size / 1024).toFixed(1)} KiB gzipped`);
  assert.ok(size > 0 && size <= 120 * 1024, `${size} bytes gzipped`);
});

test("the built files are those of the sources (`make web` writes them)", async () => {
  // Names of styles depend on where a build begins.
  process.chdir(web);
  const outDir = mkdtempSync(join(tmpdir(), "stend-web-"));
  try {
    await build({ root: web, configFile: join(web, "vite.config.ts"), logLevel: "error", build: { outDir, emptyOutDir: true } });
    const [is, shall] = [tree(committed), tree(outDir)];
    assert.deepEqual(Object.keys(is), Object.keys(shall));
    for (const name of Object.keys(is)) assert.ok(is[name] === shall[name], `${name} differs`);
    const list = readFileSync(join(web, "../crates/serve/src/console/files.rs"), "utf8");
    const named = [...list.matchAll(/^ {8}"\/(assets\/[^"]+)"/gm)].map(([, name]) => name);
    assert.deepEqual(named, Object.keys(is).filter((name) => name.startsWith("assets/")));
  } finally {
    rmSync(outDir, { recursive: true });
  }
});
