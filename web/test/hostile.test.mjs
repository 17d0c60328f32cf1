// Names and words from outside are text on every page: each place of a document that one can stand in gets a tag that would run a script.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DESK, open, start } from "./browser.mjs";
import { HOSTILE, ask, eventually, site } from "./site.mjs";

let here, browser;
before(async () => {
  here = await site();
  browser = await start();
});
after(async () => {
  await browser?.close();
  await here?.stop();
});

/** A tag that names the place where it was taken for one. */
const tag = (place) => `<img src=x onerror="alert('${place}')">`;
const say = (place) => ({ en: tag(place), ru: tag(place) });

const rate = { case: tag("case"), headline: "iops", iops: 1000, throughput_bytes_per_s: null };
const whole = { name: tag("run"), label: tag("label"), suite: tag("suite"), targets: [tag("target")], result: rate, going_on: false, state: { state: "complete" } };
const broken = { name: tag("broken run"), size_bytes: 1, error: { message: say("error"), hint: null } };
const runs = (list) => ({ ...list, next: null, runs: [{ ...list.runs[0], ...whole }, broken] });

const device = { name: tag("device"), kind: "disk", depth: 0, identity: tag("identity"), model: tag("model"), size: 1, is_virtual: false, rotational: null };
const uses = [{ mounted: { at: tag("mount point") } }, { held_by: { pid: 7, name: tag("program") } }];
const drive = { device, path: "/dev/a", serial: tag("serial number"), signatures: [], mounted: [], access: { refused: uses }, health: null };
const free = { ...drive, device: { ...device, name: "b" }, path: "/dev/b", access: { confirm: { identity: "x", signatures: [tag("signature")] } } };
const inventory = (is) => ({ ...is, host: { ...is.host, hostname: tag("host"), os: tag("system"), cpu_model: tag("processor") }, devices: [drive, free] });

/** A drive with what lies on it. */
const below = { ...drive, device: { ...device, firmware: tag("firmware"), transport: tag("transport") } };
const above = { ...free, device: { ...device, name: tag("device above"), kind: tag("kind"), depth: 1, identity: null, model: null }, serial: null, access: "nowhere", mounted: [tag("mount point above")], signatures: [{ name: tag("signature"), label: null }] };
const stack = (is) => ({ ...is, host: { ...is.host, hostname: tag("host") }, devices: [below, above] });

const findings = (is) => ({
  ...is,
  label: tag("label"),
  suite: tag("suite"),
  targets: [tag("target")],
  stand: tag("stand"),
  state: { state: "complete", reason: say("reason"), instruction: tag("instruction") },
  cases: [{ ...is.cases[0], label: tag("case") }, ...is.cases.slice(1)],
  caveats: [{ text: say("caveat"), advice: say("advice") }],
  not_run: [{ label: tag("case that did not run"), reason: say("why not") }],
});
const conditions = [{ condition: "x", name: say("condition"), values: [say("value")] }];
const comparison = (is) => ({
  ...is,
  runs: is.runs.map((run, index) => ({ ...run, label: tag(`run ${index}`) })),
  cases: [{ ...is.cases[0], label: tag("case") }],
  conditions_changed: conditions,
  unmatched: [{ label: tag("unmatched case"), runs: [0] }],
});
const history = (is) => ({ ...is, series: [{ ...is.series[0], label: tag("case"), changes: [{ first: 1, last: 0, before: 1, after: 2, ratio: 2 }] }], conditions_changed: [{ run: 1, conditions }] });

const tasks = ({ tasks: [first], ...list }) => ({
  ...list,
  tasks: [
    { ...first, id: tag("task"), label: tag("label"), reason: say("reason"), runs: [tag("run")] },
    { ...first, id: "other", label: null, work: tag("suite"), on: [tag("target")] },
  ],
});
const task = (is) => ({ ...is, label: null, work: tag("suite"), on: [tag("target")], reason: say("reason"), loads: [`host:${tag("host")}`, `drive:${tag("drive")}`] });
const due = { due_unix: 1, outcome: "error", reason: say("reason"), missed: 0, task: null, notice: "failed", notice_error: say("notice") };
const schedules = ({ schedules: [first], ...list }) => ({
  ...list,
  schedules: [{ ...first, id: tag("schedule"), cron: tag("time"), label: null, work: tag("suite"), on: [tag("target")], baseline: tag("baseline"), first_run: null, notify: tag("hook"), times: [due] }],
});

const once = { mean: 1, max: 1 };
const watched = { name: tag("drive"), kind: "disk", iops: once, throughput_bytes_per_s: once, queue_depth: once, busy_share: once };
const recording = (is) => ({ ...is, host: tag("host"), drives: [watched], idle: [tag("idle drive")] });
const recordings = (list) => ({ ...list, runs: list.runs.map((each, index) => ({ ...each, label: tag(`recording ${index}`) })) });
const said = { by: tag("author"), at_unix_s: 1, comment: tag("comment") };
const problem = { id: "3fa9c1d2-1", rule: "x", category: "drive", severity: "warning", object: tag("object"), state: "open", opened_unix_s: 1, times: 1, name: say("problem"), evidence: say("evidence"), advice: say("advice"), acknowledged: said };
const mute = { what: "object:x", object: tag("muted object"), rule: tag("rule"), name: null, until_unix_s: 2e9, by: tag("who muted"), comment: tag("why muted") };
const journal = (is) => ({ ...is, host: tag("host"), problems: [problem], mutes: [mute] });

