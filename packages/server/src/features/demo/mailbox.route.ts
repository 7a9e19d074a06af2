/** The demo mailbox: emails of the outbox, shown instead of sent. Demo mode only. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Encryption } from "../../core/encryption/encryption.ts";
import { findReadableMail, listReadableMails, type StoredMail } from "../../core/mail/mail.store.ts";
import type { OutgoingMail } from "../../core/mail/mail.ts";
import { decryptMail } from "../../core/mail/outbox.ts";
import type { Database } from "../../db/open.ts";
import { render } from "../../html/html.ts";
import type { PageFrame } from "../../html/layout.ts";
import type { MailBody } from "../../html/mails/mail-body.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { stylesheet } from "../../html/stylesheet.ts";
import { NotFound } from "../../http/errors.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import { mailboxPage, mailPage } from "./mailbox.page.ts";

export interface MailboxDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  composeBody(mail: OutgoingMail): Promise<MailBody | undefined>;
}

const MAX_MAILS = 50;

export function mailboxRoutes(app: FastifyInstance, deps: MailboxDeps): void {
  app.get("/demo/mailbox", async (request, reply) => {
    const frame = pageFrame(request);
    const stored = await listReadableMails(deps.database.query, MAX_MAILS);
    const opened = await Promise.all(stored.map((mail) => readMail(deps, mail)));
    const mails = opened.flatMap((mail) =>
      mail
        ? [
            {
              uri: `/demo/mailbox/${mail.id}`,
              subject: mail.body.subject,
              recipient: mail.recipient,
              at: mail.at,
            },
          ]
        : [],
    );
    await sendPage(reply, render(mailboxPage({ ...frame, mails })), { nonce: frame.nonce });
    return reply;
  });

  app.get("/demo/mailbox/:id", async (request, reply) => {
    const { id = "" } = request.params as { id?: string };
    const stored = isUuid(id) ? await findReadableMail(deps.database.query, id.toLowerCase()) : undefined;
    const mail = stored && (await readMail(deps, stored));
    if (!mail) throw new NotFound("mail");
    const frame = pageFrame(request);
    const page = mailPage({ ...frame, ...mail, mailboxUri: "/demo/mailbox" });
    await sendPage(reply, render(page), { nonce: frame.nonce });
    return reply;
  });
}

async function readMail(deps: MailboxDeps, stored: StoredMail) {
  const { id, recipient, createdAt: at } = stored;
  const body = await deps.composeBody(decryptMail(deps.encryption, stored));
  return body && { id, recipient, at, body };
}

function pageFrame(request: FastifyRequest): PageFrame {
  return {
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
}
