// The command line that lists what the page of runs shows.
import { quoted } from "./order";

const SIGNS = { state: "=", suite: "contains", target: "contains", label: "contains" } as const;

/** `stend list` with the filters of the page; the words of its search may stand in any column, which is what `grep` looks at. */
export function listCommand(fact: (name: string) => string): string {
  const conditions = Object.entries(SIGNS).flatMap(([name, sign]) => (fact(name) ? [`${name} ${sign} ${valueOf(fact(name))}`] : []));
  const where = [fact("where"), ...conditions].filter(Boolean).join(" and ");
  return `stend list --all${where ? ` --where ${quoted(where)}` : ""}${fact("text") ? ` | grep -iF -e ${quoted(fact("text"))}` : ""}`;
}

/** A value of a condition (docs/conditions.md): quoted unless it is a plain word. */
const valueOf = (value: string): string => (/^[\p{L}\d._:/-]+$/u.test(value) && value.toLowerCase() !== "and" ? value : value.includes('"') ? `'${value}'` : `"${value}"`);
