/** From the wait page back to the application; what happens there is the authorization endpoint's. */
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Continuation } from "../../../core/tokens/pool-signing.ts";
import { signingOutcome } from "../requests/signing/signing-failure.ts";
import type { SovereignRequests } from "../requests/sovereign-requests.ts";
import type { Visit } from "./wait-visit.ts";

export interface GoOnDeps {
  readonly requests: Pick<SovereignRequests, "status">;
  /** @returns false when its code was issued before: nothing has been sent */
  continueAuthorization(
    visit: Visit,
    waited: {
      readonly requestId: string;
      readonly continuation: Extract<Continuation, { kind: "authorization" }>;
      readonly outcome: "signed" | OAuthError;
    },
  ): Promise<boolean>;
}

/** For a browser that is known to be the request's. @returns false when there is no way to go on, or it is not over */
export const goOn =
  ({ requests, continueAuthorization }: GoOnDeps) =>
  async (visit: Visit, requestId: string): Promise<boolean> => {
    const status = await requests.status(visit.organisation.id, requestId);
    const outcome = status && signingOutcome(status);
    const continuation = status?.continuation as Continuation | null | undefined;
    if (!outcome || outcome === "waiting" || continuation?.kind !== "authorization") return false;
    return continueAuthorization(visit, { requestId, continuation, outcome });
  };
