/** Renders emails: the outbox stores what happened, the message files say it in the reader's language. */
import { type ComposeMail, type OutgoingMail, outsideTemplates } from "../core/mail/mail.ts";
import { issuerOf } from "../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { organisationName, quoted, quotedIfLong } from "../html/displayed-name.ts";
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
): Promise<{ body: MailBody; words: Messages; senderName: string } | undefined> {
  const organisation = await organisations.find(orgId);
  if (!organisation) return undefined;
  const { settings } = organisation;
  const words = messages([locale, settings.defaultLocale]);
  const name = organisationName(words, organisation);
  const homeOrgId = "homeOrgId" in mail.data ? mail.data.homeOrgId : undefined;
  const isOutside = homeOrgId !== undefined || outsideTemplates.includes(mail.template);
  const shown = isOutside ? quoted(words, name) : quotedIfLong(words, name);
  const view = {
    organisation: { name: shown, accentColor: settings.branding.accentColor },
    service: new URL(baseUrl).host,
    recoveryUri: `${issuerOf(baseUrl, homeOrgId ?? orgId)}/recovery`,
  };
  const body = mailBody({ ...view, ...mail }, words);
  const { subject, paragraphs } = body;
  const { test } = words.mails;
  return {
    words,
    senderName: name,
    body: mail.data.isTest
      ? { ...body, subject: test.subject({ title: subject }), paragraphs: [test.text, ...paragraphs] }
      : body,
  };
}

export function mailComposer(deps: MailContentDeps): ComposeMail {
  return async (mail) => {
    const found = await renderBody(deps, mail);
    if (!found) return undefined;
    const { body, words, senderName } = found;
    return {
      senderName,
      locale: words.locale,
      subject: body.subject,
      text: mailText(body, words),
      html: render(mailHtml(body, words)),
    };
  };
}
