// The language of the console and its texts. A text that lacks a language does not compile: both stand at the place of use.

export type Lang = "en" | "ru";
/** A text of the server in every language. */
export type Say = { en: string; ru: string };

const KEY = "stend.lang";

function first(): Lang {
  const kept = localStorage.getItem(KEY);
  if (kept === "en" || kept === "ru") return kept;
  return navigator.languages.some((tag) => tag.startsWith("ru")) ? "ru" : "en";
}

let current: Lang = $state(first());

export const lang = (): Lang => current;

/** Switches without a reload: every text is asked for again. */
export function setLang(to: Lang): void {
  current = to;
  localStorage.setItem(KEY, to);
}

export const t = (en: string, ru: string): string => (current === "ru" ? ru : en);

export const say = (text: Say): string => text[current];

const RULES = { en: new Intl.PluralRules("en"), ru: new Intl.PluralRules("ru") };

/** A count with its noun: English one and other, Russian one, few and many. */
export function plural(count: number, en: [string, string], ru: [string, string, string]): string {
  const rule = RULES[current].select(count);
  if (current === "en") return en[rule === "one" ? 0 : 1];
  return ru[rule === "one" ? 0 : rule === "few" ? 1 : 2];
}
