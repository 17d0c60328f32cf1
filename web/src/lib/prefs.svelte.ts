// What a person set in this browser, besides the language: theme and single-key shortcuts.

export type Theme = "auto" | "light" | "dark";

const THEME = "stend.theme";
const KEYS = "stend.keys";

const kept = localStorage.getItem(THEME);
let current: Theme = $state(kept === "light" || kept === "dark" ? kept : "auto");
let keys: boolean = $state(localStorage.getItem(KEYS) !== "off");

export const theme = (): Theme => current;

export function setTheme(to: Theme): void {
  current = to;
  localStorage.setItem(THEME, to);
}

export const nextTheme = (): void => setTheme(current === "auto" ? "dark" : current === "dark" ? "light" : "auto");

export const shortcuts = (): boolean => keys;

export function setShortcuts(on: boolean): void {
  keys = on;
  localStorage.setItem(KEYS, on ? "on" : "off");
}
