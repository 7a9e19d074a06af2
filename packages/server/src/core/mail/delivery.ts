/** Sends the outbox: emails are rendered and decrypted at each attempt, and retried for a day at most. */
import { inSpan } from "../../telemetry/tracing.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { type Delivery, deliverDue, startOutbox } from "../outbox/outbox.ts";
import { outgoingMails, type StoredMail, storedMail } from "./mail.store.ts";
import { type ComposeMail, type MailTemplate, type OutgoingMail, undisclosedTemplates } from "./mail.ts";
import { decryptMail, type Outbox } from "./outbox.ts";
import { type DeliverableMail, MailFailure, type MailTransport } from "./transport.ts";

export interface MailDeliveryDeps extends CoreDeps {
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
/** Longer than the transport needs for an email. */
const CLAIM_MS = 300_000;
/** Connections to the mail server at once. */
const LIMITS = { all: 8, organisation: 4, queue: 4 };
const ROUND_INTERVAL_MS = 5_000;
/** Most transactions have committed by then; the next round sends the rest. */
const SOON_MS = 100;
const STOP_MS = 3_000;

/** Sends due emails. @returns how many were due */
export const deliverDueMails = (deps: MailDeliveryDeps): Promise<number> =>
  deliverDue(deps, mailDelivery(deps));

/** @returns a function that stops it: emails being sent get a few seconds, and are otherwise sent again later */
export function startMailDelivery(
  deps: MailDeliveryDeps & { outbox: Outbox; onError(error: unknown): void },
): () => Promise<void> {
  const worker = startOutbox(deps, mailDelivery(deps), { everyMs: ROUND_INTERVAL_MS });
  deps.outbox.onPut(() => setTimeout(worker.run, SOON_MS).unref());
  worker.run();
  return async () => {
    const stopped = worker.stop();
    await Promise.race([stopped, delay(STOP_MS)]);
    deps.transport.close();
    await Promise.race([stopped, delay(STOP_MS)]);
  };
}

const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref());

function mailDelivery(deps: MailDeliveryDeps): Delivery<StoredMail, "outgoing_mail"> {
  const keepsContent = deps.transport.kind === "mailbox";
  const outcomes = {
    delivered: keepsContent ? "in the mailbox" : "sent",
    "will retry": "will be tried again",
    "given up": "given up",
  } as const;
  return {
    table: outgoingMails,
    claimMs: CLAIM_MS,
    limits: LIMITS,
    keepsContent,
    fromRow: storedMail,
    attempt: (mail) => attempt(deps, mail),
    retryMs: (attempts) => DELAYS_MS[attempts - 1] ?? LAST_DELAY_MS,
    giveUpAt: ({ giveUpAt }) => giveUpAt,
    failureEvent: ({ id, template }) =>
      undisclosedTemplates.includes(template)
        ? undefined
        : { action: "mail.failed", target: id, details: { template } },
    log: ({ template, attempts }, outcome, reason) =>
      deps.note({
        template,
        attempts,
        outcome: outcomes[outcome],
        ...(reason === undefined ? {} : { reason }),
      }),
  };
}

async function attempt(deps: MailDeliveryDeps, stored: StoredMail): Promise<MailFailure | undefined> {
  if (deps.clock() >= stored.giveUpAt) return new MailFailure("it expired", true);
  const mail = readMail(deps, stored);
  const content = mail && (await deps.compose(mail));
  if (!mail) return new MailFailure("it can't be decrypted with this master key", true);
  if (!content) return new MailFailure("the organisation is disabled or deleted", true);
  const { id, template, recipient } = stored;
  const deliverable: DeliverableMail = { ...content, id, template, recipient };
  try {
    await inSpan("mail", deps.transport.send, deliverable);
    return undefined;
  } catch (error) {
    if (error instanceof MailFailure) return error;
    throw error;
  }
}

function readMail({ encryption }: MailDeliveryDeps, stored: StoredMail): OutgoingMail | undefined {
  try {
    return decryptMail(encryption, stored);
  } catch {
    return undefined;
  }
}
