// Tasks as they change: those that the server lists now, then each change as it comes.
import { get } from "./api";
import type { Task, TaskList } from "./tasks";

/** Most tasks that are shown; the API has the others. */
const SHOWN = 200;

export class Following {
  tasks: Task[] = $state.raw([]);
  left_out = $state(0);
  known = $state(false);
  connected = $state(true);
  error: unknown = $state(null);

  #source: EventSource | null = null;
  #closed = false;
  #id: string | null;

  /** Follows all tasks, or the one with this id. */
  constructor(id: string | null = null) {
    this.#id = id;
    void this.#begin();
  }

  close(): void {
    this.#closed = true;
    this.#source?.close();
  }

  async #begin(): Promise<void> {
    try {
      if (this.#id === null) {
        const { tasks, left_out } = await get<TaskList>(`tasks?limit=${SHOWN}`);
        [this.tasks, this.left_out] = [tasks, left_out];
      } else {
        this.tasks = [await get<Task>(`tasks/${encodeURIComponent(this.#id)}`)];
      }
    } catch (failed) {
      this.error = failed;
      return;
    }
    this.known = true;
    if (this.#closed) return;
    const last = Math.max(0, ...this.tasks.map(({ change }) => change));
    const source = new EventSource(`/api/v1/task-events${last ? `?after=${last}` : ""}`);
    source.onopen = () => (this.connected = true);
    source.onerror = () => (this.connected = false);
    source.addEventListener("task", (event) => this.#take(JSON.parse((event as MessageEvent<string>).data) as Task));
    this.#source = source;
  }

  #take(task: Task): void {
    if (this.#id !== null && task.id !== this.#id) return;
    const at = this.tasks.findIndex(({ id }) => id === task.id);
    this.tasks = at < 0 ? [task, ...this.tasks] : this.tasks.with(at, task);
  }
}
