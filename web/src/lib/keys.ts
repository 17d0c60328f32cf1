// Shortcuts of one key. By the place of a key, so that they work in every layout; `?` and `/` by their sign as well.
import { setLang, lang } from "./lang.svelte";
import { nextTheme, shortcuts } from "./prefs.svelte";
import { go } from "./router.svelte";

const PLACES: Record<string, string> = { KeyO: "/", KeyN: "/order", KeyT: "/tasks", KeyD: "/drives", KeyW: "/monitoring", KeyJ: "/journal", KeyR: "/runs", KeyC: "/compare", KeyH: "/history", KeyA: "/audit", KeyI: "/import", KeyS: "/suites", Comma: "/settings" };

/** Waits for the second key after `g`. */
let going = 0;

export type Actions = { help: () => void; menu: () => void };

export function pressed(event: KeyboardEvent, actions: Actions): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !shortcuts()) return;
  const at = event.target as HTMLElement;
  if (at.matches("input:not([type=checkbox]), select, textarea") || document.querySelector("dialog[open]")) return;
  const place = PLACES[event.code];
  if (going && Date.now() - going < 2000 && place) {
    going = 0;
    event.preventDefault();
    go(place);
    return;
  }
  going = event.code === "KeyG" ? Date.now() : 0;
  if (event.key === "?" || (event.code === "Slash" && event.shiftKey)) actions.help();
  else if (event.key === "/" || event.code === "Slash") search();
  else if (event.code === "KeyD") nextTheme();
  else if (event.code === "KeyL") setLang(lang() === "ru" ? "en" : "ru");
  else if (event.code === "KeyM") actions.menu();
  else return;
  event.preventDefault();
}

/** To the search of this page, or of the list of runs. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) return field.focus();
  go("/runs");
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>("input[type=search]")?.focus());
}
