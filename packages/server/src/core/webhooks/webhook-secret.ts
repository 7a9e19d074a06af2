/** The secrets that sign a webhook's messages: sealed at rest, and shown once. */
import { createHmac, randomBytes } from "node:crypto";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import type { Webhook, WebhookKey } from "./webhook.ts";

/** Standard Webhooks, "Signature scheme": 24 to 64 random bytes. */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";

const rowName = (column: string, { orgId, id }: WebhookKey) => `webhook|${column}|${orgId}|${id}`;

const sealed = (column: "secret" | "previous_secret") =>
  sealedColumn({
    table: "webhook",
    column,
    key: ["org_id", "id"],
    rowName: ({ org_id, id }) => rowName(column, { orgId: String(org_id), id: String(id) }),
  });

export const sealedWebhookSecrets = [sealed("secret"), sealed("previous_secret")];

export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

export const sealWebhookSecret = (
  encryption: Encryption,
  key: WebhookKey,
  secret: string,
  column: "secret" | "previous_secret" = "secret",
): string => encryption.seal(Buffer.from(secret), rowName(column, key));

export const openWebhookSecret = (encryption: Encryption, webhook: Webhook): string =>
  encryption.open(webhook.secret, rowName("secret", webhook)).toString();

/** All that sign now, the newest first. */
export function signingSecrets(encryption: Encryption, webhook: Webhook, now: number): string[] {
  const { previousSecret, previousUntil } = webhook;
  const current = openWebhookSecret(encryption, webhook);
  if (previousSecret === null || previousUntil === null || previousUntil <= now) return [current];
  return [current, encryption.open(previousSecret, rowName("previous_secret", webhook)).toString()];
}

/** The value of `webhook-signature`: one signature for each secret. @param message.timestamp seconds */
export const signaturesOf = (
  secrets: readonly string[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
    })
    .join(" ");
