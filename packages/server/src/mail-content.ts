/** The words of a mail on its way: the core's outbox knows what happened, the pages' message files how to say it. */
import type { ComposeMail, OutgoingMail } from "./core/mail/mail.ts";
import { issuerOf } from "./core/organisations/organisation.ts";
import type { OrganisationDirectory } from "./core/organisations/organisations.ts";
import { render } from "./html/html.ts";
import { type MailBody, mailHtml, mailText } from "./html/mails/mail-body.ts";
import { mailBody } from "./html/mails/mails.ts";
import { messages } from "./html/messages/messages.ts";

export interface MailContentDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
}

/** @returns undefined when the organisation is disabled or gone */
export async function mailBodyOf(
  { baseUrl, organisations }: MailContentDeps,
  { orgId, locale, mail }: OutgoingMail,
): Promise<MailBody | undefined> {
  const organisation = await organisations.find(orgId);
  if (!organisation) return undefined;
  const { name, settings } = organisation;
  const homeOrgId = "homeOrgId" in mail.data ? mail.data.homeOrgId : undefined;
  const view = {
    organisation: { name, accentColor: settings.branding.accentColor },
    recoveryUri: `${issuerOf(baseUrl, homeOrgId ?? orgId)}/recovery`,
  };
  return mailBody({ ...view, ...mail }, messages([locale]));
}

export function mailComposer(deps: MailContentDeps): ComposeMail {
  return async (mail) => {
    const body = await mailBodyOf(deps, mail);
    if (!body) return undefined;
    const words = messages([mail.locale]);
    return {
      senderName: body.organisation.name,
      locale: words.locale,
      subject: body.subject,
      text: mailText(body, words),
      html: render(mailHtml(body, words)),
    };
  };
}
