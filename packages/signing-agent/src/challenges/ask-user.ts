/** The challenge that the policy wants before the agent signs (sovereign-signing.md §5). */
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { constantTimeEqual } from "@signet/protocol/hash";
import { type HeldRequest, Interrupted } from "../held-requests.ts";
import type { CheckedRequest } from "../policy/check-tokens.ts";
import type { ClientPolicy } from "../policy/policy.ts";
import { Refusal } from "../refusal.ts";
import type { ChallengeMessage, ClaimedRequest } from "../service/messages.ts";
import type { SigningService } from "../service/signing-service.ts";
import type { Channel, Question, Reply } from "./channel.ts";
import { isAssertionOver, type Passkeys, passkeyChallenge, passkeyRequest } from "./passkeys.ts";

export interface Asking {
  readonly service: Pick<SigningService, "challenge">;
  readonly channel: Channel | undefined;
  readonly passkeys: Passkeys | undefined;
}

type Wanted = NonNullable<ClientPolicy["challenge"]>;

interface Ask extends Asking {
  readonly wanted: Wanted;
  readonly claimed: ClaimedRequest;
  readonly checked: CheckedRequest;
  readonly held: HeldRequest;
}

/** Seconds: the service withdraws a challenge after 120. */
const TTL_SECONDS = 120;
const MOST_PINS = 3;

/** @throws Refusal unless the user passed; what `held.signal` aborts with when it does */
export async function passChallenge(ask: Ask): Promise<void> {
  if (!ask.claimed.interactive)
    throw new Refusal("challenge", "the policy wants a challenge, and no browser waits", {
      reason: "step_up_required",
    });
  switch (ask.wanted.type) {
    case "number_match":
      return await matchNumber(ask);
    case "pin":
      return await matchPin(ask);
    case "confirm":
      return await confirm(ask);
    case "webauthn":
      return await checkPasskey(ask);
  }
}

/** The number goes from the page to the agent's own channel. One try: it has only two digits. */
async function matchNumber(ask: Ask): Promise<void> {
  const display = String(randomInt(10, 100));
  const message = messageOf(ask, "Type this number where your organisation asks for it.", { display });
  await send(ask, message);
  const reply = await askChannel(ask, question(ask, message, "number_match"));
  if (reply.outcome !== "answered") throw denied();
  if (!constantTimeEqual(reply.answer.trim(), display)) throw failed("another number was typed");
}

/** The code goes from the agent's own channel to the page; who mistypes it gets a new one, twice. */
async function matchPin(ask: Ask): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const code = String(randomInt(0, 1_000_000)).padStart(6, "0");
    const message = messageOf(ask, "Type the code that your organisation sent you.");
    await send(ask, message);
    const reply = await askChannel(ask, { ...question(ask, message, "pin"), code });
    if (reply.outcome === "denied") throw denied();
    const answer = await answerOf(ask, message);
    if (typeof answer === "string" && constantTimeEqual(answer.replace(/[\s-]/g, ""), code)) return;
    if (tries === MOST_PINS) throw failed("another code was typed, three times");
  }
}

async function confirm(ask: Ask): Promise<void> {
  const { checked, claimed } = ask;
  const display = `${claimed.context.clientName ?? checked.clientId}: ${claimed.context.scope.join(" ")}`;
  const message = messageOf(ask, "Do you want to sign in?", { display: display.slice(0, 200) });
  await send(ask, message);
  if ((await answerOf(ask, message)) !== "confirmed") throw denied();
}

async function checkPasskey(ask: Ask): Promise<void> {
  const { passkeys, checked } = ask;
  if (!passkeys) throw notSetUp("challenges.webauthn");
  const challenge = passkeyChallenge(checked.tokens.map(({ signingInput }) => signingInput));
  const publicKey = passkeyRequest(passkeys, checked.sub, challenge, TTL_SECONDS);
  if (!publicKey)
    throw new Refusal("challenge", "the agent knows no passkey of this user", { reason: "step_up_required" });
  const message = messageOf(ask, "Confirm with your passkey.", { publicKey });
  await send(ask, message);
  const answer = await answerOf(ask, message);
  if (!isAssertionOver(answer, passkeys, checked.sub, challenge))
    throw failed("the answer is no passkey of this user over these tokens");
}

function messageOf({ wanted }: Ask, prompt: string, more: Partial<ChallengeMessage> = {}): ChallengeMessage {
  const challengeId = randomUUID();
  return { challengeId, type: wanted.type, prompt: wanted.prompt ?? prompt, ttl: TTL_SECONDS, ...more };
}

async function send({ service, claimed }: Ask, message: ChallengeMessage): Promise<void> {
  const { requestId, leaseToken } = claimed;
  const { outcome } = await service.challenge({ requestId, leaseToken }, message);
  if (outcome === "over") throw new Interrupted("lost");
  if (outcome === "not_interactive")
    throw new Refusal("challenge", "no browser waits", { reason: "step_up_required" });
  if (outcome === "challenge_limit") throw failed("the service allows no further challenge");
}

function question(
  { claimed, checked }: Ask,
  { challengeId }: ChallengeMessage,
  type: Question["type"],
): Question {
  const { context, requestId } = claimed;
  return {
    challengeId,
    requestId,
    type,
    clientId: checked.clientId,
    sub: checked.sub,
    scopes: context.scope,
    grant: checked.grant,
    clientName: context.clientName ?? undefined,
    ip: context.ip ?? undefined,
    expiresInSeconds: TTL_SECONDS,
  };
}

async function askChannel({ channel, held }: Ask, question: Question): Promise<Reply> {
  if (!channel) throw notSetUp("challenges.channel");
  const late = AbortSignal.timeout(TTL_SECONDS * 1000);
  const signal = AbortSignal.any([held.signal, late]);
  try {
    // A channel that does not listen to its signal must not hold the request for ever.
    return await Promise.race([channel.ask(question, signal), rejectOnAbort(signal)]);
  } catch (error) {
    held.signal.throwIfAborted();
    if (late.aborted) throw failed("nobody answered in time", error);
    throw new Refusal("challenge", "the agent's channel to the user does not work", {
      reason: "challenge_failed",
      retryable: true,
      cause: error,
    });
  }
}

async function answerOf({ held }: Ask, { challengeId }: ChallengeMessage): Promise<unknown> {
  try {
    return await held.response(challengeId, AbortSignal.timeout(TTL_SECONDS * 1000));
  } catch (error) {
    held.signal.throwIfAborted();
    throw failed("nobody answered in time", error);
  }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await delay(2 * TTL_SECONDS * 1000, undefined, { signal, ref: false });
  throw new Error("no answer");
}

const denied = () => new Refusal("challenge", "the user said no", { reason: "user_denied" });
const failed = (why: string, cause?: unknown) =>
  new Refusal("challenge", why, { reason: "challenge_failed", cause });
const notSetUp = (what: string) =>
  new Refusal("challenge", `the policy wants a challenge, and ${what} is not configured`, {
    reason: "step_up_required",
    retryable: true,
  });
