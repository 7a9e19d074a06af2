/** The client secrets of an application, how old they are, and what should be done about them. */
import type { Application, ClientSecret } from "../../../core/applications/application.ts";
import { isActive } from "../../../core/applications/client-secrets.ts";
import { buttonLink, card, moment, state } from "../../../html/components/parts.ts";
import { rowLink, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type SecretsView = {
  application: Pick<Application, "secrets">;
  now: number;
  uri(rest: string): string;
  messages: Messages;
};

const DAY_MS = 86_400_000;
const MAX_ENDED = 5;

export function secretsCard(view: SecretsView): Html {
  const { secrets } = view.messages.console.applications;
  const advice = chooseAdvice(view.application.secrets, view.now);
  return card({
    id: "secrets",
    title: secrets.title,
    text: secrets.text,
    actions: buttonLink({ id: "secret-new", uri: view.uri("/secrets/new"), label: secrets.add }),
    body: html`${
      advice !== undefined &&
      html`<p class="advice" id="secret-advice">${secrets.advice[advice]}</p>
`
    }${view.application.secrets.length > 0 && secretTable(view)}`,
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
  const { secrets } = messages.console.applications;
  const { frame } = messages.console;
  const active = view.application.secrets.filter((secret) => isActive(secret, now));
  const ended = view.application.secrets.filter((secret) => !isActive(secret, now)).slice(-MAX_ENDED);
  const toRow = (secret: ClientSecret) => {
    const label = secret.label === "" ? secrets.unnamed : secret.label;
    const isUsable = isActive(secret, now);
    const end = rowLink({
      id: `secret-end-${secret.id}`,
      uri: view.uri(`/secrets/${secret.id}/end`),
      text: secrets.revoke,
      label: secrets.revokeOf({ name: label }),
    });
    return {
      id: `secret-${secret.id}`,
      cells: [
        html`<bdi class="item-name">${label}</bdi><span class="quiet item-note"><code>…${secret.hint}</code></span>`,
        secretStatus(secret, view),
        moment(secret.createdAt, messages.format.day),
        secret.lastUsedAt === null ? frame.never : moment(secret.lastUsedAt, messages.format.minute),
        secret.expiresAt === null ? frame.never : moment(secret.expiresAt, messages.format.day),
      ],
      ...(isUsable ? { actions: end } : {}),
    };
  };
  return table({
    label: secrets.title,
    columns: [secrets.label, secrets.state, secrets.created, secrets.used, secrets.expires],
    rows: [...active.toReversed(), ...ended.toReversed()].map(toRow),
    messages,
  });
}

function secretStatus(secret: ClientSecret, { now, messages }: SecretsView): Html {
  const { secrets } = messages.console.applications;
  if (isActive(secret, now)) return state("good", secrets.active);
  return secret.revokedAt === null ? state("warn", secrets.expired) : state("bad", secrets.revoked);
}
