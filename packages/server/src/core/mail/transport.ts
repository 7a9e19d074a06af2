/** Email transports: SMTP, the mailbox of demo mode, or none. */
import type { MailContent, MailTemplate } from "./mail.ts";

export interface DeliverableMail extends MailContent {
  /** The same for every attempt, so that mail programs can detect duplicates. */
  readonly id: string;
  readonly template: MailTemplate;
  readonly recipient: string;
}

export interface MailTransport {
  readonly kind: "smtp" | "mailbox" | "none";
  /** @throws MailFailure */
  send(mail: DeliverableMail): Promise<void>;
  close(): void;
}

/** The message is our own: no address, link or content of the email. */
export class MailFailure extends Error {
  /** Retrying is pointless. */
  readonly isFinal: boolean;
  constructor(message: string, isFinal = false) {
    super(message);
    this.name = "MailFailure";
    this.isFinal = isFinal;
  }
}

/** Demo mode without SMTP: the mailbox page reads the outbox. */
export function demoMailbox(): MailTransport {
  return { kind: "mailbox", send: async () => {}, close: () => {} };
}

/** Emails in the outbox are kept for a day, so that a temporarily missing SMTP_URL loses none. */
export function noMail(): MailTransport {
  return {
    kind: "none",
    send: async () => {
      throw new MailFailure("email is not configured");
    },
    close: () => {},
  };
}
