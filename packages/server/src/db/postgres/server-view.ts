/** What the server says, on a connection of its own, of the processes behind other connections. */
import { Socket } from "node:net";
import pg from "pg";

export interface ServerView {
  /** False behind a pooler, which makes up the process ids that it tells. */
  readonly knowsProcesses: boolean;
  /** Those of the processes asked for that are executing a statement, or waiting for a lock in one. */
  readonly running: ReadonlySet<number>;
}

const ANSWER_MS = 1_000;

/** @returns undefined when the server isn't reached, or doesn't answer within a second */
export async function viewFromNewConnection(
  url: string,
  processIds: readonly number[],
): Promise<ServerView | undefined> {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: url, stream: () => socket });
  client.on("error", () => {});
  const late = setTimeout(() => socket.destroy(), ANSWER_MS);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; pid: number | null }>(
      `select pg_backend_pid() as own, pid from (select 1) as one
        left join pg_stat_activity on pid = any($1::int[]) and state not like 'idle%'`,
      [processIds],
    );
    const { processID: own } = client as unknown as { processID: number | null };
    return {
      knowsProcesses: rows[0]?.own === own,
      running: new Set(rows.flatMap(({ pid }) => pid ?? [])),
    };
  } catch {
    return undefined;
  } finally {
    clearTimeout(late);
    client.end().catch(() => {});
    socket.destroySoon();
  }
}
