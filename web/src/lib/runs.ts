// What pages ask for of all runs, and the command line that lists the same.
import { quoted } from "./order";

const SIGNS = { state: "=", suite: "=", target: "contains", label: "contains" } as const;

/** The query for the API. A suite is the one with this name, and none that has it as a part of its own. */
export function asked(facts: readonly string[], fact: (name: string) => string): URLSearchParams {
  const suite = facts.includes("suite") && fact("suite") ? `suite = ${valueOf(fact("suite"))}` : "";
  const where = [fact("where"), suite].filter(Boolean).join(" and ");
  const others = facts.filter((name) => !["suite", "where"].includes(name) && fact(name)).map((name) => [name, fact(name)]);
  return new URLSearchParams([...others, ...(where ? [["where", where]] : [])]);
}

/** `stend list` with the filters of the page; the words of its search may stand in any column, which is what `grep` looks at. */
export function listCommand(fact: (name: string) => string): string {
  const conditions = Object.entries(SIGNS).flatMap(([name, sign]) => (fact(name) ? [`${name} ${sign} ${valueOf(fact(name))}`] : []));
  const where = [fact("where"), ...conditions].filter(Boolean).join(" and ");
  return `stend list --all${where ? ` --where ${quoted(where)}` : ""}${fact("text") ? ` | grep -iF -e ${quoted(fact("text"))}` : ""}`;
}

/** A value of a condition (docs/conditions.md): quoted unless it is a plain word. */
const valueOf = (value: string): string => (/^[\p{L}\d._:/-]+$/u.test(value) && value.toLowerCase() !== "and" ? value : value.includes('"') ? `'${value}'` : `"${value}"`);
