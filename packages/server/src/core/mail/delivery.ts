/**
 * Sends the outbox in the background, on every node. One conditional statement claims an email, so that nodes share
 * the work, none is sent twice, and a dead node's emails are sent by others.
 */
import type { Database } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { claimMail, findDueMails, recordMailOutcome, type StoredMail } from "./mail.store.ts";
import type { ComposeMail, MailTemplate, OutgoingMail } from "./mail.ts";
import { type Outbox, openMail } from "./outbox.ts";
import { type DeliverableMail, MailFailure, type MailTransport } from "./transport.ts";

export interface MailDeliveryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly compose: ComposeMail;
  readonly transport: MailTransport;
  /** Logs one line, without recipient and content. */
  note(line: MailLine): void;
}

export interface MailLine {
  readonly template: MailTemplate;
  readonly outcome: "sent" | "in the mailbox" | "will be tried again" | "given up";
  readonly attempts: number;
  readonly reason?: string;
}

/** Between attempts; then hourly, until the email is given up. */
const DELAYS_MS = [10_000, 60_000, 300_000, 900_000];
const LAST_DELAY_MS = 3_600_000;
/** Longer than the transport needs for all emails of a round. */
const CLAIM_MS = 300_000;
const CONCURRENCY = { all: 8, each: 4 };
const ROUND_INTERVAL_MS = 5_000;
/** Most transactions have committed by then; the next round sends the rest. */
const SOON_MS = 100;
const STOP_MS = 3_000;

/** Sends due emails. @returns how many were due */
export async function deliverDueMails(deps: MailDeliveryDeps): Promise<number> {
  const due = await findDueMails(deps.database.query, deps.clock(), CONCURRENCY);
  const done = await Promise.allSettled(due.map((mail) => deliver(deps, mail)));
  const broken = done.find((one) => one.status === "rejected");
  if (broken) throw broken.reason;
  return due.length;
}

/** @returns a function that stops it: emails being sent get a few seconds, and are otherwise sent again later */
export function startMailDelivery(
  deps: MailDeliveryDeps & { outbox: Outbox; onError(error: unknown): void },
): () => Promise<void> {
  let round: Promise<void> | undefined;
  let isStopped = false;
  const startRound = () => {
    if (isStopped || round) return;
    round = deliverDueMails(deps)
      .catch((error: unknown) => {
        deps.onError(error);
        return 0;
      })
      .then((found) => {
        round = undefined;
        if (found > 0) startRound();
      });
  };
  const timer = setInterval(startRound, ROUND_INTERVAL_MS);
  timer.unref();
  deps.outbox.onPut(() => setTimeout(startRound, SOON_MS).unref());
  startRound();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await Promise.race([round, delay(STOP_MS)]);
    deps.transport.close();
    await Promise.race([round, delay(STOP_MS)]);
  };
}

const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref());

async function deliver(deps: MailDeliveryDeps, due: StoredMail): Promise<void> {
  const { database, clock, transport } = deps;
  const now = clock();
  const taken = await claimMail(database.query, due, { now, until: now + CLAIM_MS });
  if (!taken) return;
  const { template, attempts } = taken;
  if (now >= taken.giveUpAt) return giveUp(deps, taken, "it expired", now);
  const failure = await attempt(deps, taken);
  const at = clock();
  if (!failure) {
    const isMailbox = transport.kind === "mailbox";
    await recordMailOutcome(database.query, taken, { sentAt: at, keepsContent: isMailbox });
    deps.note({ template, attempts, outcome: isMailbox ? "in the mailbox" : "sent" });
    return;
  }
  const reason = failure.message;
  const nextAttemptAt = at + (DELAYS_MS[attempts - 1] ?? LAST_DELAY_MS);
  if (failure.isFinal || nextAttemptAt >= taken.giveUpAt) return giveUp(deps, taken, reason, at);
  await recordMailOutcome(database.query, taken, { nextAttemptAt, error: reason });
  deps.note({ template, attempts, outcome: "will be tried again", reason });
}

async function attempt(deps: MailDeliveryDeps, taken: StoredMail): Promise<MailFailure | undefined> {
  const mail = readMail(deps, taken);
  const content = mail && (await deps.compose(mail));
  if (!mail) return new MailFailure("it can't be decrypted with this master key", true);
  if (!content) return new MailFailure("the organisation is disabled or deleted", true);
  const { id, template, recipient } = taken;
  const deliverable: DeliverableMail = { ...content, id, template, recipient };
  try {
    await deps.transport.send(deliverable);
    return undefined;
  } catch (error) {
    if (error instanceof MailFailure) return error;
    throw error;
  }
}

function readMail({ encryption }: MailDeliveryDeps, taken: StoredMail): OutgoingMail | undefined {
  try {
    return openMail(encryption, taken);
  } catch {
    return undefined;
  }
}

async function giveUp(deps: MailDeliveryDeps, taken: StoredMail, reason: string, now: number): Promise<void> {
  const { orgId, template, attempts } = taken;
  await deps.database.transaction(async (tx) => {
    await recordMailOutcome(tx, taken, { failedAt: now, error: reason });
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: "system",
      action: "mail.failed",
      target: taken.id,
      details: { template, attempts, reason },
    });
  });
  deps.note({ template, attempts, outcome: "given up", reason });
}
