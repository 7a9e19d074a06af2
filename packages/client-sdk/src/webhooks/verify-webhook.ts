/** Verifies messages of webhooks: Standard Webhooks, "Verifying webhook authenticity". */
import { configurationError, SignetError } from "../errors.ts";
import type { WebhookEvent, WebhookEventData } from "./webhook-event.ts";

/** Headers of a request: of the Web's `Request`, or of Node's. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of `verifyWebhook`. */
export interface VerifyWebhookOptions {
  /** How far the message's time may be from now, seconds. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** A message as it came. */
export interface WebhookMessage {
  /** With `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  readonly headers: WebhookHeaders;
  /** The raw body: not parsed, and not serialized again. */
  readonly body: string | Uint8Array;
}

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
/** More signatures than secrets that overlap: what follows is not looked at. */
const MAX_SIGNATURES = 10;

/**
 * Checks that a message comes from Signet and is recent, and returns its event. Give all secrets that are in use while one is
 * rotated; a message may have several signatures too.
 * @param secrets `whsec_…`, as shown when the webhook was created or its secret rotated
 * @throws SignetError `signature` for a message that is not to be trusted, `configuration` for what is no secret
 * @example
 * const event = await verifyWebhook({ headers: request.headers, body: await request.text() }, secret);
 * if (event.type === "user.deleted") await forget(event.data.target);
 */
export async function verifyWebhook(
  { headers, body }: WebhookMessage,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, clock = Date.now }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const keys = await Promise.all([secrets].flat().map(importSecret));
  if (keys.length === 0) throw configurationError("verifyWebhook needs a secret.");
  const id = header(headers, "webhook-id");
  const time = header(headers, "webhook-timestamp");
  const signatures = signaturesIn(header(headers, "webhook-signature"));
  if (!/^\d{1,15}$/.test(time) || Math.abs(clock() / 1_000 - Number(time)) > toleranceSeconds)
    throw refused("its timestamp is missing, or too far from now");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), bytes);
  let isSigned = false;
  // `verify` compares in constant time; all are tried, whichever fits.
  for (const key of keys)
    for (const signature of signatures)
      isSigned = (await crypto.subtle.verify("HMAC", key, signature, signed)) || isSigned;
  if (!isSigned) throw refused("no signature is by one of the secrets");
  return eventIn(bytes, id);
}

function header(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== "string" || value === "") throw refused(`${name} is missing or repeated`);
  return value;
}

const isHeaders = (headers: WebhookHeaders): headers is Headers =>
  typeof (headers as Headers).get === "function";

function signaturesIn(value: string): Uint8Array<ArrayBuffer>[] {
  const symmetric = value.split(" ").filter((one) => one.startsWith("v1,"));
  return symmetric.slice(0, MAX_SIGNATURES).flatMap((one) => bytesOf(one.slice("v1,".length)) ?? []);
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : undefined;
  if (!bytes || bytes.length < 16)
    throw configurationError("A webhook secret begins with whsec_ and is base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** @returns undefined for what is not base64 */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** What is signed, as far as it is of the known form; the id of the header is signed too, and must be the event's. */
function eventIn(body: Uint8Array, id: string): WebhookEvent {
  const event = parsed(body);
  const { data } = event;
  if (event.id !== id || typeof event.type !== "string" || typeof event.timestamp !== "string")
    throw refused("its body is no event, or of another id");
  if (typeof data !== "object" || data === null) throw refused("its body is no event");
  return { id, type: event.type, timestamp: event.timestamp, data: data as WebhookEventData };
}

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {}
  throw refused("its body is no JSON object");
}

/** The caller hears nothing of why. */
const refused = (reason: string) =>
  new SignetError("signature", `The webhook message is refused: ${reason}.`, {
    description: "The message is not authenticated.",
  });
