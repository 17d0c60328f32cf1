// The console as people meet it: every page in a browser, from recorded runs and one that goes on. STEND_WEB=whole tries every page in both
// languages and themes, on a desk and on a phone; without it two of those eight are enough. STEND_SHOTS=folder keeps pictures.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { DESK, PHONE, faultsOf, open, start } from "./browser.mjs";
import { HOSTILE, ask, eventually, site, streams } from "./site.mjs";

const whole = process.env.STEND_WEB === "whole";
const all = ["en", "ru"].flatMap((lang) => ["light", "dark"].flatMap((scheme) => [["desk", DESK], ["phone", PHONE]].map(([on, size]) => ({ lang, scheme, on, size }))));
const looks = whole ? all : all.filter(({ lang, scheme, on }) => (lang === "ru") === (on === "phone") && (scheme === "dark") === (on === "desk"));

let here, browser;
before(async () => {
  here = await site();
  browser = await start();
});
after(async () => {
  await browser?.close();
  await here?.stop();
});

const pages = () => {
  const [a, b] = here.recorded;
  return [
    { path: "/", en: "Newest results", ru: "Последние результаты" },
    { path: "/order", en: "Say what is measured", ru: "Укажите, что измерять", count: ".form select" },
    { path: "/order?suite=oltp&on=/mnt/nothing-is-here", en: "The order can be read", ru: "Заказ читается", count: ".form select" },
    { path: "/tasks", en: "as a task", ru: "as a task", count: "tbody tr" },
    { path: `/tasks/${here.task}`, en: "Order it again", ru: "Заказать ещё раз", count: "dl dd a" },
    { path: "/schedules", en: "compared with", ru: "сравнение с", count: "section ul li" },
    { path: "/drives", en: "Directories are measured", ru: "Каталоги измеряются", count: "tbody tr" },
    { path: "/drives/no-such-drive", en: "has no device no-such-drive", ru: "Устройства no-such-drive" },
    { path: "/monitoring", en: "samples:", ru: "отсчётов:", count: ".plot canvas" },
    { path: "/journal", en: "open problem", ru: "открытых проблем" },
    { path: "/runs", en: "Order", ru: "Порядок", count: "tbody tr" },
    { path: `/runs?run=${a}&run=${b}&state=complete`, en: "Compare (2)", ru: "Сравнить (2)" },
    { path: "/runs?text=nothing-is-called-so", en: "No run fits", ru: "Подходящих прогонов нет" },
    { path: "/runs?where=block+%3D+256k+and+depth+%3E+3", en: "Choose two or more", ru: "Отметьте два", count: "tbody tr" },
    { path: `/runs/${a}`, en: "Full report", ru: "Полный отчёт", count: ".bars li" },
    { path: `/runs/${here.live}`, en: "stend watch", ru: "Задержка p99", count: ".plot canvas" },
    { path: "/compare", en: "Mark two to sixteen runs", ru: "Отметьте в списке" },
    { path: `/compare?run=${a}&run=${b}`, en: "Changed conditions", ru: "Изменились условия", count: ".forest li" },
    { path: "/history", en: "Choose a suite", ru: "Выберите набор", count: ".filter select" },
    { path: "/history?suite=small", en: "Runs (5)", ru: "Прогоны (5)" },
    { path: "/audit", en: "Drop a CSV here", ru: "Перетащите сюда CSV", count: "textarea" },
    { path: "/import", en: "Drop files here", ru: "Перетащите сюда файлы", count: "input[type=file]" },
    { path: "/suites", en: "built in", ru: "встроенн", count: ".list section" },
    { path: "/tokens", en: "Make the token", ru: "Создать токен", count: "form select" },
    { path: "/changes", en: "Every task that was given", ru: "Все заказанные", count: "tbody tr" },
    { path: "/settings", en: "Shortcuts of one key", ru: "Сочетания из одной клавиши" },
    { path: "/login", en: "Token", ru: "Токен", count: "form button", isOfServer: true },
    { path: "/api", en: "To the console", ru: "В консоль", count: "section table", isOfServer: true },
  ];
};