// A moment has all that was near it: the recording is of seconds.
const none = { en: "", ru: "" };
const busy = (is) => ({ ...is, runs: [{ run: tag("run then"), suite: "small", label: tag("label then"), from_ns: 0, to_ns: is.span_ns }], events: [{ at_ns: 0, name: say("event") }] });
const then = (is) => ({ ...is, problems: [{ ...problem, evidence: none, advice: none, acknowledged: null }], mutes: [] });
const click = async (page) => {
  const plot = page.locator(".plot").first();
  await plot.locator("canvas").waitFor();
  await plot.locator(".u-over").click();
};
/** Of another host each, and of one time. */
const other = (is) => ({ ...is, host: tag(`host of ${is.label}`), first_sample_unix_s: 1000 });

/**
 * Each page with its documents: the address in the API, and what becomes of the answer. Every tag of them is seen, but for those left out,
 * once `act` has done what shows them.
 */
const pages = async () => {
  const [a, b] = here.recorded;
  const [one, two] = (await ask(here, "GET", "recordings?limit=200")).runs.map(({ name }) => name);
  return [
    { path: "/", answers: { runs }, unseen: ["run", "suite", "target"] },
    { path: "/runs", answers: { runs } },
    { path: `/runs/${a}`, answers: { [`runs/${a}`]: findings } },
    { path: `/compare?run=${a}&run=${b}`, answers: { comparisons: comparison } },
    { path: "/history?suite=small", answers: { history } },
    { path: "/tasks", answers: { tasks } },
    { path: `/tasks/${here.task}`, answers: { [`tasks/${here.task}`]: task, [`tasks/${here.task}/log`]: tag("log") } },
    { path: "/schedules", answers: { schedules } },
    { path: "/drives", answers: { drives: inventory } },
    { path: "/monitoring", answers: { recordings, "recordings/[^/]+": recording } },
    { path: `/drives/${encodeURIComponent(tag("device"))}`, answers: { drives: stack, "recordings/[^/]+": (is) => ({ ...is, host: tag("host of the recording") }) } },
    { path: "/monitoring", answers: { "recordings/[^/]+": busy, "recordings/[^/]+/journal": then }, act: click },
    { path: `/monitoring?recording=${one}&with=${two}`, answers: { recordings, "recordings/[^/]+": other } },
    { path: "/journal", answers: { recordings, "recordings/[^/]+/journal": journal } },
    { path: "/suites", answers: { suites: (is) => ({ ...is, suites: [{ ...is.suites[0], name: tag("suite"), about: say("purpose") }] }) } },
    { path: "/tokens", answers: { tokens: (is) => ({ ...is, tokens: [{ id: tag("token"), role: "viewer", created_unix: 1, expires_unix: 2 }] }) } },
    { path: "/changes", answers: { "audit-log": (is) => ({ ...is, changes: [{ number: 1, at_unix: 1, who: tag("who"), what: tag("what"), before: tag("before"), after: tag("after") }] }) } },
  ];
};

/** What a page complains about, but for what is asked of names that are none. */
const unexpected = (faults) => faults.filter((fault) => !fault.includes("Failed to load resource"));

/** A window that notes if a script of a name runs. */
async function opened() {
  const window = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  window.page.on("dialog", (dialog) => {
    window.faults.push(`a script has run: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return window;
}

test("no page takes a name from outside for a tag", async () => {
  const { page, faults, close } = await opened();
  for (const { path, answers, unseen = [], act } of await pages()) {
    const sent = new Set();
    for (const [address, change] of Object.entries(answers)) {
      const asked = new RegExp(`^/api/v1/${address}$`);
      await page.route((url) => asked.test(url.pathname), async (route) => {
        const response = await route.fetch();
        const body = typeof change === "string" ? change : JSON.stringify(change(await response.json()));
        for (const [, place] of body.matchAll(/alert\('([^']+)'\)/g)) sent.add(place);
        await route.fulfill({ response, body });
      });
    }
    await page.goto(here.url + path);
    await act?.(page);
    const missing = async () => {
      const text = await page.evaluate(() => document.body.textContent);
      return [...sent].filter((place) => !unseen.includes(place) && !text.includes(tag(place)));
    };
    await eventually(path, async () => sent.size > 0 && !(await missing()).length).catch(async () => assert.deepEqual(await missing(), [], path));
    assert.ok(sent.size > 0, path);
    assert.equal(await page.locator("img[src=x]").count(), 0, path);
    assert.deepEqual(unexpected(faults.splice(0)), [], path);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  await close();
});

test("names of files, of runs and of receivers are text in an import, in the report of the server and in a test of messages", async () => {
  const { page, faults, close } = await opened();
  await page.goto(`${here.url}/import`);
  await page.setInputFiles("input[type=file]", { name: HOSTILE, mimeType: "application/json", buffer: Buffer.from("{") });
  await page.getByRole("heading", { name: HOSTILE }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  const { runs } = await ask(here, "GET", "runs?limit=200");
  const { name } = runs.find(({ label }) => label === HOSTILE);
  await page.goto(`${here.url}/api/v1/runs/${name}/report`);
  await page.getByText(HOSTILE).first().waitFor();
  assert.equal(await page.locator("img[src=x]").count(), 0);
  await page.route("**/notices/test?*", (route) => route.fulfill({ json: { receivers: [{ name: tag("receiver"), sent: true, why: null }, { name: tag("other"), sent: false, why: say("why not") }] } }));
  await page.goto(`${here.url}/settings`);
  await page.getByLabel("File of receivers").fill("/etc/x");
  await page.getByRole("button", { name: "Send a test" }).click();
  for (const place of ["receiver", "other", "why not"]) await page.getByText(tag(place)).waitFor();
  assert.equal(await page.locator("img[src=x]").count(), 0);
  assert.deepEqual(unexpected(faults), []);
  await close();
});
