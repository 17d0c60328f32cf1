// What the frame shows on every page: runs that go on, failed checks of the newest results and open problems of recorded hosts. Asked for again while the page is seen.
import { type List, type Listed, type Summary, get } from "./api";
import { session } from "./session.svelte";
import type { OpenProblems } from "./watched";

/** Roles in the order of what they may do; each may do what those before it may. */
export const ROLES = ["viewer", "operator", "destroyer", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Results that are looked at for failed checks. */
export const NEWEST = 8;
/** Pause between two looks. By eye: a count that is five seconds old is still true for a person. */
const EVERY = 5000;

/** A run that was resumed has grown, and another summary. */
const keyOf = (run: Listed): string => `${run.name} ${run.size_bytes}`;

class Server {
  running: Listed[] = $state.raw([]);
  newest: Listed[] = $state.raw([]);
  summaries: Record<string, Summary> = $state.raw({});
  open: OpenProblems = $state.raw({ recordings: [], left_out: 0 });
  known = $state(false);
  /** When the answer was asked for that `running` is of. */
  asked = $state(0);
  /** The last question got no answer. */
  away = $state(false);
  version = $state("");
  me: { id: string; role: Role } | null = $state.raw(null);

  failed = $derived(this.newest.reduce((sum, run) => sum + (this.summary(run)?.checks_failed ?? 0), 0));

  /** Open problems of all hosts that are recorded now. */
  problems = $derived(this.open.recordings.reduce((sum, { critical, warning }) => sum + critical + warning, 0));

  summary(run: Listed): Summary | undefined {
    return this.summaries[keyOf(run)];
  }

  /** Whether whoever is signed in may do what needs this role. */
  may(role: Role): boolean {
    return this.me !== null && ROLES.indexOf(this.me.role) >= ROLES.indexOf(role);
  }

  begin(): () => void {
    const look = () => void (document.visibilityState === "visible" && this.#look());
    look();
    const timer = setInterval(look, EVERY);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }

  async #look(): Promise<void> {
    const asked = Date.now();
    try {
      const [running, ended, open, me, version] = await Promise.all([
        get<List>("runs?state=running&limit=50"),
        get<List>(`runs?limit=${NEWEST * 2}`),
        get<OpenProblems>("open-problems"),
        this.me ?? get<{ id: string; role: Role }>("me"),
        this.version || get<{ stend_version: string }>("health").then(({ stend_version }) => stend_version),
      ]);
      [this.running, this.asked, this.open, this.me, this.version] = [running.runs, asked, open, me, version];
      this.newest = ended.runs.filter((run) => !run.going_on).slice(0, NEWEST);
      this.known = true;
      this.away = false;
      const missing = this.newest.filter((run) => run.state && run.trials && !this.summary(run));
      const found = await Promise.allSettled(missing.map((run) => get<Summary>(`runs/${encodeURIComponent(run.name)}/summary`)));
      const summaries = { ...this.summaries };
      found.forEach((answer, index) => {
        const run = missing[index];
        if (run && answer.status === "fulfilled") summaries[keyOf(run)] = answer.value;
      });
      this.summaries = summaries;
    } catch {
      // Who signs in again may be somebody else.
      if (session.ended) this.me = null;
      this.away = !session.ended;
    }
  }
}

export const server = new Server();
