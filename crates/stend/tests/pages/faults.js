"use strict";
// Looks at pages in frames as wide as a phone and as a desk, with every fold open, and writes what is wrong, one fault a line.
const WIDTHS = [390, 1280], SLACK = 1.5, FAULTS_MOST = 12;

const shown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
const name = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") || ""} "${element.textContent.slice(0, 40)}"`;

// Boxes that scroll by themselves may hold what is wider than the page.
function tooWide(document, width) {
  const faults = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".scroll, pre, .skip, .switch, desc, title") || !shown(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + SLACK || box.left < -SLACK)) {
      faults.push(`reaches from ${box.left.toFixed(0)} to ${box.right.toFixed(0)}: ${name(element)}`);
    }
  }
  return faults;
}

function touching(elements) {
  const boxes = elements.filter(shown).map((element) => [element, element.getBoundingClientRect()]);
  const faults = [];
  boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, other]) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    // The box of a line of text is higher than its letters.
    if (across > SLACK && down > 5) faults.push(`touches by ${across.toFixed(0)} x ${down.toFixed(0)}: ${name(a)} and ${name(b)}`);
  }));
  return faults;
}

function labels(document) {
  const faults = [];
  for (const drawing of document.querySelectorAll("svg.plot")) faults.push(...touching([...drawing.querySelectorAll("text")]));
  for (const bars of document.querySelectorAll(".all-cases, .forest, .numbers-that-tell")) {
    faults.push(...touching([...bars.querySelectorAll(".rate, .tick, .name, .key-always, .word, .between, .tell")].filter((e) => !e.parentElement.closest(".tell"))));
  }
  return faults;
}

// A large number that does not fit its card, or is cut between two letters.
function broken(document) {
  const faults = [];
  const range = document.createRange();
  for (const number of document.querySelectorAll(".tell b")) {
    const card = number.closest(".tell").getBoundingClientRect(), texts = document.createTreeWalker(number, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^ ]+/g)) {
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        if (range.getClientRects().length > 1 || range.getBoundingClientRect().right > card.right) faults.push(`does not fit: ${name(number)}`);
      }
    }
  }
  return faults;
}

async function look(page, width, language) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0;position:absolute;left:0;top:0`;
  frame.src = page;
  const loaded = new Promise((done) => { frame.onload = done; });
  document.body.append(frame);
  await loaded;
  const inside = frame.contentDocument;
  inside.getElementById(`lang-${language}`).checked = true;
  inside.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const view = inside.documentElement;
  const faults = view.scrollWidth > view.clientWidth ? [`the page scrolls sideways: ${view.scrollWidth}`] : [];
  faults.push(...tooWide(inside, view.clientWidth), ...labels(inside), ...broken(inside));
  frame.remove();
  return faults.slice(0, FAULTS_MOST).map((fault) => `${page}, ${width} px, ${language}: ${fault}`);
}

async function all() {
  const faults = [];
  for (const page of window.pages) for (const width of WIDTHS) for (const language of ["en", "ru"]) faults.push(...await look(page, width, language));
  document.body.textContent = `looked at ${window.pages.length} pages\n${faults.join("\n")}\n`;
}
addEventListener("load", all);
