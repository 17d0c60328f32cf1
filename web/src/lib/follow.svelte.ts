// Tasks as they change: those that the server lists now, then each change as it comes.
import { get } from "./api";
import type { Task, TaskList } from "./tasks";

/** Tasks of a page of the list, the most that the API sends at once. */
const PAGE = 200;
/** Pause before a stream that the server refused is asked for again. By eye: what refused it lasts seconds. */
const AGAIN = 3000;

export class Following {
  tasks: Task[] = $state.raw([]);
  left_out = $state(0);
  /** Older tasks are being asked for. */
  busy = $state(false);
  known = $state(false);
  connected = $state(true);
  error: unknown = $state(null);

  #source: EventSource | null = null;
  #closed = false;
  #again = 0;
  #id: string | null;
  #next: string | null = null;

  /** Follows all tasks, or the one with this id. */
  constructor(id: string | null = null) {
    this.#id = id;
    void this.#begin();
  }

  close(): void {
    this.#closed = true;
    this.#source?.close();
    clearTimeout(this.#again);
  }

  /** Asks for the next page of older tasks. */
  async more(): Promise<void> {
    const from = this.#next;
    if (!from || this.busy) return;
    this.busy = true;
    try {
      const { tasks, left_out, next } = await get<TaskList>(`tasks?limit=${PAGE}&cursor=${encodeURIComponent(from)}`);
      // After a broken connection the list begins anew, and this page may not be its next one.
      if (this.#next === from) {
        this.tasks = [...this.tasks, ...tasks.filter(({ id }) => !this.tasks.some((known) => known.id === id))];
        [this.left_out, this.#next, this.error] = [left_out, next ?? null, null];
      }
    } catch (failed) {
      this.error = failed;
    }
    this.busy = false;
  }

  async #begin(): Promise<void> {
    try {
      if (this.#id === null) {
        const { tasks, left_out, next } = await get<TaskList>(`tasks?limit=${PAGE}`);
        [this.tasks, this.left_out, this.#next] = [tasks, left_out, next ?? null];
      } else {
        this.tasks = [await get<Task>(`tasks/${encodeURIComponent(this.#id)}`)];
      }
    } catch (failed) {
      if (this.known) this.#later();
      else this.error = failed;
      return;
    }
    this.known = true;
    if (this.#closed) return;
    const last = Math.max(0, ...this.tasks.map(({ change }) => change));
    const source = new EventSource(`/api/v1/task-events${last ? `?after=${last}` : ""}`);
    source.onopen = () => (this.connected = true);
    source.onerror = () => {
      this.connected = false;
      // A browser comes again after a broken connection, but never after an answer that is no stream.
      if (source.readyState === EventSource.CLOSED) this.#later();
    };
    source.addEventListener("task", (event) => this.#take(JSON.parse((event as MessageEvent<string>).data) as Task));
    this.#source = source;
  }

  /** Asks for the tasks anew, and for the stream. */
  #later(): void {
    if (!this.#closed) this.#again = setTimeout(() => void this.#begin(), AGAIN) as unknown as number;
  }

  #take(task: Task): void {
    if (this.#id !== null && task.id !== this.#id) return;
    const at = this.tasks.findIndex(({ id }) => id === task.id);
    this.tasks = at < 0 ? [task, ...this.tasks] : this.tasks.with(at, task);
  }
}
