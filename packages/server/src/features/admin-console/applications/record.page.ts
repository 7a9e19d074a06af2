/** An application's page. */
import { type Application, type ClientSecret, usesSecrets } from "../../../core/applications/application.ts";
import type { RecentSignIn } from "../../../core/applications/application-use.store.ts";
import { isActive } from "../../../core/applications/client-secrets.ts";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { RefusedRequest } from "../../../core/refused-requests/refused-request.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { endCard, type RecordView, recordLayout } from "../../../page-kit/record-pages.ts";
import { refusedCard } from "./refused.page.ts";

export type ApplicationView = RecordView<Application> & {
  issuer: string;
  pool: Pick<SigningPool, "name"> | undefined;
  now: number;
  recent: readonly RecentSignIn[];
  refused: readonly RefusedRequest[];
  assigned: { count: number; isMore: boolean };
  activity: Html;
};

export function recordPage(view: ApplicationView): Html {
  const { record: application, messages } = view;
  const { record, end } = messages.console.applications;
  return recordLayout(view, {
    title: application.name,
    summary: application.settings.description,
    done: messages.console.applications.done,
    actions: [
      buttonLink({
        id: "application-quickstart",
        uri: view.consoleUri(`/quickstart/${application.id}`),
        label: record.quickstart,
      }),
      buttonLink({
        id: "application-settings",
        uri: view.uriOf("/settings"),
        label: record.settings,
        kind: "primary",
      }),
    ],
    body: [
      factsCard(view),
      hasSecrets(application) && secretsCard(view),
      html`<div class="pair-of-cards">${accessCard(view)}${consentCard(view)}</div>
`,
      recentCard(view),
      refusedCard(view),
      view.activity,
      endCard(view, {
        ...end,
        id: "end",
        noun: "application",
        text: application.disabledAt === null ? end.text : end.disabledText,
      }),
    ],
  });
}

/** An application that has changed its authentication method may still have some. */
const hasSecrets = (application: Application): boolean =>
  usesSecrets(application) || application.secrets.some(isUsable);

const isUsable = ({ revokedAt }: ClientSecret): boolean => revokedAt === null;

function factsCard(view: ApplicationView): Html {
  const { record: application, messages } = view;
  const { applications, frame, applicationSettings } = messages.console;
  const { record, kinds } = applications;
  const { settings } = application;
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
        content: copyField({
          id: "client-id",
          value: application.id,
          label: record.clientId,
          ...frame.secret,
        }),
      },
      {
        label: record.issuer,
        content: copyField({ id: "issuer", value: view.issuer, label: record.issuer, ...frame.secret }),
      },
      { label: cards.proof.title, content: choices[settings.tokenEndpointAuthMethod] },
      { label: fields.grantTypes.label, content: grantLabels(application, choices) },
      { label: fields.redirectUris.label, content: uriList(settings.redirectUris) },
      { label: fields.returnUrls.label, content: uriList(settings.returnUrls) },
      { label: fields.signingPoolId.label, content: view.pool?.name },
      { label: record.created, content: relativeTime(application.createdAt, messages.format.minute) },
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

function accessCard(view: ApplicationView): Html {
  const { access } = view.messages.console.applications;
  const { count, isMore } = view.assigned;
  const isForAll = view.record.settings.access === "everyone";
  const text = isForAll ? access.everyone({ organisation: view.organisation.name }) : access.assigned;
  const userCount = html`<p>${isMore ? access.many({ count }) : access.count({ count })}</p>`;
  return card({
    id: "access",
    title: access.title,
    body: html`<p>${text}</p>
${(!isForAll || count > 0) && userCount}
<div class="actions">${buttonLink({ id: "access-users", uri: view.uriOf("/users"), label: access.users })}</div>
`,
  });
}

function consentCard(view: ApplicationView): Html {
  const { consent } = view.messages.console.applications;
  const mode = consentModeOf(view.record.settings);
  return card({
    id: "consent",
    title: consent.title,
    body: html`<p>${consent[mode]}</p>
<div class="actions">${buttonLink({ id: "consent-change", uri: view.uriOf("/settings#card-signIn-title"), label: consent.change })}</div>
`,
  });
}

