// Where the console is: path and query of the address, which hold all state of a page.

let at = $state.raw(new URL(location.href));

export const place = (): URL => at;

export const path = (): string => at.pathname;

export const query = (): URLSearchParams => at.searchParams;

function take(): void {
  at = new URL(location.href);
}

/** Goes to another page. */
export function go(to: string): void {
  history.pushState(null, "", to);
  take();
  scrollTo(0, 0);
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  // The page of that place is drawn first.
  if (at.hash) requestAnimationFrame(() => document.getElementById(at.hash.slice(1))?.scrollIntoView());
}

/** Goes to another page in the place of this one. */
export function moveOn(to: string): void {
  history.replaceState(null, "", to);
  take();
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/** Changes the query of this page, without another step back. */
export function setQuery(change: (query: URLSearchParams) => void): void {
  const to = new URL(location.href);
  change(to.searchParams);
  history.replaceState(null, "", to);
  take();
}

/** Links of the console are followed here; reports, files and other tabs are left to the browser. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  const isPage = link.origin === location.origin && PAGES.test(link.pathname);
  if (!isPage || (link.hash && link.pathname === location.pathname)) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}

const PAGES = /^\/($|order$|tasks$|tasks\/[^/]+$|runs$|runs\/[^/]+$|compare$|schedules$|history$|audit$|import$|drives$|drives\/[^/]+$|monitoring$|journal$|suites$|settings$|tokens$|changes$)/;

addEventListener("popstate", take);

/** A part of a path as text; what is no escape, as in `100%`, stands for itself. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const runPage = (name: string): string => `/runs/${encodeURIComponent(name)}`;

export const drivePage = (device: string): string => `/drives/${encodeURIComponent(device)}`;

export const taskPage = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

export function comparePage(runs: string[], baseline?: string): string {
  const query = new URLSearchParams(runs.map((run) => ["run", run]));
  if (baseline) query.set("baseline", baseline);
  return `/compare?${query}`;
}
