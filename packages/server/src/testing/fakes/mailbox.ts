/** Reads pending emails in a test service's outbox as its worker would. */

import type { StoredMail } from "../../core/mail/mail.store.ts";
import type { Mail, MailTemplate } from "../../core/mail/mail.ts";
import { decryptMail } from "../../core/mail/outbox.ts";
import type { Service } from "../../modules/open-service.ts";

/** Settings that enable email; nothing listens on the address. */
export const MAIL_ENV = { SMTP_URL: "smtp://127.0.0.1:9", SIGNET_MAIL_FROM: "no-reply@id.example" };

export interface WaitingMail {
  readonly orgId: string;
  readonly recipient: string;
  readonly locale: string;
  readonly mail: Mail;
}

/** Oldest first; decoys are left out. */
export async function mailsTo({ database, encryption }: Service, recipient: string): Promise<WaitingMail[]> {
  const rows = await database.query
    .selectFrom("outgoing_mail")
    .selectAll()
    .where("recipient", "=", recipient)
    .orderBy("id")
    .execute();
  return rows.map((row) => {
    const stored: StoredMail = {
      orgId: row.org_id,
      id: row.id,
      recipient: row.recipient,
      template: row.template as MailTemplate,
      locale: row.locale,
      sealed: row.data,
      attempts: row.attempts,
      createdAt: row.created_at,
      giveUpAt: row.give_up_at,
    };
    return decryptMail(encryption, stored);
  });
}

/** The link in the newest email that has one. */
export async function newestLink(service: Service, recipient: string): Promise<string> {
  const links = (await mailsTo(service, recipient)).flatMap(({ mail }) =>
    "link" in mail.data ? [mail.data.link] : [],
  );
  const link = links.at(-1);
  if (link === undefined) throw new Error(`no mail with a link to ${recipient}`);
  return link;
}

/** The page that the newest link redirects to. */
export async function newestLinkPage(service: Service, recipient: string): Promise<string> {
  const link = await newestLink(service, recipient);
  const { headers } = await fetch(link, { redirect: "manual" });
  return new URL(headers.get("location") ?? "", link).href;
}

/** The newest link as an API client calls it (specification, "Legacy API"). */
export async function newestApiLink(service: Service, recipient: string): Promise<string> {
  const link = await newestLink(service, recipient);
  const template = (await mailsTo(service, recipient)).findLast(({ mail }) => "link" in mail.data)?.mail
    .template;
  const { origin, pathname } = new URL(link);
  const id = pathname.split("/").at(-1);
  return template === "VerifyEmail"
    ? `${origin}/legacy/api/Authentication/User/Register/Complete/${id}`
    : `${origin}/legacy/api/Authentication/Action/${id}/${template}`;
}
