// What the drives of a host do together.
import type { RecordedDrive } from "./watched";

/** I/Os per second of the drives themselves: mappings, arrays and loop devices above them would count each once more. */
export const together = (drives: Pick<RecordedDrive, "kind" | "iops">[]): number => drives.filter((drive) => drive.kind === "disk").reduce((sum, drive) => sum + drive.iops.mean, 0);
