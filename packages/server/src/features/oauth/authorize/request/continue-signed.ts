/** Continues an authorization after the wait for a signing agent. The wait page has checked the browser. */
import type { Continuation, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import type { BrowserDeps, Visit } from "../browser.ts";
import { flowForm } from "../flow.ts";
import { readSealedFlow, takeStep } from "../take-step.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { issueSignedCode } from "./pool-signed-code.ts";

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
  const { familyId, claimsHash } = continuation;
  const current = await readSealedFlow(deps, visit, continuation.flow);
  if (!current) return true;
  if (outcome !== "signed" && current.kind === "authorization")
    await answerWithError(deps, visit, current.request, outcome);
  else if (current.kind === "page" || current.step.kind !== "issue-code")
    await takeStep(deps, visit, current);
  else {
    const code = await issueSignedCode(deps, current, current.step, { requestId, familyId, claimsHash });
    if (code === undefined) return false;
    await answerWithCode(deps, visit, current.request, code);
  }
  return true;
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
