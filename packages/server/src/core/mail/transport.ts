/** How a mail leaves the service: over SMTP, into the mailbox of demo mode, or not at all. */
import type { MailContent, MailTemplate } from "./mail.ts";

/** A mail with everything that its transport needs. */
export interface DeliverableMail extends MailContent {
  /** The same at every try, so that mail programs can tell a repeat. */
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

/** Its message is ours: no address, no link, no text of a mail. */
export class MailFailure extends Error {
  /** Trying again is of no use. */
  readonly isFinal: boolean;
  constructor(message: string, isFinal = false) {
    super(message);
    this.name = "MailFailure";
    this.isFinal = isFinal;
  }
}

/** Demo mode without SMTP: the outbox itself is the mailbox, and its page reads it there. */
export function demoMailbox(): MailTransport {
  return { kind: "mailbox", send: async () => {}, close: () => {} };
}

/** What is in the outbox waits for a day: an operator who set SMTP_URL, lost it and sets it again loses no mail. */
export function noMail(): MailTransport {
  return {
    kind: "none",
    send: async () => {
      throw new MailFailure("mail is not set up");
    },
    close: () => {},
  };
}
