/** The mailbox of demo mode: what would have been sent, read from the outbox. Nowhere else is there such a page. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Encryption } from "../../core/encryption/encryption.ts";
import { findReadableMail, listReadableMails, type StoredMail } from "../../core/mail/mail.store.ts";
import type { OutgoingMail } from "../../core/mail/mail.ts";
import { openMail } from "../../core/mail/outbox.ts";
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
  /** The mail in words. */
  bodyOf(mail: OutgoingMail): Promise<MailBody | undefined>;
}

const PATH = "/demo/mailbox";
const MOST = 50;

export function mailboxRoutes(app: FastifyInstance, deps: MailboxDeps): void {
  app.get(PATH, async (request, reply) => {
    const frame = frameOf(request);
    const stored = await listReadableMails(deps.database.query, MOST);
    const read = await Promise.all(stored.map((mail) => readMail(deps, mail)));
    const mails = read.flatMap((mail) =>
      mail
        ? [{ uri: `${PATH}/${mail.id}`, subject: mail.body.subject, recipient: mail.recipient, at: mail.at }]
        : [],
    );
    await sendPage(reply, render(mailboxPage({ ...frame, mails })), { nonce: frame.nonce });
    return reply;
  });

  app.get(`${PATH}/:id`, async (request, reply) => {
    const { id = "" } = request.params as { id?: string };
    const stored = isUuid(id) ? await findReadableMail(deps.database.query, id.toLowerCase()) : undefined;
    const mail = stored && (await readMail(deps, stored));
    if (!mail) throw new NotFound("mail");
    const frame = frameOf(request);
    const page = mailPage({ ...frame, ...mail, mailboxUri: PATH });
    await sendPage(reply, render(page), { nonce: frame.nonce });
    return reply;
  });
}

interface ReadMail {
  readonly id: string;
  readonly recipient: string;
  readonly at: number;
  readonly body: MailBody;
}

async function readMail(deps: MailboxDeps, stored: StoredMail): Promise<ReadMail | undefined> {
  const { id, recipient, createdAt: at } = stored;
  const body = await deps.bodyOf(openMail(deps.encryption, stored));
  return body && { id, recipient, at, body };
}

function frameOf(request: FastifyRequest): PageFrame {
  return {
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
}
