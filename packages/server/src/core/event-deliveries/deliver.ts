/**
 * Sends from the queue of one target, in order: whoever claims it sends the first delivery, then the next one. A failure holds the queue
 * until the next try; after the last one the delivery is dead, and the queue goes on. A node that dies holds it until its claim ends;
 * what it had sent without being able to say so is sent again, with the same id.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { CoreDeps } from "../core-deps.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { firstAttemptAt, recordAttempt, takeFirst } from "./deliveries.store.ts";
import type { AttemptOutcome, EventDelivery, TargetKinds } from "./target-kind.ts";
import { claimTarget, type DueTarget, dropClaim, releaseTarget, renewClaim } from "./targets.store.ts";

export interface DeliverDeps extends CoreDeps {
  readonly kinds: TargetKinds;
  readonly organisations: OrganisationDirectory;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** After the first, second, … attempt; after one more the delivery is dead (connections.md §8). */
export const RETRY_DELAYS_MS: readonly number[] = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  ...[HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR],
];
/** Six times as long as a call may take. */
const CLAIM_MS = 30 * SECOND;
/** In a row, until other targets have their turn. */
const MAX_IN_A_ROW = 50;
/** A suspended organisation's queue is looked at so often. */
const SUSPENDED_MS = MINUTE;

/** @returns how many attempts were made */
export async function deliverTarget(
  deps: DeliverDeps,
  target: DueTarget,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const { database, clock, organisations } = deps;
  const claim = newUuid();
  const now = clock();
  if (!(await claimTarget(database.query, target, { claim, now, until: now + CLAIM_MS }))) return 0;
  try {
    if ((await organisations.find(target.orgId)) === undefined) {
      await dropClaim(database.query, target, { claim, at: now + SUSPENDED_MS });
      return 0;
    }
    for (let made = 0; made < MAX_IN_A_ROW && !isStopped(); made++)
      if (!(await deliverFirst(deps, target, claim))) return made;
  } catch (error) {
    await dropClaim(database.query, target, { claim, at: clock() + SECOND }).catch(() => {});
    throw error;
  }
  await dropClaim(database.query, target, { claim });
  return MAX_IN_A_ROW;
}

/** @returns false when nothing is due, and the claim is given back */
async function deliverFirst(
  { database: { query }, clock, kinds }: DeliverDeps,
  target: DueTarget,
  claim: string,
): Promise<boolean> {
  const sender = kinds[target.kind];
  const now = clock();
  const until = now + CLAIM_MS;
  if (!sender) throw new Error(`unknown kind of target: ${target.kind}`);
  const position = await renewClaim(query, target, { claim, until });
  if (position === undefined) {
    // Disabled meanwhile; or another node's, which keeps it.
    await dropClaim(query, target, { claim });
    return false;
  }
  const delivery = await takeFirst(query, target, { now, until });
  if (!delivery) {
    const at = (await firstAttemptAt(query, target)) ?? null;
    // What has come meanwhile is looked at in the next turn.
    return !(await releaseTarget(query, target, { claim, position, at }));
  }
  const outcome = await sender.attempt(delivery);
  const { status, error = null } = outcome;
  await recordAttempt(query, delivery, { ...nextState(delivery, outcome, clock()), status, error });
  return true;
}

function nextState({ attempts }: EventDelivery, { error, isFinal }: AttemptOutcome, at: number) {
  if (error === undefined) return { state: "delivered", at } as const;
  const delay = isFinal ? undefined : RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return { state: "dead", at } as const;
  return { state: "pending", at, nextAttemptAt: at + delay } as const;
}
