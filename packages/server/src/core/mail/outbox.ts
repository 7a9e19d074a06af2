/**
 * Mails are written down in the transaction of the act that they tell of, links sealed, and sent afterwards in the
 * background: an act without its mail does not exist, and a mail without its act does not either.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { insertMail, type StoredMail } from "./mail.store.ts";
import type { Mail, OutgoingMail } from "./mail.ts";

export interface Outbox {
  /** False when mail is not set up: who needs mail says so, and nothing is written. */
  readonly isOpen: boolean;
  /** @param tx the transaction of the act. @throws Error when mail is not set up */
  put(tx: Db, mail: NewMail): Promise<void>;
  /** Hears that something was put in, so that it goes out soon; the transaction may be under way still. */
  onPut(listener: () => void): void;
}

export interface NewMail {
  readonly orgId: string;
  readonly recipient: string;
  /** A tag of one of our message files. */
  readonly locale: string;
  readonly mail: Mail;
  /** The same work as for a mail, and a row that nobody sends: an address that nobody has takes no less time. */
  readonly isDecoy?: boolean;
}

export interface OutboxDeps {
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly isOpen: boolean;
}

const DAY_MS = 86_400_000;

export function outbox({ encryption, clock, isOpen }: OutboxDeps): Outbox {
  const listeners: Array<() => void> = [];
  return {
    isOpen,
    put: async (tx, { orgId, recipient, locale, mail, isDecoy = false }) => {
      if (!isOpen) throw new Error("mail is not set up");
      const id = newUuid();
      const now = clock();
      const { template, data } = mail;
      await insertMail(tx, {
        orgId,
        id,
        recipient: isDecoy ? "" : recipient,
        template,
        locale,
        sealed: encryption.seal(Buffer.from(JSON.stringify(data)), rowName(orgId, id)),
        attempts: 0,
        createdAt: now,
        giveUpAt: giveUpAt(mail, now),
        failedAt: isDecoy ? now : null,
      });
      for (const listener of listeners) listener();
    },
    onPut: (listener) => {
      listeners.push(listener);
    },
  };
}

/** A link that has expired is of no use to anybody. */
function giveUpAt({ data }: Mail, now: number): number {
  return "link" in data ? Math.min(now + DAY_MS, data.expiresAt) : now + DAY_MS;
}

/** @throws when the content was altered, or sealed under another master key */
export function openMail(encryption: Encryption, stored: StoredMail): OutgoingMail {
  const { orgId, id, recipient, locale, template, sealed, createdAt } = stored;
  const data: unknown = JSON.parse(encryption.open(sealed, rowName(orgId, id)).toString());
  return { orgId, id, recipient, locale, mail: { template, data } as Mail, createdAt };
}

const rowName = (orgId: string, id: string) => `outgoing-mail|${orgId}|${id}`;
