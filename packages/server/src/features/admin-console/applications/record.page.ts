import type { Application, ClientSecret } from "../../../core/applications/application.ts";
import { usesSecrets } from "../../../core/applications/application.ts";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { RecentSignIn } from "../../../core/applications/use/use.store.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { buttonLink, card, copyable, copyStatus, facts, moment } from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { applicationStatus } from "./list.page.ts";
import { secretsCard } from "./secrets-card.ts";

export type RecordView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    done: keyof Messages["console"]["applications"]["done"] | undefined;
    application: Application;
    issuer: string;
    /** Name of the signing pool. */
    pool: string | undefined;
    now: number;
    /** @param rest below the application's own address */
    uri(rest: string): string;
    recent: readonly RecentSignIn[];
    assigned: { count: number; isMore: boolean };
    lastChange: { who: string; at: number } | undefined;
  };

export function recordPage(view: RecordView): Html {
  const { application, messages } = view;
  const { record } = messages.console.applications;
  return consoleLayout({
    ...view,
    title: application.name,
    heading: html`<bdi>${application.name}</bdi>`,
    summary: application.settings.description,
    notice: view.done && successNotice(messages.console.applications.done[view.done]),
    actions: [
      buttonLink({
        id: "application-quickstart",
        uri: view.consoleUri(`/quickstart/${application.id}`),
        label: record.quickstart,
      }),
      buttonLink({
        id: "application-settings",
        uri: view.uri("/settings"),
        label: record.settings,
        isPrimary: true,
      }),
    ],
    scripts: [copyScript.path],
    body: html`${factsCard(view)}${hasSecrets(application) && secretsCard(view)}<div class="pair-of-cards">${accessCard(view)}${consentCard(view)}</div>
${recentCard(view)}${endCard(view)}${lastChangeLine(view.lastChange, messages)}${copyStatus}`,
  });
}

/** An application that has changed its authentication method may still have some. */
const hasSecrets = (application: Application): boolean =>
  usesSecrets(application) || application.secrets.some(isUsable);

const isUsable = ({ revokedAt }: ClientSecret): boolean => revokedAt === null;

function factsCard(view: RecordView): Html {
  const { application, messages } = view;
  const { applications, frame, applicationSettings } = messages.console;
  const { record, kinds } = applications;
  const { settings } = application;
  const copies = { copy: frame.secret.copy, copied: frame.secret.copied };
  const { cards, fields } = applicationSettings;
  const choices: Readonly<Record<string, string>> = applicationSettings.choices;
  return card({
    id: "facts",
    title: record.facts,
    body: facts([
      { label: record.state, content: applicationStatus(application, messages), id: "application-state" },
      { label: record.kind, content: kinds[kindOf(application)] },
      {
        label: record.clientId,
        content: copyable({ id: "client-id", value: application.id, label: record.clientId, ...copies }),
      },
      {
        label: record.issuer,
        content: copyable({ id: "issuer", value: view.issuer, label: record.issuer, ...copies }),
      },
      { label: cards.proof.title, content: choices[settings.tokenEndpointAuthMethod] },
      { label: fields.grantTypes.label, content: grantLabels(application, choices) },
      { label: fields.redirectUris.label, content: uriList(settings.redirectUris) },
      { label: fields.returnUrls.label, content: uriList(settings.returnUrls) },
      { label: fields.signingPoolId.label, content: view.pool },
      { label: record.created, content: moment(application.createdAt, messages.format.minute) },
    ]),
  });
}

const grantLabels = ({ settings }: Application, labels: Readonly<Record<string, string>>): string =>
  settings.grantTypes.map((grant) => labels[grant.split(":").at(-1) ?? grant] ?? grant).join(", ");

const MAX_URIS = 5;

const uriList = (uris: readonly string[]): Content =>
  uris.length > 0 &&
  html`<ul>${uris.slice(0, MAX_URIS).map((uri) => html`<li><code>${uri}</code></li>`)}${
    uris.length > MAX_URIS && html`<li>…</li>`
  }</ul>`;

function accessCard(view: RecordView): Html {
  const { access } = view.messages.console.applications;
  const { count, isMore } = view.assigned;
  const isForAll = view.application.settings.access === "everyone";
  const text = isForAll ? access.everyone({ organisation: view.organisation.name }) : access.assigned;
  const userCount = html`<p>${isMore ? access.many({ count }) : access.count({ count })}</p>`;
  return card({
    id: "access",
    title: access.title,
    body: html`<p>${text}</p>
${(!isForAll || count > 0) && userCount}
<div class="actions">${buttonLink({ id: "access-users", uri: view.uri("/users"), label: access.users })}</div>
`,
  });
}

function consentCard(view: RecordView): Html {
  const { consent } = view.messages.console.applications;
  const mode = consentModeOf(view.application.settings);
  return card({
    id: "consent",
    title: consent.title,
    body: html`<p>${consent[mode]}</p>
<div class="actions">${buttonLink({ id: "consent-change", uri: view.uri("/settings#card-signIn-title"), label: consent.change })}</div>
`,
  });
}

function recentCard(view: RecordView): Html {
  const { messages } = view;
  const { recent } = messages.console.applications;
  const named = ({ userId, email }: RecentSignIn): Content =>
    email === null
      ? recent.formerUser
      : html`<a class="item-name" href="${linkAddress(view.consoleUri(`/users/${userId}`))}"><bdi>${email}</bdi></a>`;
  const rows = view.recent.map((one, index) => ({
    id: `recent-${index}`,
    cells: [named(one), moment(one.at, messages.format.minute), one.isEnded ? recent.ended : recent.active],
  }));
  const columns = [recent.who, recent.when, recent.state];
  return card({
    id: "recent",
    title: recent.title,
    body:
      rows.length === 0
        ? html`<p class="quiet">${recent.none}</p>
`
        : table({ label: recent.title, columns, rows, messages }),
  });
}

function endCard(view: RecordView): Html {
  const { end } = view.messages.console.applications;
  const isDisabled = view.application.disabledAt !== null;
  const change = isDisabled ? "/enable" : "/disable";
  return card({
    id: "end",
    title: end.title,
    text: isDisabled ? end.disabledText : end.text,
    isDangerous: true,
    body: html`<div class="actions">${buttonLink({
      id: isDisabled ? "application-enable" : "application-disable",
      uri: view.uri(change),
      label: isDisabled ? end.enable : end.disable,
      isDangerous: !isDisabled,
    })}${buttonLink({ id: "application-delete", uri: view.uri("/delete"), label: end.delete, isDangerous: true })}</div>
`,
  });
}
