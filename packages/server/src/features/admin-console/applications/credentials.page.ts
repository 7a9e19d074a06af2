/** The credentials of an application: its client secrets; how it authenticates is in the form below them. */
import { type Application, type ClientSecret, usesSecrets } from "../../../core/applications/application.ts";
import { isActive } from "../../../core/applications/client-secrets.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";

export function credentialCards(view: RecordView<Application> & { now: number }): Content {
  const { record, messages } = view;
  if (hasSecrets(record)) return secretsCard(view);
  if (record.clientType === "confidential") return undefined;
  const { publicClient } = messages.console.applications;
  return card({ id: "public-client", title: publicClient.title, text: publicClient.text });
}

/** An application that has changed its authentication method may still have some. */
const hasSecrets = (application: Application): boolean =>
  usesSecrets(application) || application.secrets.some(isUsable);

const isUsable = ({ revokedAt }: ClientSecret): boolean => revokedAt === null;

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

export function chooseAdvice(
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
          html`<span class="item-name"><bdi>${name}</bdi></span><span class="quiet item-note"><code>…${hint}</code></span>`,
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
