// The whole path of a person: choose a drive, confirm it, run, watch, result, compare, download the report. On a loop device, which needs root.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DESK, PHONE, faultsOf, open, start } from "./browser.mjs";
import { ask, eventually, orderOf, site, suite } from "./site.mjs";

const isRoot = process.getuid() === 0;
// Under CI a test that is skipped is a failure.
const rooted = { skip: !isRoot && process.env.CI !== "true" && "needs root for a loop device" };

let here, browser, device;
before(async () => {
  here = await site({ runs: false });
  browser = await start();
  if (isRoot) {
    const image = join(here.scratch, "disk.img");
    writeFileSync(image, "");
    truncateSync(image, 96 << 20);
    device = execFileSync("losetup", ["--find", "--show", image], { encoding: "utf8" }).trim();
  }
});
after(async () => {
  await browser?.close();
  await here?.stop();
  if (device) execFileSync("losetup", ["--detach", device]);
});

const button = (page, name) => page.getByRole("button", { name });

/** Puts the small suite into the order that a page shows, as a person who edits its text. */
async function small(page, blocks) {
  const order = JSON.parse(await page.locator("#order").inputValue());
  await page.fill("#order", JSON.stringify({ ...order, suite: { file: "small.yaml", text: suite(blocks) } }, null, 2));
}

async function confirmAndStart(page, identity) {
  await button(page, "Dry run").click();
  await page.locator(".confirm").waitFor();
  const start = button(page, "Overwrite and start");
  assert.ok(await start.isDisabled());
  await page.fill(".confirm input", `${identity}0`);
  await page.getByText("does not match yet").waitFor();
  assert.ok(await start.isDisabled());
  await page.fill(".confirm input", identity);
  assert.deepEqual(await faultsOf(page), []);
  await start.click();
  await page.waitForURL(/\/runs\/R-/);
  return new URL(page.url()).pathname.split("/").at(-1);
}

test("a drive is chosen, confirmed, measured, watched and compared, and its report is taken along", rooted, async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  const name = device.replace("/dev/", "");
  await page.goto(`${here.url}/drives`);
  await page.getByRole("link", { name: `Measure ${name}` }).click();
  await page.waitForURL(/\/order\?on=/);
  await page.getByText("The order can be read").waitFor();
  await page.fill("#label", "first");
  await page.selectOption("#suite", "soft-raid-small");
  assert.match(await page.locator("aside code").first().innerText(), /^stend run soft-raid-small --on \S+ --name first --seed \d+$/);
  await small(page, 4);
  await eventually("a form that follows the text", async () => (await page.locator("#suite").inputValue()) === "");
  await page.locator("label.danger input").check();
  await page.getByText("Look at the dry run first").waitFor();
  const order = JSON.parse(await page.locator("#order").inputValue());
  const [identity] = order.permission.confirm;
  assert.ok(order.on[0] === identity && (await button(page, "Overwrite and start").isDisabled()), "nothing starts without a look");
  const first = await confirmAndStart(page, identity);
  await page.getByText("Measuring").or(page.locator(".phases")).first().waitFor();
  await page.getByRole("link", { name: "Full report" }).waitFor({ timeout: 120_000 });

  const [task] = (await ask(here, "GET", "tasks")).tasks;
  await page.goto(`${here.url}/tasks/${task.id}`);
  await page.getByRole("link", { name: "Order it again" }).click();
  await page.getByText("Look at the dry run first").waitFor();
  const text = JSON.parse(await page.locator("#order").inputValue());
  await page.fill("#order", JSON.stringify({ ...text, label: "second", seed: "8" }, null, 2));
  await page.getByText("Look at the dry run first").waitFor();
  const second = await confirmAndStart(page, identity);
  await page.getByRole("link", { name: "Full report" }).waitFor({ timeout: 120_000 });

  await page.goto(`${here.url}/runs`);
  for (const run of [first, second]) await page.locator("tbody tr", { hasText: run }).locator("input[type=checkbox]").check();
  await page.getByRole("link", { name: "Compare (2)" }).click();
  await page.locator(".forest li").first().waitFor();
  await page.goto(`${here.url}/runs/${second}`);
  const [workbook] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Excel" }).first().click()]);
  assert.equal(workbook.suggestedFilename(), `${second}.xlsx`);
  assert.deepEqual(faults, []);
  await close();
});

