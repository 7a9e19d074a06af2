/**
 * The outbox: emails are stored, encrypted, in the transaction of the change they report, and sent in the background.
 * Neither exists without the other.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import { insertMail, type StoredMail } from "./mail.store.ts";
import type { Mail, OutgoingMail } from "./mail.ts";

export interface Outbox {
  /** False without SMTP: nothing is stored, and features that need email say so. */
  readonly isOpen: boolean;
  /** @param tx the transaction of the change. @throws Error without SMTP */
  put(tx: Db, mail: NewMail): Promise<void>;
  /** Called when an email was put in, so that it is sent soon; its transaction may still be open. */
  onPut(listener: () => void): void;
}

export interface NewMail {
  readonly orgId: string;
  readonly recipient: string;
  /** The language of a message file. */
  readonly locale: string;
  readonly mail: Mail;
  /**
   * The same work as for an email, and a row that counts as handled: nothing sends it, and no count, list or log tells it from
   * an email.
   */
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
      if (!isOpen) throw new Error("email is not configured");
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
        sentAt: isDecoy ? now : null,
      });
      for (const listener of listeners) listener();
    },
    onPut: (listener) => {
      listeners.push(listener);
    },
  };
}

/** An expired link, or code, is not worth sending. */
function giveUpAt({ data }: Mail, now: number): number {
  return "expiresAt" in data ? Math.min(now + DAY_MS, data.expiresAt) : now + DAY_MS;
}

/** @throws when the content was modified, or encrypted under another master key */
export function decryptMail(encryption: Encryption, stored: StoredMail): OutgoingMail {
  const { orgId, id, recipient, locale, template, sealed, createdAt } = stored;
  const data: unknown = JSON.parse(encryption.open(sealed, rowName(orgId, id)).toString());
  return { orgId, id, recipient, locale, mail: { template, data } as Mail, createdAt };
}

export const sealedMails = sealedColumn({
  table: "outgoing_mail",
  column: "data",
  key: ["org_id", "id"],
  rowName: ({ org_id, id }) => rowName(String(org_id), String(id)),
});

const rowName = (orgId: string, id: string) => `outgoing-mail|${orgId}|${id}`;
