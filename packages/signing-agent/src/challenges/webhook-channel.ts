/**
 * Reaches the user through a program of the organisation: push message, app or chat. Calls are signed so that it can
 * authenticate the agent (format: docs/signing-agent.md).
 */
import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { JsonAnswer, JsonClient } from "../service/json-client.ts";
import type { Channel, Question, Reply } from "./channel.ts";

const replyMessage = Compile(
  Type.Object({
    outcome: Type.Enum(["answered", "delivered", "denied"]),
    answer: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Number()])),
  }),
);
type WebhookReply = Static<ReturnType<typeof replyMessage.Type>>;

export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

export class WebhookFailed extends Error {
  override name = "WebhookFailed";
}

/** For the network, on top of the user's time. */
const MARGIN_MS = 5_000;
const POLL_MS = 2_000;

/**
 * `POST url` with the question. The answer is 200 with a reply, as late as the user's own; or 202 with a `Location` on the
 * same origin, polled every two seconds until it gives 200.
 */
export function webhookChannel({ url, secret }: Webhook, client: JsonClient, clock: () => number): Channel {
  const signatureHeaders = (body: string) => {
    const timestamp = String(Math.floor(clock() / 1000));
    return {
      "signet-agent-timestamp": timestamp,
      "signet-agent-signature": webhookSignature(secret, timestamp, body),
    };
  };
  return {
    ask: async (question, signal) => {
      const body = JSON.stringify(question);
      const timeoutMs = question.expiresInSeconds * 1000 + MARGIN_MS;
      const call = { headers: signatureHeaders(body), timeoutMs, signal };
      let answer = await client.call({ ...call, method: "POST", url, body });
      while (answer.status === 202) {
        const next = pollUrl(answer, url);
        await delay(POLL_MS, undefined, { signal });
        answer = await client.call({
          method: "GET",
          url: next,
          headers: signatureHeaders(""),
          timeoutMs,
          signal,
        });
      }
      return readReply(answer, question);
    },
  };
}

/** `v1=` and the hex of HMAC-SHA-256 over `timestamp.body`. */
export function webhookSignature(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

function pollUrl({ location = "" }: JsonAnswer, url: string): string {
  if (!URL.canParse(location, url)) throw new WebhookFailed("202 without a Location");
  const next = new URL(location, url);
  if (next.origin !== new URL(url).origin) throw new WebhookFailed("202 with a Location on another origin");
  return next.href;
}

function readReply({ status, body }: JsonAnswer, { type }: Question): Reply {
  if (status !== 200 || !replyMessage.Check(body))
    throw new WebhookFailed(`status ${status} without a valid reply`);
  const { outcome, answer }: WebhookReply = body;
  if (outcome === "denied") return { outcome };
  if (outcome === "delivered" && type === "pin") return { outcome };
  if (outcome === "answered" && type === "number_match" && answer !== undefined)
    return { outcome, answer: String(answer) };
  throw new WebhookFailed(`${outcome} is not a reply to ${type}`);
}