test("who may not overwrite sees why, and who may only look can still write an order", rooted, async () => {
  const token = async (role) => (await ask(here, "PUT", `tokens/the-${role}?role=${role}&days=1`)).secret;
  const identity = JSON.parse(execFileSync(process.env.STEND ?? new URL("../../target/debug/stend", import.meta.url).pathname, ["inspect", device, "--json"], { encoding: "utf8" })).identity;
  const operator = await open(browser, { ...here, token: await token("operator") }, { lang: "en", scheme: "dark", size: PHONE });
  await operator.page.goto(`${here.url}/order?on=${identity}`);
  await operator.page.locator("label.danger input").check();
  await operator.page.getByText("Look at the dry run first").waitFor();
  await button(operator.page, "Dry run").click();
  await operator.page.getByText("needs the role destroyer").waitFor();
  assert.ok(await button(operator.page, "Overwrite and start").isDisabled());
  assert.deepEqual([...operator.faults, ...(await faultsOf(operator.page))], []);
  await operator.close();
  const viewer = await open(browser, { ...here, token: await token("viewer") }, { lang: "en", scheme: "light", size: DESK });
  await viewer.page.goto(`${here.url}/order?on=/tmp`);
  await viewer.page.getByText("Your role is viewer").waitFor();
  assert.ok((await button(viewer.page, "Start").isDisabled()) && (await button(viewer.page, "Dry run").isDisabled()));
  await viewer.page.getByText(/^stend run quick --on \/tmp --seed \d+$/).waitFor();
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});

test("an order that is being written outlives the session", async () => {
  const { page, close } = await open(browser, here, { lang: "en", scheme: "light", size: DESK });
  await page.goto(`${here.url}/order?on=/tmp`);
  await page.getByText("The order can be read").waitFor();
  await page.fill("#label", "kept");
  // As after a restart of the server, which knows no session of the one before.
  await page.context().clearCookies();
  const signIn = page.getByRole("link", { name: "Sign in" });
  await signIn.waitFor();
  assert.ok(page.url().endsWith("/order?on=/tmp") && (await button(page, "Start").isDisabled()));
  // So it does a look at another page.
  await page.locator("#menu a[href='/runs']").click();
  const asked = page.waitForResponse((answer) => answer.url().endsWith("/suites"));
  await page.goBack();
  assert.equal((await asked).status(), 401);
  await signIn.click();
  await page.fill("input[name=token]", here.token);
  await page.keyboard.press("Enter");
  await page.getByText("The order can be read").waitFor();
  assert.equal(await page.inputValue("#label"), "kept");
  assert.equal(await signIn.count(), 0);
  await close();
});

test("a task waits with its reason, leaves the queue and is stopped, all without a reload", async () => {
  const { page, faults, close } = await open(browser, here, { lang: "en", scheme: "dark", size: PHONE });
  await page.goto(`${here.url}/tasks`);
  const long = JSON.parse(orderOf(here, ["--name", "long"]));
  long.suite.text = suite(300);
  await ask(here, "PUT", "tasks/long", JSON.stringify(long));
  await ask(here, "PUT", "tasks/behind", orderOf(here, ["--name", "behind"]));
  const row = (name) => page.locator("tbody tr", { hasText: name });
  await row("behind").getByText("waits").first().waitFor();
  await row("behind").getByText("`long`").waitFor();
  await row("behind").getByRole("link", { name: "behind" }).click();
  await button(page, "Take from the queue").click();
  await page.locator(".state").getByText("! stopped").waitFor();
  await page.goto(`${here.url}/tasks/long`);
  await page.getByText("of 1200").or(page.locator("progress")).first().waitFor();
  await button(page, "Abort…").click();
  await button(page, "Let it go on").click();
  await button(page, "Stop softly").click();
  await page.locator(".state").getByText("! stopped").waitFor();
  assert.match(await page.locator("dl").innerText(), /130/);
  await page.locator("pre").getByText(/R-/).first().waitFor();
  assert.deepEqual([...faults, ...(await faultsOf(page))], []);
  await close();
});
