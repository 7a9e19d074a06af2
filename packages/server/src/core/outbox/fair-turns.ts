/**
 * Whose rows of the outbox are next on this node: organisations take turns, the one that was served longest ago first, and
 * none has more than its share under way. So an organisation whose deliveries are slow, or many, delays only its own.
 */
import type { DueRow } from "./due-rows.store.ts";

/** How many deliveries are under way on this node at once. */
export interface OutboxLimits {
  readonly all: number;
  readonly organisation: number;
  /** Of one queue of an organisation (`OutboxTable.queueBy`). */
  readonly queue: number;
}

export interface FairTurns {
  /** Organisations that have their whole share: their rows need not be looked for. */
  full(): string[];
  hasRoom(): boolean;
  /** Takes the next rows, as many as may run now; each is given back with `end`. */
  begin(due: readonly DueRow[]): DueRow[];
  end(row: DueRow): void;
}

/** Whoever was served before all of these counts as never served. */
const MAX_REMEMBERED = 5_000;

export function fairTurns(limits: OutboxLimits): FairTurns {
  const organisations = new Map<string, number>();
  const queues = new Map<string, number>();
  /** In the order of their last turns. */
  const served = new Map<string, number>();
  let turn = 0;
  let underWay = 0;

  const serve = (orgId: string) => {
    served.delete(orgId);
    served.set(orgId, ++turn);
    if (served.size > MAX_REMEMBERED) served.delete(served.keys().next().value as string);
  };
  const fits = ({ orgId, queue }: DueRow) =>
    underWay < limits.all &&
    (organisations.get(orgId) ?? 0) < limits.organisation &&
    (queues.get(queue) ?? 0) < limits.queue;
  return {
    full: () =>
      [...organisations].filter(([, count]) => count >= limits.organisation).map(([orgId]) => orgId),
    hasRoom: () => underWay < limits.all,
    begin: (due) => {
      const lastTurns = new Map(due.map(({ orgId }) => [orgId, served.get(orgId) ?? 0]));
      const inTurn = due.toSorted(
        (a, b) =>
          a.place - b.place ||
          (lastTurns.get(a.orgId) ?? 0) - (lastTurns.get(b.orgId) ?? 0) ||
          a.nextAttemptAt - b.nextAttemptAt,
      );
      return inTurn.filter((row) => {
        if (!fits(row)) return false;
        underWay++;
        count(organisations, row.orgId, 1);
        count(queues, row.queue, 1);
        serve(row.orgId);
        return true;
      });
    },
    end: ({ orgId, queue }) => {
      underWay--;
      count(organisations, orgId, -1);
      count(queues, queue, -1);
    },
  };
}

function count(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const now = (counts.get(key) ?? 0) + by;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}
