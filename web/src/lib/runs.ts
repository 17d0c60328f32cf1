// The runs that the page of runs shows, and the command line that lists them.
import { get, type List, type Listed } from "./api";
import { quoted } from "./order";

const SIGNS = { state: "=", suite: "contains", target: "contains", label: "contains" } as const;

/** The most runs that the API sends at once. */
const PAGE_MAX = 200;

/** So many runs that fit these words, from a place of the list on, and where the next one is. What one answer cannot hold comes in several. */
export async function listed(words: string, wanted: number, from: string | null, signal: AbortSignal): Promise<{ runs: Listed[]; next: string | null }> {
  let [runs, next, left]: [Listed[], string | null, number] = [[], from, wanted];
  do {
    const limit = Math.min(left, PAGE_MAX);
    const page: List = await get<List>(`runs?${words}${words ? "&" : ""}limit=${limit}${next ? `&cursor=${encodeURIComponent(next)}` : ""}`, signal);
    [runs, next, left] = [joined(runs, page.runs), page.next ?? null, left - limit];
  } while (next && left > 0);
  return { runs, next };
}

/** A run that began or ended meanwhile moves the others between pages. */
export const joined = (runs: Listed[], more: Listed[]): Listed[] => [...runs.filter(({ name }) => !more.some((run) => run.name === name)), ...more];

/** `stend list` with the filters of the page; the words of its search may stand in any column, which is what `grep` looks at. */
export function listCommand(fact: (name: string) => string): string {
  const conditions = Object.entries(SIGNS).flatMap(([name, sign]) => (fact(name) ? [`${name} ${sign} ${valueOf(fact(name))}`] : []));
  const where = [fact("where"), ...conditions].filter(Boolean).join(" and ");
  return `stend list --all${where ? ` --where ${quoted(where)}` : ""}${fact("text") ? ` | grep -iF -e ${quoted(fact("text"))}` : ""}`;
}

/** A value of a condition (docs/conditions.md): quoted unless it is a plain word. */
const valueOf = (value: string): string => (/^[\p{L}\d._:/-]+$/u.test(value) && value.toLowerCase() !== "and" ? value : value.includes('"') ? `'${value}'` : `"${value}"`);
