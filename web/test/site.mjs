// A server with recorded runs and one that goes on, all in a directory of its own that goes with the test.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
export const STEND = process.env.STEND ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/stend");

/** A name that would be a script if a page took it for one. */
export const HOSTILE = `<img src=x onerror="alert(1)">`;

export const suite = (blocks) => `suite: small
defaults: {ramp: 100ms, trial: 300ms}
fill: {size: 32MiB}
repeats: {blocks: ${blocks}}
cases:
  - name: sequential-read-with-a-name-that-no-phone-has-room-for
    streams: [{op: read, pattern: sequential, block_size: 256KiB, queue_depth: 4}]
  - name: rand-read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8]}]
  - name: mix
    streams: [{op: {read: 70, write: 30}, pattern: random, block_size: 4KiB, queue_depth: 8}]
`;

/** Two streams of one operation, and one that syncs beside one that reads. */
const STREAMS = `suite: streams
defaults: {ramp: 100ms, trial: 300ms}
fill: {size: 32MiB}
repeats: {blocks: 2}
cases:
  - name: two
    streams:
      - {op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 2}
      - {op: write, pattern: random, block_size: 4KiB, queue_depth: 1}
  - name: synced
    streams:
      - {op: write, pattern: random, block_size: 4KiB, queue_depth: 1, sync: {fdatasync: 4}}
      - {op: read, pattern: random, block_size: 4KiB, queue_depth: 1}
`;

/** Runs that suite so often, each under the same name; the names of the runs. */
export function streams({ scratch, env }, often) {
  writeFileSync(join(scratch, "streams.yaml"), STREAMS);
  mkdirSync(join(scratch, "streams"));
  return Array.from({ length: often }, () => {
    const words = ["run", join(scratch, "streams.yaml"), "--on", join(scratch, "streams"), "--beside", "--progress", "none", "--name", "one name", "--json"];
    const { status, stdout, stderr } = spawnSync(STEND, words, { env, encoding: "utf8" });
    if (status !== 0) throw new Error(`a run ended with ${status}: ${stderr}`);
    return JSON.parse(stdout).run;
  });
}

/** Starts everything; `runs`: whether anything was measured. */
export async function site({ runs = true } = {}) {
  if (!existsSync(STEND)) throw new Error(`there is no ${STEND}: cargo build -p stend, or name the program in STEND`);
  const scratch = mkdtempSync(join(tmpdir(), "stend-console-"));
  // Leases of its own, as other tests have: they share one disk.
  const env = { ...process.env, XDG_DATA_HOME: scratch, HOME: scratch, STEND_LEASES: scratch, LC_ALL: "C.UTF-8" };
  const stops = [];
  const stop = async () => {
    for (const end of stops.reverse()) await end();
    rmSync(scratch, { recursive: true, force: true });
  };
  const started = (words, options) => {
    const child = spawn(STEND, words, { env, stdio: ["ignore", "pipe", "ignore"], ...options });
    const over = new Promise((resolve) => child.once("exit", resolve));
    stops.push(async () => {
      child.kill("SIGINT");
      await over;
    });
    return { child, over };
  };
  try {
    if (runs) await record(scratch, env);
    const names = () => readdirSync(join(scratch, "stend/runs")).filter((name) => name.endsWith(".stend")).sort().map((name) => name.slice(0, -6));
    const recorded = runs ? names() : [];
    let live;
    if (runs) {
      writeFileSync(join(scratch, "long.yaml"), suite(400));
      started(["run", join(scratch, "long.yaml"), "--on", join(scratch, "target"), "--progress", "none"]);
      live = await eventually("a run that goes on", () => names().find((name) => !recorded.includes(name)));
    }
    const { child } = started(["serve", "--listen", "127.0.0.1:0", "--json"]);
    const { url, token, link } = await new Promise((resolve, reject) => {
      let text = "";
      child.once("exit", () => reject(new Error(`the server ended: ${text}`)));
      child.stdout.on("data", (bytes) => {
        text += bytes;
        if (text.trimEnd().endsWith("}")) resolve(JSON.parse(text));
      });
    });
    const here = { url: url.replace(/\/$/, ""), token, link, recorded, live, scratch, env, stop };
    if (runs) here.task = await ended(here, "small-1", orderOf(here, ["--beside", "--name", "as a task"]));
    if (runs) await repeated(here);
    return here;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The order for the small suite on a directory of its own, with these options. */
export function orderOf({ scratch, env }, options = []) {
  writeFileSync(join(scratch, "small.yaml"), suite(1));
  mkdirSync(join(scratch, "tasks"), { recursive: true });
  const { status, stdout, stderr } = spawnSync(STEND, ["run", join(scratch, "small.yaml"), "--on", join(scratch, "tasks"), "--seed", "7", ...options, "--print-order"], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`no order: ${stderr}`);
  return stdout;
}

/** Asks the API of a site as a program does. */
export async function ask({ url, token }, method, address, body) {
  const answer = await fetch(`${url}/api/v1/${address}`, { method, body, headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Gives an order to the server and waits for its end; the id of the task. */
async function ended(here, id, order) {
  await ask(here, "PUT", `tasks/${id}`, order);
  await eventually("the end of a task", async () => (await ask(here, "GET", `tasks/${id}`)).ended_unix);
  return id;
}

/** A schedule with one result. */
async function repeated(here) {
  await ask(here, "PUT", "schedules/nightly?cron=0+2+*+*+*&baseline=first", orderOf(here, ["--beside"]));
  await ask(here, "POST", "schedules/nightly/run");
  await eventually("its first result", async () => (await ask(here, "GET", "schedules")).schedules[0].first_run);
}

async function record(scratch, env) {
  mkdirSync(join(scratch, "target"));
  writeFileSync(join(scratch, "small.yaml"), suite(2));
  for (const name of ["before", HOSTILE, "after"]) {
    const words = ["run", join(scratch, "small.yaml"), "--on", join(scratch, "target"), "--progress", "none", "--name", name];
    const { status, stderr } = spawnSync(STEND, words, { env, encoding: "utf8" });
    if (status !== 0) throw new Error(`a run ended with ${status}: ${stderr}`);
  }
  // One whose process was killed has no end, and does not go on.
  const files = () => readdirSync(join(scratch, "stend/runs")).filter((name) => name.endsWith(".stend"));
  const before = files();
  const cut = spawn(STEND, ["record", "--every", "100ms", "--name", "cut"], { env, stdio: "ignore" });
  const over = new Promise((resolve) => cut.once("exit", (status, signal) => resolve(signal ?? status)));
  const file = await eventually("a recording", () => files().find((name) => !before.includes(name)));
  const steps = () => spawnSync(STEND, ["top", join(scratch, "stend/runs", file), "--json"], { env, encoding: "utf8" });
  await eventually("some samples of it", () => steps().stdout.split("\n").length > 10);
  cut.kill("SIGKILL");
  if ((await over) !== "SIGKILL") throw new Error("a recording ended by itself");
  const { status, stderr } = spawnSync(STEND, ["record", "--every", "100ms", "--for", "3s", "--name", "night"], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`a recording ended with ${status}: ${stderr}`);
}

export async function eventually(what, found) {
  for (let tries = 0; tries < 600; tries++) {
    const is = await found();
    if (is) return is;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never came: ${what}`);
}
