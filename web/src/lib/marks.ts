// What people say of problems: the requests, and the command lines that mean the same.
import { quoted } from "./order";

export type Wish =
  | { kind: "acknowledge"; problem: string; comment: string }
  | { kind: "unacknowledge"; problem: string }
  | { kind: "mute"; what: string; until: string; comment: string }
  | { kind: "unmute"; what: string };

/** How a server is asked. */
export function request(recording: string, wish: Wish): { method: "PUT" | "DELETE"; address: string } {
  const journal = `recordings/${encodeURIComponent(recording)}/journal`;
  const query = (values: Record<string, string>) => new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
  switch (wish.kind) {
    case "acknowledge":
      return { method: "PUT", address: `${journal}/acknowledgement?${query({ problem: wish.problem, comment: wish.comment.trim() })}` };
    case "unacknowledge":
      return { method: "DELETE", address: `${journal}/acknowledgement?${query({ problem: wish.problem })}` };
    case "mute":
      return { method: "PUT", address: `${journal}/mute?${query({ what: wish.what, until: wish.until, comment: wish.comment.trim() })}` };
    case "unmute":
      return { method: "DELETE", address: `${journal}/mute?${query({ what: wish.what })}` };
  }
}

/** The same on the command line. */
export function command(recording: string, wish: Wish): string {
  const words = ["stend journal", quoted(recording), `--${wish.kind}`, quoted("problem" in wish ? wish.problem : wish.what)];
  if (wish.kind === "mute") words.push("--until", quoted(wish.until));
  if ("comment" in wish && wish.comment.trim()) words.push("--comment", quoted(wish.comment.trim()));
  return words.join(" ");
}

/** What a field for date and time holds, as a time in UTC; empty: it holds none. */
export function untilOf(local: string): string {
  const time = new Date(local);
  return local && !Number.isNaN(time.getTime()) ? `${time.toISOString().slice(0, 16)}Z` : "";
}