for (const look of looks) {
  test(`every page is whole, quiet and readable: ${look.lang}, ${look.scheme}, ${look.on}`, async () => {
    const { page, faults, close } = await open(browser, here, look);
    for (const { path, count, isOfServer, ...words } of pages()) {
      await page.goto(here.url + path);
      await page.getByText(words[look.lang]).first().waitFor();
      if (count) await page.locator(count).first().waitFor();
      assert.equal(await page.getAttribute("html", "lang"), look.lang);
      if (!isOfServer) assert.ok((await page.locator("aside code").first().innerText()).startsWith("stend "), path);
      const found = [...faults.splice(0), ...(await faultsOf(page))];
      if (process.env.STEND_SHOTS) {
        mkdirSync(process.env.STEND_SHOTS, { recursive: true });
        const name = path.replace(here.live, "live").replaceAll(/[^a-z]+/gi, "_");
        await page.screenshot({ path: `${process.env.STEND_SHOTS}/${look.lang}-${look.scheme}-${look.on}-${name.slice(0, 40)}.png`, fullPage: true });
      }
      assert.deepEqual(found, [], path);
    }
    await close();
  });
}

test("a drive of the list has a page with its history, also on a phone", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "ru", scheme: "light", size: PHONE });
  await page.goto(`${here.url}/drives`);
  const link = page.locator("tbody th a").first();
  const device = await link.innerText();
  await link.click();
  await page.waitForURL(`${here.url}/drives/${encodeURIComponent(device)}`);
  await page.getByText("Температура").first().waitFor();
  await page.getByText("История").last().waitFor();
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await close();
});

test("the history of a drive tells no I/O, no counters, another drive and a name that may be another drive's apart", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  const { host } = await ask(here, "GET", "drives");
  const device = { name: "sdq", kind: "disk", depth: 0, identity: "wwn:0x1", model: null, firmware: null, transport: null, size: 1, is_virtual: false, rotational: null };
  const drive = { device, path: "/dev/sdq", serial: null, signatures: [], mounted: [], access: "nowhere", health: null };
  const part = { ...drive, device: { ...device, name: "sdq1", kind: "partition", depth: 1, identity: null } };
  const once = { mean: 1, max: 1 };
  const means = { name: "sdq", kind: "disk", iops: once, throughput_bytes_per_s: once, queue_depth: once, busy_share: once };
  let recorded = {};
  await page.route("**/api/v1/drives", (route) => changed(route, (is) => ({ ...is, devices: [drive, part] })));
  await page.route(/\/recordings\/[^/?]+$/, (route) => changed(route, (is) => ({ ...is, host: host.hostname, drives: [], idle: [], ...recorded })));
  const [idle, absent, other, unsure] = ["It did no I/O", "no counters of it", "sdq is another drive", "may be another drive's"];
  const [quiet, shown] = ["It says nothing of itself", "Read latency"];
  for (const [name, is, seen] of [
    ["sdq", { idle: ["sdq"] }, [quiet, idle, unsure]],
    ["sdq", {}, [quiet, absent]],
    ["sdq1", { idle: ["sdq"] }, [absent]],
    ["sdq", { drives: [means] }, [quiet, shown, unsure]],
    ["sdq", { drives: [{ ...means, identity: "wwn:0x2" }] }, [quiet, other]],
    ["sdq", { drives: [{ ...means, identity: "wwn:0x1" }] }, [quiet, shown]],
  ]) {
    recorded = is;
    await page.goto(`${here.url}/drives/${name}`);
    await eventually(`${name}: ${seen}`, async () => {
      const text = await page.locator("main").textContent();
      return [quiet, shown, idle, absent, other, unsure].filter((words) => text.includes(words)).join() === seen.join();
    });
  }
  assert.deepEqual(faults, []);
  await close();
});

