/** Continues an authorization after the wait for a signing agent. The wait page has checked the browser. */

import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { seconds } from "../../../../core/clock.ts";
import type { Continuation, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import type { BrowserDeps, Visit } from "../browser.ts";
import { flowForm } from "../flow.ts";
import { answerGranted, readSealedFlow, takeStep } from "../take-step.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { codeOf, issueSignedCode } from "./pool-signed-code.ts";

export interface FinishedWait {
  readonly requestId: string;
  readonly continuation: Extract<Continuation, { kind: "authorization" }>;
  readonly outcome: Exclude<SigningOutcome, "waiting">;
}

/**
 * Sends the code or the error. Every decision is made again: a user who has signed out or lost access meanwhile gets no code.
 * @returns false when the code was issued before: no response has been sent
 */
export async function continueAuthorization(
  deps: BrowserDeps,
  visit: Visit,
  { requestId, continuation, outcome }: FinishedWait,
): Promise<boolean> {
  const { familyId, claimsHash, requestSigned = null } = continuation;
  const current = await readSealedFlow(deps, visit, continuation.flow);
  if (!current) return true;
  if (outcome !== "signed" && current.kind === "authorization")
    await answerWithError(deps, visit, current.request, outcome);
  else if (current.kind === "page" || current.step.kind !== "issue-code")
    await takeStep(deps, visit, current);
  else {
    const response = await deps.poolSigning.signedResponse({ orgId: visit.organisation.id, requestId });
    if (current.request.isJwt && !isCurrent(deps, response)) {
      // The user came back too late, or the application's settings have changed: everything is signed anew.
      await answerGranted(deps, visit, current, current.step);
      return true;
    }
    const signing = { requestId, familyId, claimsHash, requestSigned };
    const signed = { signing, plaintext: codeOf(response) };
    const code = await issueSignedCode(deps, current, current.step, signed);
    if (code === undefined) return false;
    await answerWithCode(deps, visit, current.request, { code, response });
  }
  return true;
}

function isCurrent({ clock }: BrowserDeps, response: string | undefined): boolean {
  const exp = response === undefined ? undefined : decodeJwsUnverified(response)?.payload["exp"];
  return typeof exp === "number" && exp > seconds(clock());
}

/** The application's `ui_locales`, unless the flow has expired. */
export function flowUiLocales(
  deps: BrowserDeps,
  { organisation }: Visit,
  waited: unknown,
): string | undefined {
  const continuation = waited as Continuation | null | undefined;
  if (continuation?.kind !== "authorization") return undefined;
  const flow = deps.flows.open(continuation.flow, organisation.id, deps.clock());
  return flow && flowForm(flow).values.get("ui_locales");
}
