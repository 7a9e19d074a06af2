/** The signing request that a browser waits for, checked to be this browser's. */

import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { browserSessionHash } from "../../../core/signing-pools/user-requests.store.ts";
import type { Continuation } from "../../../core/tokens/pool-signing.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { NotFound } from "../../../http/errors.ts";
import type { Visit } from "../../../page-kit/page.ts";
import { type RequestStatus, requestStatus } from "../requests/request-status.ts";
import type { SigningDeps } from "../requests/signing-request.ts";
import { waitStatus } from "./wait-status.ts";

export interface WaitDeps {
  /** Processes of this machine. */
  readonly workers: number;
  readonly baseUrl: string;
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly signing: SigningDeps;
  readonly session: {
    currentSession(visit: Visit): Promise<SignedIn | undefined>;
    formBinding(visit: Visit): { readonly csrf: string };
    hasValidCsrfToken(visit: Visit, presented: string | undefined): boolean;
  };
  /** The languages the application asked for. */
  uiLocales(visit: Visit, continuation: unknown): string | undefined;
  /**
   * Redirects to the application, with the code when an agent has signed, otherwise with the error.
   * @returns false when the code was issued before: nothing has been sent
   */
  continueAuthorization(
    visit: Visit,
    waited: {
      readonly requestId: string;
      readonly continuation: Extract<Continuation, { kind: "authorization" }>;
      readonly outcome: "signed" | OAuthError;
    },
  ): Promise<boolean>;
  readonly errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler };
}

export type WaitingRequest = Awaited<ReturnType<typeof loadWaitingRequest>>;

/**
 * A request id alone grants nothing: the browser session that began the request must be present.
 * @throws NotFound for any other session, and for an unknown request
 */
export async function loadWaitingRequest(deps: WaitDeps, visit: Visit) {
  const { requestId = "" } = visit.request.params as { requestId?: string };
  const request = await requestStatus(deps.signing, { orgId: visit.organisation.id, requestId });
  if (!request || !(await isRequestOwner(deps, visit, request))) throw new NotFound("request");
  const application = await deps.applications.find(visit.organisation.id, request.applicationId);
  if (!application) throw new NotFound("application");
  return { ...describeWait(deps, visit, request), application };
}

/** Whether the current session is (still) the one that began the request. */
export async function isRequestOwner(
  { session }: WaitDeps,
  visit: Visit,
  request: RequestStatus,
): Promise<boolean> {
  const signedIn = await session.currentSession(visit);
  return signedIn !== undefined && request.browserSessionHash === browserSessionHash(signedIn.session.id);
}

/** Grants whose client is not in this browser. */
const polledGrants: Readonly<Record<string, "device" | "request">> = {
  device_code: "device",
  ciba: "request",
};

/** For a request that is known to be this browser's. */
export function describeWait(deps: WaitDeps, { organisation }: Visit, request: RequestStatus) {
  const polledFor = polledGrants[/(?:device_code|ciba)$/.exec(request.grantType)?.[0] ?? ""];
  const path = `/oauth/${organisation.id}/sovereign/wait/${request.requestId}`;
  const canContinue =
    request.continuation !== null && request.continuation !== undefined && polledFor === undefined;
  const continueUrl = canContinue ? `${deps.baseUrl}${path}/continue` : undefined;
  const status = waitStatus(request, deps.signing.clock(), continueUrl);
  return { request, status, polledFor, path };
}
