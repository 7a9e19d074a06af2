/** A browser that comes to a request: whose it is, and how the request stands. */
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { NotFound } from "../../../http/errors.ts";
import type { Visit } from "../../../page-kit/page.ts";
import type { RequestStatus } from "../agent-api/request-messages.ts";
import type { SovereignRequests } from "../requests/sovereign-requests.ts";
import { browserSessionHash } from "./browser-session.ts";
import { type WaitStatus, waitStatus } from "./wait-status.ts";

export type { Visit } from "../../../page-kit/page.ts";

export interface WaitDeps {
  readonly baseUrl: string;
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly requests: Pick<SovereignRequests, "status" | "respond" | "cancel" | "waitFor" | "clock">;
  /** What the sign-in gives. */
  readonly browserSession: {
    whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
    formBinding(visit: Visit): { readonly csrf: string };
    isOwnForm(visit: Visit, presented: string | undefined): boolean;
  };
  /** The languages that the application asked for. */
  uiLocales(visit: Visit, continuation: unknown): string | undefined;
  /**
   * Takes the browser back to the application: with the code when an agent has signed, else with the error.
   * @returns false when somebody went there before, or it is not over; nothing has been sent then
   */
  goOn(visit: Visit, requestId: string): Promise<boolean>;
  readonly errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler };
}

export interface Waiting {
  readonly request: RequestStatus;
  readonly status: WaitStatus;
  readonly application: Application;
  readonly isForDevice: boolean;
  /** `/oauth/{org}/sovereign/wait/{requestId}`. */
  readonly path: string;
}

/**
 * A request's id alone opens nothing: it takes the browser session that began the request.
 * @throws NotFound for every other one, and when there is no such request
 */
export async function waitingHere(deps: WaitDeps, visit: Visit): Promise<Waiting> {
  const { requestId = "" } = visit.request.params as { requestId?: string };
  const request = await deps.requests.status(visit.organisation.id, requestId);
  if (!request || !(await isTheirs(deps, visit, request))) throw new NotFound("request");
  const application = await deps.applications.find(visit.organisation.id, request.applicationId);
  if (!application) throw new NotFound("application");
  return { ...described(deps, visit, request), application };
}

/** Whether the browser's session is (still) the one that began the request. */
export async function isTheirs(
  { browserSession }: Pick<WaitDeps, "browserSession">,
  visit: Visit,
  { browserSessionHash: begunBy }: Pick<RequestStatus, "browserSessionHash">,
): Promise<boolean> {
  const signedIn = await browserSession.whoIsThere(visit);
  return signedIn !== undefined && begunBy === browserSessionHash(signedIn.session.id);
}

/** Of a request that is known to be this browser's. */
export function described(
  deps: Pick<WaitDeps, "baseUrl" | "requests">,
  { organisation }: Visit,
  request: RequestStatus,
): Omit<Waiting, "application"> {
  const isForDevice = request.grantType.endsWith("device_code");
  const path = `/oauth/${organisation.id}/sovereign/wait/${request.requestId}`;
  const goesOn = request.continuation !== null && request.continuation !== undefined && !isForDevice;
  const status = waitStatus(
    request,
    deps.requests.clock(),
    goesOn ? `${deps.baseUrl}${path}/continue` : undefined,
  );
  return { request, status, isForDevice, path };
}
