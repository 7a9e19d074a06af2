/** The challenge that the policy requires before the agent signs (sovereign-signing.md §5). */
import { randomInt, randomUUID } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import { Interrupted, type LeasedRequest } from "../agent/leased-requests.ts";
import { Refusal } from "../agent/refusal.ts";
import type { CheckedRequest } from "../policy/check-tokens.ts";
import type { ClientPolicy } from "../policy/policy.ts";
import type { ChallengeMessage, ClaimedRequest, SigningService } from "../service/signing-service.ts";
import type { Channel, Question, Reply } from "./channel.ts";
import { type Passkeys, passkeyChallenge, passkeyRequest, verifyAssertion } from "./passkeys.ts";

export interface ChallengeDeps {
  readonly service: Pick<SigningService, "challenge">;
  readonly channel: Channel | undefined;
  readonly passkeys: () => Passkeys | undefined;
}

interface Challenge extends ChallengeDeps {
  readonly required: NonNullable<ClientPolicy["challenge"]>;
  readonly claimed: ClaimedRequest;
  readonly checked: CheckedRequest;
  readonly request: LeasedRequest;
}

/** The service withdraws a challenge after 120 seconds. */
const TTL_SECONDS = 120;
const MAX_PINS = 3;

/** @throws Refusal unless the user passed; Interrupted */
export async function passChallenge(challenge: Challenge): Promise<void> {
  if (!challenge.claimed.interactive)
    throw stepUpRequired("the policy requires a challenge, but no browser is waiting");
  switch (challenge.required.type) {
    case "number_match":
      return await matchNumber(challenge);
    case "pin":
      return await matchPin(challenge);
    case "confirm":
      return await confirm(challenge);
    case "webauthn":
      return await checkPasskey(challenge);
  }
}

/** The number goes from the wait page to the agent's channel. One try: it has only two digits. */
async function matchNumber(challenge: Challenge): Promise<void> {
  const display = String(randomInt(10, 100));
  const message = await send(challenge, "Type this number where your organisation asks for it.", { display });
  const reply = await askChannel(challenge, buildQuestion(challenge, message, "number_match"));
  if (reply.outcome !== "answered") throw denied();
  if (!constantTimeEqual(reply.answer.trim(), display)) throw failed("the user typed a different number");
}

/** The code goes from the agent's channel to the wait page. After a typing error the user gets a new one, twice. */
async function matchPin(challenge: Challenge): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const code = String(randomInt(0, 1_000_000)).padStart(6, "0");
    const message = await send(challenge, "Type the code that your organisation sent you.");
    const reply = await askChannel(challenge, { ...buildQuestion(challenge, message, "pin"), code });
    if (reply.outcome === "denied") throw denied();
    const answer = await waitForAnswer(challenge, message);
    if (typeof answer === "string" && constantTimeEqual(answer.replace(/[\s-]/g, ""), code)) return;
    if (tries === MAX_PINS) throw failed("the user typed a wrong code three times");
  }
}

async function confirm(challenge: Challenge): Promise<void> {
  const { checked, claimed } = challenge;
  const display = `${claimed.context.clientName ?? checked.clientId}: ${claimed.context.scope.join(" ")}`;
  const message = await send(challenge, "Do you want to sign in?", { display: display.slice(0, 200) });
  if ((await waitForAnswer(challenge, message)) !== "confirmed") throw denied();
}

async function checkPasskey(challenge: Challenge): Promise<void> {
  const { sub, tokens } = challenge.checked;
  const passkeys = challenge.passkeys();
  if (!passkeys) throw notConfigured("challenges.webauthn");
  const toSign = passkeyChallenge(tokens.map(({ signingInput }) => signingInput));
  const publicKey = passkeyRequest(passkeys, sub, toSign, TTL_SECONDS);
  if (!publicKey) throw stepUpRequired("no passkey of this user is configured");
  const message = await send(challenge, "Confirm with your passkey.", { publicKey });
  const answer = await waitForAnswer(challenge, message);
  if (!verifyAssertion(answer, passkeys, sub, toSign))
    throw failed("the answer is not an assertion of this user's passkey over these tokens");
}

/** @param prompt unless the policy has its own */
async function send(
  { required, service, claimed }: Challenge,
  prompt: string,
  more: Partial<ChallengeMessage> = {},
): Promise<ChallengeMessage> {
  const { type, prompt: ownPrompt = prompt } = required;
  const message = { challengeId: randomUUID(), type, prompt: ownPrompt, ttl: TTL_SECONDS, ...more };
  const { requestId, leaseToken, traceparent } = claimed;
  const outcome = await service.challenge({ requestId, leaseToken, traceparent }, message);
  if (outcome === "over") throw new Interrupted("lost");
  if (outcome === "not_interactive") throw stepUpRequired("no browser is waiting");
  if (outcome === "challenge_limit") throw failed("the service allows no further challenge");
  return message;
}

function buildQuestion(
  { claimed: { context, requestId }, checked: { clientId, sub, grant } }: Challenge,
  { challengeId }: ChallengeMessage,
  type: Question["type"],
): Question {
  const { scope: scopes, clientName, ip } = context;
  const claimed = { clientName: clientName ?? undefined, ip: ip ?? undefined };
  const subject = { clientId, sub, scopes, grant };
  return { challengeId, requestId, type, ...subject, ...claimed, expiresInSeconds: TTL_SECONDS };
}

async function askChannel({ channel, request }: Challenge, question: Question): Promise<Reply> {
  if (!channel) throw notConfigured("challenges.channel");
  const timeout = AbortSignal.timeout(TTL_SECONDS * 1000);
  const signal = AbortSignal.any([request.signal, timeout]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  try {
    signal.throwIfAborted();
    // A channel that ignores its signal must not keep the request for ever.
    return await Promise.race([channel.ask(question, signal), aborted]);
  } catch (cause) {
    request.signal.throwIfAborted();
    if (timeout.aborted) throw failed("the user did not answer in time", cause);
    const options = { reason: "challenge_failed", retryable: true, cause } as const;
    throw new Refusal("challenge", "the agent's channel to the user does not work", options);
  }
}

async function waitForAnswer({ request }: Challenge, { challengeId }: ChallengeMessage): Promise<unknown> {
  try {
    return await request.waitForAnswer(challengeId, AbortSignal.timeout(TTL_SECONDS * 1000));
  } catch (error) {
    request.signal.throwIfAborted();
    throw failed("the user did not answer in time", error);
  }
}

const denied = () => new Refusal("challenge", "the user declined", { reason: "user_denied" });
const failed = (message: string, cause?: unknown) =>
  new Refusal("challenge", message, { reason: "challenge_failed", cause });
const stepUpRequired = (message: string) => new Refusal("challenge", message, { reason: "step_up_required" });
/** Retryable: another agent of the pool may have it. */
const notConfigured = (member: string) =>
  new Refusal("challenge", `the policy requires a challenge, but ${member} is not configured`, {
    reason: "step_up_required",
    retryable: true,
  });
