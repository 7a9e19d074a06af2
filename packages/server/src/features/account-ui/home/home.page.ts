/** The user's home: applications to open, and the security of the account. */
import type { FactorSummary } from "../../../core/second-factors/second-factor.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { UsableApplication } from "./usable-applications.ts";

export interface SecurityStatus {
  readonly passwordSince: number | undefined;
  readonly factors: FactorSummary;
  readonly isFactorRequired: boolean;
}

export type HomeView = ConsoleFrame & {
  name: string;
  applications: readonly UsableApplication[];
  search: { action: string; value: string } | undefined;
  /** Undefined for a guest, whose account is protected at home. */
  security: SecurityStatus | undefined;
  sessions: number;
  /** What applications ask the user to approve; newest first. */
  requests: ReadonlyArray<{
    readonly id: string;
    readonly applicationName: string;
    readonly createdAt: number;
    readonly uri: string;
  }>;
  uriOf(rest: string): string;
  others: readonly { name: string; uri: string }[];
};

export function homePage(view: HomeView): Html {
  const { messages, name, organisation } = view;
  const { home: text } = messages.console.account;
  return consoleLayout({
    ...view,
    title: messages.console.frame.accountPages.home,
    heading: name === "" ? text.greetingPlain : html`${text.greeting} <bdi>${name}</bdi>`,
    summary: text.summary({ organisation: organisation.name }),
    body: [
      view.requests.length > 0 && requestsCard(view),
      applicationsCard(view),
      securityCard(view),
      organisationsCard(view),
    ],
  });
}

/** First: they expire in minutes, and somebody waits. */
function requestsCard({ requests, messages }: HomeView): Html {
  const { approvalRequest: text } = messages;
  return card({
    id: "my-requests",
    title: text.waitingTitle,
    text: text.waitingText,
    body: html`<ul class="items">
${requests.map(
  ({ id, applicationName: application, createdAt, uri }) => html`<li>
<div><span class="item-name"><bdi>${application}</bdi></span>
<span class="quiet item-note">${text.asked} ${messages.format.minute(createdAt)}</span></div>
<a class="button" id="request-${id}" href="${linkAddress(uri)}" aria-label="${text.reviewOf({ application })}">${text.review}</a></li>
`,
)}</ul>
`,
  });
}

function applicationsCard(view: HomeView): Html {
  const { applications, search, messages } = view;
  const { home: text } = messages.console.account;
  return card({
    id: "my-apps",
    title: text.apps,
    body: [
      search && searchForm(search, text),
      applications.length === 0
        ? html`<p class="quiet" id="my-apps-none">${search ? text.noMatch : text.none}</p>
`
        : html`<ul class="apps">
${applications.map(appItem)}</ul>
`,
    ],
  });
}

const searchForm = (
  { action, value }: { action: string; value: string },
  text: HomeView["messages"]["console"]["account"]["home"],
): Html => html`<form class="search" method="get" action="${linkAddress(action)}" role="search">
<label class="visually-hidden" for="q">${text.search}</label>
<input id="q" name="q" type="search" value="${value}" maxlength="100" placeholder="${text.search}">
<button class="button" id="my-apps-search" type="submit">${text.find}</button>
</form>
`;

/** The link's note is the host, which the application can't choose freely. */
const appItem = ({ id, name, description, homepageUri, logoUri }: UsableApplication): Html => html`<li>
<a class="app-tile" id="app-${id}" href="${linkAddress(homepageUri)}">${avatar(name, logoUri)}<span class="app-words"><bdi class="app-name">${name}</bdi>
<span class="quiet app-note">${description ?? URL.parse(homepageUri)?.host}</span></span></a></li>
`;

function securityCard(view: HomeView): Html {
  const { security, sessions, uriOf, messages } = view;
  const { home: text } = messages.console.account;
  return card({
    id: "my-security",
    title: text.security,
    actions: buttonLink({ id: "my-security-open", uri: uriOf("security"), label: text.securityOpen }),
    body: facts([
      ...(security ? securityFacts(security, view) : []),
      {
        label: text.sessions,
        id: "my-sessions",
        content: html`<a href="${linkAddress(uriOf("sessions"))}">${text.sessionsCount({ count: sessions })}</a>`,
      },
    ]),
  });
}

function securityFacts(
  { passwordSince, factors, isFactorRequired }: SecurityStatus,
  { messages }: HomeView,
): { label: string; id: string; content: Content }[] {
  const { home: text } = messages.console.account;
  const { hasTotp, passkeys, recoveryCodes } = factors;
  const hasFactor = hasTotp || passkeys > 0;
  const off = badge(isFactorRequired ? "bad" : "warn", text.factorOff);
  const few = recoveryCodes < 3 ? "warn" : "good";
  return [
    {
      label: text.password,
      id: "my-password",
      content:
        passwordSince === undefined
          ? badge("warn", text.passwordNone)
          : badge("good", text.passwordSince({ at: passwordSince })),
    },
    { label: text.factor, id: "my-factor", content: hasFactor ? badge("good", text.factorOn) : off },
    { label: text.passkeys, id: "my-passkeys", content: messages.format.number(passkeys) },
    {
      label: text.codes,
      id: "my-codes",
      content: hasFactor && badge(few, text.codesLeft({ count: recoveryCodes })),
    },
  ];
}

function organisationsCard({ others, messages }: HomeView): Content {
  const { home: text } = messages.console.account;
  if (others.length === 0) return undefined;
  return card({
    id: "my-organisations",
    title: text.others,
    text: text.othersText,
    body: html`<ul class="apps">
${others.map(({ name, uri }) => html`<li><a class="app-tile" href="${linkAddress(uri)}">${avatar(name, undefined)}<span class="app-words"><bdi class="app-name">${name}</bdi></span></a></li>`)}</ul>
`,
  });
}
