// Chromium of the distribution, and what is wrong with a page in it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CLOSED = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const PHONE = { width: 360, height: 740 };
export const DESK = { width: 1280, height: 900 };

/** How long something may take on a machine that compiles beside it, as in the tests of the binary. */
const IN_TIME = 90_000;

export const start = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...CLOSED] });

/** A signed-in window; `faults` gathers what it complains about and what it asks of others. */
export async function open(browser, { url, token }, { lang, scheme, size }) {
  const context = await browser.newContext({ locale: lang === "ru" ? "ru-RU" : "en-GB", colorScheme: scheme, viewport: size, bypassCSP: false });
  context.setDefaultTimeout(IN_TIME);
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => request.url().startsWith(`${url}/`) || faults.push(`asked elsewhere: ${request.url()}`));
  await page.goto(`${url}/login#token=${token}`);
  await page.waitForURL(`${url}/`);
  const close = async () => {
    // An answer that a test changes may be on its way.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
  };
  return { page, faults, close };
}

/** What is wrong with the page as it stands now. */
export async function faultsOf(page) {
  const { wide, width } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, width: innerWidth }));
  const faults = wide > width ? [`${wide} pixels wide on a screen of ${width}: ${await widest(page)}`] : [];
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, nodes } of found.violations) {
    if (impact === "serious" || impact === "critical") faults.push(`axe ${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`).join(" | ")}`);
  }
  return faults;
}

const widest = (page) =>
  page.evaluate(() => {
    const beyond = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5);
    return beyond.slice(0, 3).map((element) => element.outerHTML.slice(0, 120)).join(" | ");
  });
