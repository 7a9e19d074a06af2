/** What a command does with `--server`, in place of its work on the database. */
import type { RecordCall } from "../command.ts";

export type OnServer = (call: RecordCall) => Promise<number>;