test("a path that is no escape is a name", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  // The router takes what the address has; no server is asked for such a page.
  for (const of of ["drives", "runs", "tasks"]) {
    await page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/${of}/100%`);
    await page.locator("main").getByText("100%").first().waitFor();
  }
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("a click and Enter in a chart of a recording show what was there then", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.goto(`${here.url}/monitoring`);
  const plot = page.locator(".plot").first();
  await plot.locator("canvas").waitFor();
  await plot.locator(".u-over").click();
  await page.getByRole("button", { name: "Close" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Close" }).waitFor();
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await close();
});

test("a recording whose process was killed does not go on", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.goto(`${here.url}/monitoring`);
  const line = page.getByText("samples:").first();
  assert.ok(!(await line.innerText()).includes("no end"));
  const cut = await page.locator("option", { hasText: "cut" }).getAttribute("value");
  await page.selectOption(".which select", cut);
  await page.getByText("no end: its process was killed").waitFor();
  assert.ok(!(await line.innerText()).includes("goes on"));
  assert.deepEqual(faults, []);
  await close();
});

test("a link to a page leads there after signing in, and signing out ends the session", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const wanted = `${here.url}/runs?sort=rate&text=small`;
  await page.goto(wanted);
  assert.ok(page.url().startsWith(`${here.url}/login?next=`));
  await page.fill("input[name=token]", here.token);
  await page.click("button");
  await page.waitForURL(wanted);
  await page.goto(`${here.url}/settings`);
  await page.click('form[action="/logout"] button');
  await page.waitForURL(`${here.url}/login`);
  assert.equal((await page.request.get(`${here.url}/api/v1/runs`)).status(), 401);
  await context.close();
});

test("the link of the first start signs in one browser, and the next one sees why it does not", async () => {
  const opened = async () => {
    const context = await browser.newContext({ locale: "en-GB" });
    const page = await context.newPage();
    await page.goto(here.link);
    return { context, page };
  };
  const first = await opened();
  await first.page.waitForURL(`${here.url}/`);
  await first.page.getByText("Newest results").waitFor();
  const second = await opened();
  await second.page.getByText("this link was used already").waitFor();
  assert.equal(new URL(second.page.url()).hash, "");
  for (const { context } of [first, second]) await context.close();
});

test("the language changes without a reload, and the keyboard reaches every page in any layout", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.getByText("Newest results").waitFor();
  await page.evaluate(() => (window.same = true));
  // The place of a key counts, whatever letter the layout puts there.
  const press = (code, key = code) => page.evaluate(([code, key]) => document.body.dispatchEvent(new KeyboardEvent("keydown", { code, key, bubbles: true })), [code, key]);
  await press("KeyL", "д");
  await page.getByText("Последние результаты").waitFor();
  for (const [code, path] of [["KeyN", "/order"], ["KeyT", "/tasks"], ["KeyD", "/drives"], ["KeyW", "/monitoring"], ["KeyJ", "/journal"], ["KeyR", "/runs"], ["KeyC", "/compare"], ["KeyH", "/history"], ["KeyA", "/audit"], ["KeyI", "/import"], ["KeyS", "/suites"], ["Comma", "/settings"], ["KeyO", "/"]]) {
    await press("KeyG", "п");
    await press(code);
    assert.equal(new URL(page.url()).pathname, path);
  }
  await press("KeyD", "в");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await press("Slash", "?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => window.same), true, "the page was never loaded anew");
  assert.deepEqual(faults, []);
  await close();
});

test("what is searched, sorted and chosen stands in the address and holds after a reload", async () => {
  const { page, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.goto(`${here.url}/runs`);
  await page.fill("input[type=search]", "before");
  await page.waitForURL(/text=before/);
  await eventually("one row", async () => (await page.locator("tbody tr").count()) === 1);
  await page.locator("tbody input[type=checkbox]").check();
  await page.waitForURL(/run=R-/);
  await page.selectOption("select >> nth=1", "size");
  await page.reload();
  await page.locator("tbody tr").first().waitFor();
  assert.equal(await page.locator("tbody tr").count(), 1);
  assert.ok(await page.locator("tbody input[type=checkbox]").isChecked());
  assert.equal(await page.locator("select >> nth=1").inputValue(), "size");
  await close();
});

test("a run is watched as it goes on, and names of runs are text", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.goto(`${here.url}/runs/${here.live}`);
  const headline = () => page.locator("h1").innerText();
  const first = await eventually("a rate", async () => ((await headline()).includes("IOPS") ? headline() : null));
  await eventually("another rate", async () => (await headline()) !== first);
  await page.goto(`${here.url}/runs`);
  await page.getByText(HOSTILE).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a table of published numbers is judged as it is dropped", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "ru", scheme: "light", size: PHONE });
  await page.goto(`${here.url}/audit`);
  await page.setInputFiles("input[type=file]", new URL("../../published/elbrus-kernel54.csv", import.meta.url).pathname);
  await page.locator(".finding").first().waitFor();
  assert.match(await page.locator("h1").innerText(), /124 числа: 2 не могут быть верны/);
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await page.fill("#table", "x");
  await page.getByRole("button", { name: "Проверить" }).click();
  await page.locator("[role=alert]").waitFor();
  await close();
});

test("results of fio become a run as they are dropped, and what is none is shown with its line", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "dark", size: PHONE });
  await page.goto(`${here.url}/import`);
  await page.setInputFiles("input[type=file]", [
    { name: "fio.json", mimeType: "application/json", buffer: readFileSync(new URL("../../crates/interop/tests/fixtures/fio-3.33-group.json", import.meta.url)) },
    { name: "broken.json", mimeType: "application/json", buffer: Buffer.from('{"fio version": "fio-3.39",\n "jobs": [\n  {"jobname": }]}') },
  ]);
  await page.locator("[role=alert]").waitFor();
  assert.match(await page.locator("[role=alert]").innerText(), /broken\.json:3/);
  const faultsHere = faults.filter((fault) => !fault.includes("422"));
  assert.deepEqual([...faultsHere, ...(await faultsOf(page))], []);
  await page.getByRole("link", { name: "Show the run" }).click();
  await page.waitForURL(/\/runs\/R-/);
  await close();
});

test("a token is shown once, lets in with its role, and ends with its sessions", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "dark", size: PHONE });
  await page.goto(`${here.url}/settings`);
  await page.getByRole("link", { name: "Tokens and users" }).click();
  await page.getByLabel("Name of the person").fill("anna");
  await page.selectOption("form select", "viewer");
  await page.getByRole("button", { name: "Make the token" }).click();
  const secret = await page.locator(".secret code").first().innerText();
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  const anna = await open(browser, { url: here.url, token: secret }, { lang: "en", scheme: "light", size: DESK });
  await anna.page.goto(`${here.url}/changes`);
  await anna.page.getByText("The log is for the role admin").waitFor();
  await page.reload();
  await page.locator("tbody tr", { hasText: "anna" }).waitFor();
  assert.ok(!(await page.content()).includes(secret), "it is shown once");
  await page.locator("tbody tr", { hasText: "anna" }).getByRole("button", { name: "End…" }).click();
  await page.getByRole("button", { name: "End it and its sessions" }).click();
  await page.getByText("only the token of the first start").waitFor();
  assert.equal((await anna.page.request.get(`${here.url}/api/v1/me`)).status(), 401);
  await anna.close();
  await page.goto(`${here.url}/changes`);
  for (const what of ["DELETE /api/v1/tokens/anna", "PUT /api/v1/tokens/anna?role=viewer"]) await page.getByText(what).waitFor();
  await close();
});

test("an order is repeated by one form, paused, and repeated no more, or carried out once later", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "ru", scheme: "light", size: PHONE });
  await page.goto(`${here.url}/order?suite=quick&on=${encodeURIComponent(here.scratch)}`);
  await page.locator("details.repeat summary").click();
  await page.getByLabel("Имя расписания").fill("weekly");
  await page.getByLabel("Когда").selectOption("0 2 * * 1");
  if (process.env.STEND_SHOTS) await page.screenshot({ path: `${process.env.STEND_SHOTS}/repeat.png`, fullPage: true });
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await page.locator("details.repeat button").click();
  await page.waitForURL(`${here.url}/schedules`);
  const weekly = page.locator("section", { hasText: "weekly" });
  await weekly.getByText("0 2 * * 1").waitFor();
  await weekly.getByRole("button", { name: "Приостановить" }).click();
  await weekly.getByText("приостановлено").waitFor();
  await weekly.getByRole("button", { name: "Удалить…" }).click();
  await weekly.getByRole("button", { name: "Удалить", exact: true }).click();
  await weekly.waitFor({ state: "detached" });
  await page.goto(`${here.url}/order?suite=quick&on=${encodeURIComponent(here.scratch)}`);
  await page.locator("details.repeat summary").click();
  await page.getByLabel("Имя расписания").fill("later");
  await page.getByLabel("Когда").selectOption("once");
  await page.getByLabel("Время, UTC").fill("2099-12-24T03:00");
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await page.getByRole("button", { name: "Запустить в это время" }).click();
  await page.waitForURL(`${here.url}/schedules`);
  const later = page.locator("section", { hasText: "later" });
  await later.getByText("один раз:").waitFor();
  assert.equal((await ask(here, "GET", "schedules")).schedules.find(({ id }) => id === "later").at_unix, Date.UTC(2099, 11, 24, 3) / 1000);
  await ask(here, "DELETE", "schedules/later");
  assert.deepEqual(faults, []);
  await close();
});

const DESK_EN = { lang: "en", scheme: "light", size: DESK };
/** What a page complains about, but for answers that a test has the server refuse. */
const unexpected = (faults) => faults.filter((fault) => !fault.includes("Failed to load resource"));
const problem = (status) => ({ status, contentType: "application/problem+json", body: JSON.stringify({ status, detail: "not now", message: { en: "not now", ru: "не сейчас" } }) });
/** Answers a request with what the server says, changed. */
const changed = async (route, change) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: change(await response.json()) });
};

test("streams of one operation and runs of one name are told apart, and each number stands with its operation", async () => {
  const [a, b, c] = streams(here, 3);
  const { page, faults, close } = await open(browser, here, DESK_EN);
  await page.goto(`${here.url}/compare?run=${a}&run=${b}&run=${c}`);
  await page.getByRole("button", { name: "Show all" }).click();
  await eventually("all rows", async () => (await page.locator(".forest li").count()) > 12);
  const rows = await page.locator(".forest .name").allInnerTexts();
  for (const name of ["p99, stream 1: read", "p99, stream 1: write", "p99, stream 2: write"]) for (const run of [b, c]) assert.ok(rows.some((row) => row.includes("two") && row.includes(name) && row.includes(run)), `${name} of ${run}: ${rows}`);
  await page.goto(`${here.url}/runs/${a}`);
  await page.locator("summary", { hasText: "Table" }).first().click();
  const row = page.locator("table.numbers tbody tr", { hasText: "synced" });
  for (const cell of [2, 3, 4, 5]) assert.match((await row.locator("td").nth(cell).innerText()).replaceAll("\u00a0", " "), /^stream 1: write .+\nstream 2: read ./);
  assert.deepEqual(faults, []);
  await close();
});

test("a run that ended before its page asked for events shows its result", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  const [run] = here.recorded;
  let asked = 0;
  await page.route(/\/runs\?state=running&limit=200/, (route) => (asked++ ? route.continue() : route.fulfill({ json: { runs: [{ name: run, size_bytes: 1 }], left_out: 0 } })));
  await page.route(`**/runs/${run}/events`, (route) => route.fulfill({ status: 204 }));
  await page.goto(`${here.url}/runs/${run}`);
  await page.getByText("Full report").waitFor();
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("a stream of tasks that the server refuses is asked for again", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  let asked = 0;
  await page.route("**/task-events*", (route) => (asked++ ? route.continue() : route.fulfill(problem(503))));
  await page.goto(`${here.url}/tasks`);
  const notice = page.getByText("The connection broke off");
  await notice.waitFor();
  await notice.waitFor({ state: "detached" });
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("a page of the list is asked for once, and dropped when the filter has changed", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  const [first, ...others] = (await ask(here, "GET", "runs?limit=50")).runs;
  let [pages, release] = [0, () => {}];
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\/runs\?limit=50$/, (route) => route.fulfill({ json: { runs: [first], left_out: others.length, next: "more" } }));
  await page.route(/\/runs\?limit=50&cursor=more$/, async (route) => {
    pages++;
    if (pages > 1) await held;
    await route.fulfill({ json: { runs: [first, ...others], left_out: 0, next: pages > 1 ? null : "more" } });
  });
  await page.goto(`${here.url}/runs`);
  const more = page.getByRole("button", { name: "Show more" });
  // Two clicks before an answer are one question; a run that moved to the next page is shown once.
  await more.evaluate((button) => (button.click(), button.click()));
  await eventually("all rows", async () => (await page.locator("tbody tr").count()) === others.length + 1);
  assert.equal(pages, 1);
  await more.click();
  await page.fill("input[type=search]", "before");
  await eventually("one row", async () => (await page.locator("tbody tr").count()) === 1);
  release();
  await page.waitForTimeout(300);
  assert.equal(await page.locator("tbody tr").count(), 1);
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("older tasks and changes come page by page", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  const [first, second] = (await ask(here, "GET", "tasks?limit=2")).tasks;
  await page.route(/\/tasks\?limit=200$/, (route) => route.fulfill({ json: { tasks: [first], left_out: 1, next: first.id } }));
  await page.route(/\/tasks\?limit=200&cursor=/, (route) => route.fulfill({ json: { tasks: [first, second], left_out: 0, next: null } }));
  const change = (number) => ({ number, at_unix: 1, who: "anna", what: `change ${number}`, before: "", after: "" });
  await page.route(/\/audit-log\?limit=200$/, (route) => route.fulfill({ json: { changes: [change(2)], next: 2 } }));
  await page.route(/\/audit-log\?limit=200&cursor=2$/, (route) => route.fulfill({ json: { changes: [change(1)], next: null } }));
  for (const path of ["/tasks", "/changes"]) {
    await page.goto(here.url + path);
    const more = page.getByRole("button", { name: "Show more" });
    // Two clicks before an answer are one question, and a task that stands there already is shown once.
    await more.evaluate((button) => (button.click(), button.click()));
    await more.waitFor({ state: "detached" });
    assert.equal(await page.locator("tbody tr").count(), 2, path);
  }
  assert.deepEqual(faults, []);
  await close();
});

test("a run that has ended is not shown as running for ever", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  const [run] = here.recorded;
  let asked = 0;
  await page.route(/\/runs\?limit=50$/, (route) => changed(route, (list) => (asked++ ? list : { ...list, runs: list.runs.map((each) => (each.name === run ? { ...each, going_on: true } : each)) })));
  await page.goto(`${here.url}/runs`);
  const row = page.locator("tbody tr", { hasText: run });
  await row.getByText("running").waitFor();
  await row.getByText("complete").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a stop that the server refused can be asked for again, and an error goes when it is over", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  let [stops, logs, lists] = [0, 0, 0];
  await page.route(`**/api/v1/tasks/${here.task}`, (route) => changed(route, (task) => ({ ...task, state: "running", exit_code: null })));
  await page.route(`**/api/v1/tasks/${here.task}/stop`, (route) => (stops++ ? route.fulfill({ json: {} }) : route.fulfill(problem(503))));
  await page.route(`**/api/v1/tasks/${here.task}/log`, (route) => (logs++ ? route.continue() : route.fulfill(problem(503))));
  await page.goto(`${here.url}/tasks/${here.task}`);
  await page.locator("[role=alert]").waitFor();
  await page.locator("[role=alert]").waitFor({ state: "detached" });
  const soft = page.getByRole("button", { name: "Stop softly" });
  await soft.click();
  await page.locator("[role=alert]").waitFor();
  await soft.click();
  await page.getByText("Asked to end").waitFor();
  await page.route("**/api/v1/schedules", (route) => (lists++ ? route.continue() : route.fulfill(problem(503))));
  await page.goto(`${here.url}/schedules`);
  await page.locator("[role=alert]").waitFor();
  await page.locator("[role=alert]").waitFor({ state: "detached" });
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("a dry run with several fills has all of them", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  await page.route("**/orders/dry-run", (route) => changed(route, (preview) => ({ ...preview, fill_bytes: 64 * 2 ** 30, fills: 6 })));
  await page.goto(`${here.url}/order?suite=quick&on=${encodeURIComponent(here.scratch)}`);
  await page.getByLabel("Another run may load the same drives").check();
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByText("6 fills of 64\u00a0GiB").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("the journal of a recording that goes on is asked for again, but not while somebody writes", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  const found = { id: "3fa9c1d2-1", rule: "x", category: "drive", severity: "warning", object: "sdz", state: "open", opened_unix_s: 1, times: 1, name: { en: "slow drive", ru: "медленный диск" }, evidence: { en: "", ru: "" }, advice: { en: "", ru: "" } };
  let asked = 0;
  await page.clock.install();
  await page.route("**/recordings?limit=200", (route) => changed(route, (list) => ({ ...list, runs: list.runs.map((each) => ({ ...each, going_on: true })) })));
  await page.route("**/recordings/*/journal", (route) => changed(route, (journal) => ({ ...journal, problems: asked++ ? [found] : [] })));
  await page.goto(`${here.url}/journal`);
  await page.getByText("in all: 0").waitFor();
  await eventually("the problem that came", async () => {
    await page.clock.fastForward(16_000);
    return page.getByText("slow drive").isVisible();
  });
  await page.getByRole("button", { name: "Acknowledge…" }).click();
  // A question that was open when the form came ends.
  await page.waitForLoadState("networkidle");
  const before = asked;
  for (let looks = 0; looks < 3; looks++) {
    const list = page.waitForResponse("**/recordings?limit=200");
    await page.clock.fastForward(16_000);
    await list;
  }
  assert.equal(asked, before);
  assert.deepEqual(faults, []);
  await close();
});

test("links to every page of the menu are followed without a reload, with their place", async () => {
  const { page, faults, close } = await open(browser, here, DESK_EN);
  await page.evaluate(() => (window.same = true));
  for (const link of await page.locator("nav.menu a:not(.last)").all()) {
    await link.click();
    assert.equal(new URL(page.url()).pathname, await link.getAttribute("href"));
  }
  await page.locator("a.count").first().click();
  assert.equal(new URL(page.url()).hash, "#results");
  assert.equal(await page.evaluate(() => window.same), true, "the page was never loaded anew");
  assert.deepEqual(faults, []);
  await close();
});

test("a server on which nothing was measured teaches the next step on every page with a list", async () => {
  const empty = await site({ runs: false });
  try {
    const { page, faults, close } = await open(browser, empty, { lang: "ru", scheme: "light", size: PHONE });
    const measure = "stend run quick --on /mnt/test";
    const steps = {
      "/": measure,
      "/runs": measure,
      "/compare": measure,
      "/history": measure,
      "/tasks": "Заказов ещё не было",
      "/schedules": "Пока ничего не повторяется",
      "/monitoring": "Записей пока нет",
      "/journal": "Записей пока нет",
      "/tokens": "Есть только токен первого запуска",
      "/changes": "Изменений ещё не было",
    };
    for (const [path, step] of Object.entries(steps)) {
      await page.goto(empty.url + path);
      await page.locator("main").getByText(step).first().waitFor();
      assert.deepEqual([...faults.splice(0), ...(await faultsOf(page))], [], path);
    }
    await page.route("**/api/v1/drives*", (route) => changed(route, (inventory) => ({ ...inventory, devices: [] })));
    await page.goto(`${empty.url}/drives`);
    await page.getByText("Дисков не видно").waitFor();
    assert.deepEqual([...faults.splice(0), ...(await faultsOf(page))], [], "/drives");
    await close();
  } finally {
    await empty.stop();
  }
});
