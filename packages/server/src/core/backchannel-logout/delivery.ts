/**
 * Delivering back-channel logouts: in the background, on every node. A row is taken by one conditional statement, so
 * that the nodes share the work and none does it twice, and a node that dies leaves its rows to the others.
 */
import { signJws } from "@signet/protocol/jose/jws";
import type { Database } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { issuerOf } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { type Outbound, OutboundFailure } from "../outbound/outbound.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import {
  claimLogout,
  findDueLogouts,
  type LogoutDelivery,
  recordLogoutOutcome,
} from "./backchannel-logout.store.ts";
import { logoutTokenClaims } from "./logout-token.ts";

export interface LogoutDeliveryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly keys: SigningKeys;
  readonly outbound: Outbound;
}

/** Between one try and the next; after the last of them it has failed. */
const DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000];
/** Well over the 5 s that a call may take. */
const CLAIM_MS = 15_000;
const AT_ONCE = { all: 50, each: 3 };
const EVERY_MS = 1_000;
/** An address that hangs holds a round for 5 s; the others go on in the next ones. */
const MOST_ROUNDS = 8;

/** One round. @returns how many were due */
export async function deliverDueLogouts(deps: LogoutDeliveryDeps): Promise<number> {
  const due = await findDueLogouts(deps.database.query, deps.clock(), AT_ONCE);
  const done = await Promise.allSettled(due.map((delivery) => deliver(deps, delivery)));
  const broken = done.find((one) => one.status === "rejected");
  if (broken) throw broken.reason;
  return due.length;
}

/** @returns a function that stops it and waits for what is under way */
export function startLogoutDelivery(
  deps: LogoutDeliveryDeps & { onError(error: unknown): void },
): () => Promise<void> {
  const rounds = new Set<Promise<void>>();
  let isStopped = false;
  const start = () => {
    if (isStopped || rounds.size >= MOST_ROUNDS) return;
    const round: Promise<void> = deliverDueLogouts(deps)
      .then((found) => {
        rounds.delete(round);
        if (found > 0) start();
      })
      .catch((error: unknown) => {
        rounds.delete(round);
        deps.onError(error);
      });
    rounds.add(round);
  };
  const timer = setInterval(start, EVERY_MS);
  timer.unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await Promise.all(rounds);
  };
}

async function deliver(deps: LogoutDeliveryDeps, due: LogoutDelivery): Promise<void> {
  const now = deps.clock();
  const taken = await claimLogout(deps.database.query, due, { now, until: now + CLAIM_MS });
  if (!taken) return;
  const error = await attempt(deps, taken);
  const at = deps.clock();
  if (error === undefined) return recordLogoutOutcome(deps.database.query, taken, { deliveredAt: at });
  const delay = error.isFinal ? undefined : DELAYS_MS[taken.attempts - 1];
  if (delay === undefined) return giveUp(deps, taken, error.reason, at);
  await recordLogoutOutcome(deps.database.query, taken, { nextAttemptAt: at + delay, error: error.reason });
}

interface Unsuccessful {
  readonly reason: string;
  /** Nobody is there to be told any more. */
  readonly isFinal?: boolean;
}

async function attempt(deps: LogoutDeliveryDeps, taken: LogoutDelivery): Promise<Unsuccessful | undefined> {
  if (taken.attempts > DELAYS_MS.length + 1) return { reason: "the last try was cut short", isFinal: true };
  const organisation = await deps.organisations.find(taken.orgId);
  const application = organisation && (await deps.applications.find(taken.orgId, taken.applicationId));
  const uri = application?.settings.backchannelLogoutUri;
  if (!application || uri === undefined)
    return { reason: "the application is no longer told", isFinal: true };
  const token = await logoutToken(deps, application, taken);
  try {
    const { status } = await deps.outbound.call(uri, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    // §2.8: 200, and some frameworks cannot help answering 204. A redirect is neither.
    return status === 200 || status === 204 ? undefined : { reason: `the application answered ${status}` };
  } catch (error) {
    if (error instanceof OutboundFailure) return { reason: error.message };
    throw error;
  }
}

/** Signed as the application's ID tokens are (§2.6), so that it verifies both alike; an application of a pool has none. */
async function logoutToken(
  deps: LogoutDeliveryDeps,
  { id, orgId, settings }: Application,
  { userId, sessionId }: LogoutDelivery,
): Promise<string> {
  const { alg, kid, privateKey } = await deps.keys.signer(orgId, settings.idTokenSignedResponseAlg);
  const issuer = issuerOf(deps.baseUrl, orgId);
  const payload = logoutTokenClaims({ issuer, applicationId: id, userId, sessionId }, deps.clock());
  return signJws({ alg, kid, privateKey, typ: "logout+jwt", payload });
}

async function giveUp(
  { database }: LogoutDeliveryDeps,
  taken: LogoutDelivery,
  reason: string,
  now: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    await recordLogoutOutcome(tx, taken, { failedAt: now, error: reason });
    await recordAuditEvent(tx, {
      orgId: taken.orgId,
      at: now,
      actor: "system",
      action: "backchannel-logout.failed",
      target: taken.applicationId,
      details: { sessionId: taken.sessionId, attempts: taken.attempts, reason },
    });
  });
}
