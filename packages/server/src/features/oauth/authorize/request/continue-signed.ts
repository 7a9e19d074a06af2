/** The end of a browser's wait for an agent: on with what it waited for. The wait page has checked whose browser it is. */
import type { Continuation, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import { type BrowserDeps, openFlow, type Visit } from "../browser.ts";
import { formOfFlow } from "../flow.ts";
import { readFlow, takeStep } from "../take-step.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { issueSignedCode } from "./pool-signed-code.ts";

export interface WaitedFor {
  readonly requestId: string;
  readonly continuation: Extract<Continuation, { kind: "authorization" }>;
  readonly outcome: Exclude<SigningOutcome, "waiting">;
}

/**
 * The code to the application, or the error. What was decided before the wait is decided again: who has signed out
 * meanwhile, or was taken off the application, gets no code.
 * @returns false when its code was issued before: nothing has been sent
 */
export async function continueAuthorization(
  deps: BrowserDeps,
  visit: Visit,
  { requestId, continuation, outcome }: WaitedFor,
): Promise<boolean> {
  const { familyId, claimsHash } = continuation;
  const read = await readFlow(deps, visit, openFlow(deps, visit, continuation.flow));
  if (!read) return true;
  if (outcome !== "signed" && read.kind === "authorization")
    await answerWithError(deps, visit, read.request, outcome);
  else if (read.kind === "page" || read.step.kind !== "issue-code") await takeStep(deps, visit, read);
  else {
    const code = await issueSignedCode(deps, read, read.step, { requestId, familyId, claimsHash });
    if (code === undefined) return false;
    await answerWithCode(deps, visit, read.request, code);
  }
  return true;
}

/** The languages that the application asked for, while the way back to it is still there. */
export function uiLocalesOf(deps: BrowserDeps, { organisation }: Visit, waited: unknown): string | undefined {
  const continuation = waited as Continuation | null | undefined;
  if (continuation?.kind !== "authorization") return undefined;
  const flow = deps.flows.open(continuation.flow, organisation.id, deps.clock());
  return flow && formOfFlow(flow).values.get("ui_locales");
}
