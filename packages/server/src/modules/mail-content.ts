/** Renders emails: the outbox stores what happened, the message files say it in the reader's language. */
import type { ComposeMail, OutgoingMail } from "../core/mail/mail.ts";
import { issuerOf } from "../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { render } from "../html/html.ts";
import { type MailBody, mailHtml, mailText } from "../html/mails/mail-body.ts";
import { mailBody } from "../html/mails/mails.ts";
import { type Messages, messages } from "../html/messages/messages.ts";

export interface MailContentDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
}

/** @returns undefined when the organisation is disabled or deleted */
export async function composeMailBody(
  deps: MailContentDeps,
  mail: OutgoingMail,
): Promise<MailBody | undefined> {
  return (await renderBody(deps, mail))?.body;
}

/** In the recipient's language, or the organisation's. */
async function renderBody(
  { baseUrl, organisations }: MailContentDeps,
  { orgId, locale, mail }: OutgoingMail,
): Promise<{ body: MailBody; words: Messages } | undefined> {
  const organisation = await organisations.find(orgId);
  if (!organisation) return undefined;
  const { name, settings } = organisation;
  const words = messages([locale, settings.defaultLocale]);
  const homeOrgId = "homeOrgId" in mail.data ? mail.data.homeOrgId : undefined;
  const view = {
    organisation: { name, accentColor: settings.branding.accentColor },
    recoveryUri: `${issuerOf(baseUrl, homeOrgId ?? orgId)}/recovery`,
  };
  const body = mailBody({ ...view, ...mail }, words);
  const { subject, paragraphs } = body;
  const { test } = words.mails;
  return {
    words,
    body: mail.data.isTest
      ? { ...body, subject: test.subject({ title: subject }), paragraphs: [test.text, ...paragraphs] }
      : body,
  };
}

export function mailComposer(deps: MailContentDeps): ComposeMail {
  return async (mail) => {
    const found = await renderBody(deps, mail);
    if (!found) return undefined;
    const { body, words } = found;
    return {
      senderName: body.organisation.name,
      locale: words.locale,
      subject: body.subject,
      text: mailText(body, words),
      html: render(mailHtml(body, words)),
    };
  };
}
