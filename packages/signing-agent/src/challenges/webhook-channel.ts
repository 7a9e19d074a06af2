/**
 * A program of the organisation's that reaches the user: by a push message, an app, a chat. The call is signed, so that it
 * can tell the agent from anybody else (docs/signing-agent.md has the form).
 */
import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Connections, JsonAnswer } from "../service/json-call.ts";
import type { Channel, Question, Reply } from "./channel.ts";

const replyForm = Compile(
  Type.Object({
    outcome: Type.Enum(["answered", "delivered", "denied"]),
    answer: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Number()])),
  }),
);
type WebhookReply = Static<ReturnType<typeof replyForm.Type>>;

export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

export class WebhookFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WebhookFailed";
  }
}

/** Beyond what the user has, for the way there and back. */
const MARGIN_MS = 5_000;
const POLL_MS = 2_000;

/**
 * `POST url` with the question. 200 with a reply may come as late as the user's answer; or 202 with a `Location` on the
 * same origin, which is asked every two seconds until it gives 200.
 */
export function webhookChannel(
  { url, secret }: Webhook,
  connections: Connections,
  clock: () => number,
): Channel {
  const signed = (body: string) => {
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
      const call = { headers: signed(body), timeoutMs, signal };
      let answer = await connections.call({ ...call, method: "POST", url, body });
      while (answer.status === 202) {
        const next = placeOf(answer, url);
        await delay(POLL_MS, undefined, { signal });
        answer = await connections.call({ method: "GET", url: next, headers: signed(""), timeoutMs, signal });
      }
      return replyOf(answer, question);
    },
  };
}

/** Hex of HMAC-SHA-256 over `timestamp.body`, behind `v1=`. */
export function webhookSignature(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

function placeOf({ location = "" }: JsonAnswer, url: string): string {
  if (!URL.canParse(location, url)) throw new WebhookFailed("202 without a Location");
  const place = new URL(location, url);
  if (place.origin !== new URL(url).origin) throw new WebhookFailed("202 with a Location of another origin");
  return place.href;
}

function replyOf({ status, body }: JsonAnswer, { type }: Question): Reply {
  if (status !== 200 || !replyForm.Check(body)) throw new WebhookFailed(`status ${status} without a reply`);
  const { outcome, answer }: WebhookReply = body;
  if (outcome === "denied") return { outcome };
  if (outcome === "delivered" && type === "pin") return { outcome };
  if (outcome === "answered" && type === "number_match" && answer !== undefined)
    return { outcome, answer: String(answer) };
  throw new WebhookFailed(`${outcome} is no reply to ${type}`);
}
