// What is asked for again after a failure, and what is not because the server refused it.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, mock, test } from "node:test";
import { createServer } from "vite";

let vite, Following, Live, whileItGoesOn;
/** What the server answers to one question after the other, how many came, and the streams that were opened. */
let [answers, asked, streams] = [[], 0, []];
const CLOSED = 2;
before(async () => {
  globalThis.localStorage = { getItem: () => null, setItem: () => {} };
  Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] }, configurable: true });
  vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, watch: null }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  [{ Following }, { Live }, { whileItGoesOn }] = [await vite.ssrLoadModule("/src/lib/follow.svelte.ts"), await vite.ssrLoadModule("/src/lib/live.svelte.ts"), await vite.ssrLoadModule("/src/lib/watched.ts")];
});
after(() => vite?.close());
beforeEach(() => {
  [answers, asked, streams] = [[], 0, []];
  globalThis.EventSource = class {
    static CLOSED = CLOSED;
    readyState = CLOSED;
    constructor() {
      streams.push(this);
    }
    addEventListener() {}
    close() {}
  };
  globalThis.fetch = async () => {
    asked++;
    const answer = answers.shift() ?? 500;
    return typeof answer === "number" ? { ok: false, status: answer, json: async () => ({ status: answer, detail: `${answer}` }) } : { ok: true, status: 200, json: async () => answer };
  };
  mock.timers.enable({ apis: ["setTimeout"] });
});
afterEach(() => mock.timers.reset());

/** Everything that can go on without the clock has gone on. */
async function settled() {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}
async function later(ms = 60_000) {
  mock.timers.tick(ms);
  await settled();
}

test("a recording whose first look failed is looked at again", async () => {
  const taken = [];
  answers = [503, { runs: [{ name: "R", going_on: false }] }];
  const end = whileItGoesOn("R", async () => {}, (goesOn, error) => taken.push(error?.problem.status ?? goesOn));
  await settled();
  await later();
  assert.deepEqual(taken, [503, false]);
  await later();
  assert.equal(asked, 2, "one that does not go on is looked at once");
  end();
});

test("a recording that the server refuses is not looked at again, one that was asked for too often is", async () => {
  const taken = [];
  answers = [{ runs: [{ name: "R", going_on: true }] }, 429, 403];
  const end = whileItGoesOn("R", async () => {}, (goesOn, error) => taken.push(error?.problem.status ?? goesOn));
  await settled();
  for (let looks = 0; looks < 4; looks++) await later();
  assert.deepEqual(taken, [true, 429, 403]);
  end();
});

test("tasks that the server refuses are shown as refused, and others are asked for again", async () => {
  const tasks = { tasks: [], left_out: 0 };
  answers = [503, tasks, 503, tasks, 403];
  const following = new Following();
  await settled();
  assert.equal(following.error.problem.status, 503);
  await later();
  assert.deepEqual([following.known, following.error, streams.length], [true, null, 1]);
  streams[0].onerror();
  await later();
  assert.equal(following.error, null, "a connection that broke off");
  await later();
  assert.equal(streams.length, 2);
  streams[1].onerror();
  await later();
  assert.equal(following.error.problem.status, 403);
  await later();
  assert.equal(asked, 5);
  following.close();
});

test("a run that the server refuses to show is shown as refused, and is asked for again otherwise", async () => {
  answers = [503, { runs: [{ name: "R" }] }, 404];
  const live = new Live("R");
  streams[0].onerror();
  await settled();
  assert.deepEqual([live.error, live.finished], [null, null]);
  await later();
  await later();
  assert.equal(streams.length, 2);
  streams[1].onerror();
  await settled();
  assert.equal(live.error.problem.status, 404);
  await later();
  assert.equal(asked, 3);
  live.close();
});
