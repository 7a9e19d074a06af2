/** Renders emails: the outbox stores what happened, the message files say it in the reader's language. */

import { type ComposeMail, type OutgoingMail, outsideTemplates } from "../core/mail/mail.ts";
import type { MailText } from "../core/mail/mail-text.ts";
import { findMailText } from "../core/mail/mail-texts.store.ts";
import { fillVariables, isEditable } from "../core/mail/mail-texts.ts";
import { issuerOf } from "../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import type { Database } from "../db/open.ts";
import { organisationName, quoted, quotedIfLong } from "../html/displayed-name.ts";
import { render } from "../html/html.ts";
import { type MailBody, mailHtml, mailText } from "../html/mails/mail-body.ts";
import { mailBody } from "../html/mails/mails.ts";
import { withOwnText } from "../html/mails/own-text.ts";
import { type Messages, messages } from "../html/messages/messages.ts";

export interface MailContentDeps {
  readonly baseUrl: string;
  readonly database: Database;
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
  deps: MailContentDeps,
  { orgId, locale, mail }: OutgoingMail,
  draft?: MailText,
): Promise<{ body: MailBody; words: Messages; senderName: string } | undefined> {
  const { baseUrl } = deps;
  const organisation = await deps.organisations.find(orgId);
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
  const builtIn = mailBody({ ...view, ...mail }, words);
  const own = draft ?? (await ownText(deps, { orgId, locale: words.locale, mail }));
  const inWords = { messages: words, fill: fillVariables };
  const body = own ? withOwnText({ ...view, ...mail }, builtIn, own, inWords) : builtIn;
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

/** The organisation's own, for readers who are known to be its users. */
async function ownText(
  { database }: MailContentDeps,
  { orgId, locale, mail }: Pick<OutgoingMail, "orgId" | "locale" | "mail">,
): Promise<MailText | undefined> {
  const { template, data } = mail;
  if (!isEditable(template) || !data.isVerified) return undefined;
  return (await findMailText(database.query, { orgId, template, locale }))?.text;
}

export function mailComposer(deps: MailContentDeps): ComposeMail {
  return async (mail, draft) => {
    const found = await renderBody(deps, mail, draft);
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