function recentCard(view: ApplicationView): Html {
  const { messages } = view;
  const { recent } = messages.console.applications;
  const named = ({ userId, email }: RecentSignIn): Content =>
    email === null
      ? recent.formerUser
      : html`<a class="item-name" href="${linkAddress(view.consoleUri(`/users/${userId}`))}"><bdi>${email}</bdi></a>`;
  const rows = view.recent.map((one, index) => ({
    id: `recent-${index}`,
    cells: [
      named(one),
      relativeTime(one.at, messages.format.minute),
      one.isEnded ? recent.ended : recent.active,
    ],
  }));
  const columns = [recent.who, recent.when, recent.state];
  return card({
    id: "recent",
    title: recent.title,
    body: table({ label: recent.title, columns, rows, none: recent.none, messages }),
  });
}

export function applicationStatus({ disabledAt }: Pick<Application, "disabledAt">, messages: Messages): Html {
  const { list } = messages.console.applications;
  return disabledAt === null ? badge("good", list.enabled) : badge("bad", list.disabled);
}

type SecretsView = RecordView<Pick<Application, "secrets">> & { now: number };

const DAY_MS = 86_400_000;
const MAX_ENDED = 5;

function secretsCard(view: SecretsView): Html {
  const { secrets } = view.messages.console.applications;
  const advice = chooseAdvice(view.record.secrets, view.now);
  return card({
    id: "secrets",
    title: secrets.title,
    text: secrets.text,
    actions: buttonLink({ id: "secret-new", uri: view.uriOf("/secrets/new"), label: secrets.add }),
    body: html`${
      advice !== undefined &&
      html`<p class="advice" id="secret-advice">${secrets.advice[advice]}</p>
`
    }${view.record.secrets.length > 0 && secretTable(view)}`,
  });
}

function chooseAdvice(
  secrets: readonly ClientSecret[],
  now: number,
): keyof Messages["console"]["applications"]["secrets"]["advice"] | undefined {
  const active = secrets.filter((secret) => isActive(secret, now));
  if (active.length === 0) return "none";
  const lasting = active.filter(({ expiresAt }) => expiresAt === null || expiresAt > now + 30 * DAY_MS);
  if (lasting.length === 0) return "expiring";
  if (active.every(({ createdAt }) => createdAt < now - 365 * DAY_MS)) return "old";
  return active.length > 1 ? "several" : undefined;
}

function secretTable(view: SecretsView): Html {
  const { messages, now } = view;
  const { frame, applications } = messages.console;
  const { secrets: text } = applications;
  const active = view.record.secrets.filter((secret) => isActive(secret, now));
  const ended = view.record.secrets.filter((secret) => !isActive(secret, now)).slice(-MAX_ENDED);
  return table({
    label: text.title,
    columns: [text.label, text.state, text.created, text.used, text.expires],
    rows: [...active.toReversed(), ...ended.toReversed()].map((secret) => {
      const { id, hint, createdAt, lastUsedAt, expiresAt } = secret;
      const name = secret.label === "" ? text.unnamed : secret.label;
      const revoke = {
        id: `secret-end-${id}`,
        uri: view.uriOf(`/secrets/${id}/end`),
        text: text.revoke,
        label: text.revokeOf({ name }),
      };
      return {
        id: `secret-${id}`,
        cells: [
          html`<bdi class="item-name">${name}</bdi><span class="quiet item-note"><code>…${hint}</code></span>`,
          secretStatus(secret, view),
          relativeTime(createdAt, messages.format.day),
          lastUsedAt === null ? frame.never : relativeTime(lastUsedAt, messages.format.minute),
          expiresAt === null ? frame.never : relativeTime(expiresAt, messages.format.day),
        ],
        actions: isActive(secret, now) ? rowLink(revoke) : undefined,
      };
    }),
    messages,
  });
}

function secretStatus(secret: ClientSecret, { now, messages }: SecretsView): Html {
  const { secrets } = messages.console.applications;
  if (isActive(secret, now)) return badge("good", secrets.active);
  return secret.revokedAt === null ? badge("warn", secrets.expired) : badge("bad", secrets.revoked);
}
