/**
 * The organisation's own channel to the user, which bypasses the service: a service that lies about who signs in can neither
 * read what goes through it nor answer in the user's place (sovereign-signing.md §5 and §6).
 */
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { JsonAnswer, JsonClient } from "../service/json-client.ts";

export interface Question {
  readonly challengeId: string;
  readonly requestId: string;
  readonly type: "number_match" | "pin";
  /** As in the token. */
  readonly clientId: string;
  readonly sub: string;
  readonly scopes: readonly string[];
  readonly grant: string;
  /** Claimed by the service: for display, never for decisions. */
  readonly clientName: string | undefined;
  readonly ip: string | undefined;
  readonly expiresInSeconds: number;
  /** For `pin`: what the user types on the wait page. For `number_match` the user types what the page shows. */
  readonly code?: string;
}

export type Reply =
  /** number_match: what the user typed. */
  | { readonly outcome: "answered"; readonly answer: string }
  /** pin: the user has the code. */
  | { readonly outcome: "delivered" }
  | { readonly outcome: "denied" };

export interface Channel {
  /** Rejects when the channel does not work, and when the signal aborts. */
  ask(question: Question, signal: AbortSignal): Promise<Reply>;
}

/** One question at a time. */
export function terminalChannel(input: Readable, output: Writable): Channel {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, signal) => {
      const reply = last.catch(() => undefined).then(() => askOne(question, { input, output }, signal));
      last = reply;
      return reply;
    },
  };
}

async function askOne(
  question: Question,
  streams: { input: Readable; output: Writable },
  signal: AbortSignal,
): Promise<Reply> {
  signal.throwIfAborted();
  const reader = createInterface(streams);
  try {
    const isPin = question.type === "pin";
    const prompt = isPin
      ? "Type yes when the user has it"
      : "Number that the user sees (leave empty to deny)";
    const input = (await reader.question(`${describe(question)}\n${prompt}: `, { signal })).trim();
    if (isPin) return { outcome: input.toLowerCase() === "yes" ? "delivered" : "denied" };
    return input === "" ? { outcome: "denied" } : { outcome: "answered", answer: input };
  } finally {
    reader.close();
  }
}

function describe({ sub, clientId, clientName, scopes, ip, code }: Question): string {
  return [
    "",
    `User ${printable(sub)} is signing in to client ${printable(clientId)}.`,
    `Claimed by the service: ${printable(clientName ?? "no client name")}, from ${printable(ip ?? "an unknown address")}.`,
    `Scopes: ${printable(scopes.join(" ")) || "none"}`,
    ...(code === undefined ? [] : [`Give the user this code: ${code}`]),
  ].join("\n");
}

/** The service's text must not control the terminal. */
const printable = (text: string): string => text.replace(/\p{C}/gu, "?").slice(0, 200);

const replyMessage = Compile(
  Type.Object({
    outcome: Type.Enum(["answered", "delivered", "denied"]),
    answer: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Number()])),
  }),
);
type WebhookReply = Static<ReturnType<typeof replyMessage.Type>>;

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
export function webhookChannel(
  { url, secret }: { readonly url: string; readonly secret: string },
  client: JsonClient,
  clock: () => number,
): Channel {
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
      const bounds = { timeoutMs: question.expiresInSeconds * 1000 + MARGIN_MS, signal };
      let answer = await client.call({
        ...bounds,
        method: "POST",
        url,
        headers: signatureHeaders(body),
        body,
      });
      while (answer.status === 202) {
        const next = pollUrl(answer, url);
        await delay(POLL_MS, undefined, { signal });
        answer = await client.call({ ...bounds, method: "GET", url: next, headers: signatureHeaders("") });
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
