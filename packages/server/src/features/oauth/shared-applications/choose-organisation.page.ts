/** The pages of the common entry: which organisation, and that a mail was sent. */
import { applicationHome } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type PageApplication, type PageFrame, signInLayout } from "../../../html/layout.ts";

export type ChooseFailure = "invalid-email" | "rate-limited" | "session-expired" | "no-mail";

export type ChooseView = PageFrame & {
  readonly application: PageApplication;
  /** Where the browser is signed in. */
  readonly organisations: ReadonlyArray<{ readonly id: string; readonly name: string; readonly uri: string }>;
  readonly action: string;
  readonly csrf: string;
  readonly email?: string | undefined;
  readonly error?: ChooseFailure | undefined;
  readonly retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "organisation-notice";

function failureNotice({
  error,
  messages,
  application,
  retryAfterSeconds = 60,
}: ChooseView): Html | undefined {
  const text = messages.recovery;
  switch (error) {
    case undefined:
      return undefined;
    case "invalid-email":
      return banner("error", NOTICE_ID, text.notSent, text.invalidEmail);
    case "rate-limited":
      return banner("error", NOTICE_ID, text.notSent, text.rateLimited({ seconds: retryAfterSeconds }));
    case "no-mail":
      return banner(
        "error",
        NOTICE_ID,
        text.notSent,
        messages.commonEntry.noMail({ application: application.name }),
      );
    case "session-expired":
      return banner("hint", NOTICE_ID, text.expired, text.sendAgain);
  }
}

const title = ({ messages, application }: Pick<ChooseView, "messages" | "application">): Html =>
  html`<div class="title"><h1>${messages.commonEntry.title}</h1>
${applicationHome(application)}</div>`;

export function chooseOrganisationPage(view: ChooseView): Html {
  const text = view.messages.commonEntry;
  const invalid = view.error === "invalid-email" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  const links = view.organisations.map(
    ({ id, name, uri }) =>
      html`<a class="button" id="organisation-${id}" href="${linkAddress(uri)}"><bdi>${name}</bdi></a>`,
  );
  const isFirst = links.length === 0;
  return signInLayout({
    ...view,
    title: text.title,
    body: html`${title(view)}
${failureNotice(view)}
${
  !isFirst &&
  html`<p>${text.text({ application: view.application.name })}</p>
<div class="choices">${links}</div>`
}
<p>${text.explanation}</p>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf })}
<div class="field">
<label for="email">${view.messages.recovery.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="username" autocapitalize="none" spellcheck="false" required${isFirst && html` autofocus`}${invalid}${described}>
</div>
<button class="button primary" id="organisation-submit" type="submit">${text.submit}</button>
${doubleSubmitGuard}</form>`,
  });
}

export function organisationSentPage(
  view: PageFrame & {
    readonly application: PageApplication;
    /** As typed: whether anybody has it is not disclosed. */
    readonly email: string;
    readonly againUri: string;
  },
): Html {
  const { recovery, commonEntry } = view.messages;
  const { email, application } = view;
  return signInLayout({
    ...view,
    title: recovery.sentHeading,
    body: html`<h1>${recovery.sentHeading}</h1>
<p id="organisation-sent" role="status">${commonEntry.sent({ email, application: application.name })}</p>
<p class="quiet">${recovery.nothingArrived}</p>
<p class="after"><a class="alone" href="${linkAddress(view.againUri)}">${recovery.tryAgain}</a></p>`,
  });
}
