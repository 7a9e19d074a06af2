/** A sign-in at an identity provider that failed: told to the user, logged for the organisation, and counted. */
import { countFailedSignIn } from "../../../core/activity/kinds.ts";
import { recordUnauthenticatedEvent } from "../../../core/audit/unauthenticated-events.ts";
import { type ConnectionSignInFailure, failureStatus } from "../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { recordConnectionSignIn } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { isStartlessShown } from "../../../core/connections/sign-in/startless-returns.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { flowPath, pageFrame, show, type Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";
import { connectionErrorPage } from "./connection-error.page.ts";
import { accountFlow, type ConnectionDeps } from "./connection-visit.ts";

interface Failed {
  readonly connection: SignInConnection;
  readonly failure: ConnectionSignInFailure;
  /** Undefined when the browser has come back to nothing: what goes on then is a sign-in to the account page. */
  readonly flow: Flow | undefined;
}

export async function showConnectionError(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, failure, flow }: Failed,
): Promise<void> {
  await recordFailure(deps, visit, { connection, failure, flow });
  const { reason } = failure;
  const frame = pageFrame(visit);
  const status = failureStatus(reason);
  // Never the flow of another browser, whose start it may be.
  const onward = flow ?? accountFlow(deps, visit);
  const page = connectionErrorPage({
    ...frame,
    connection: { name: connection.name },
    ...{ reason, reference: visit.request.id },
    retryUri: connection.enabled
      ? flowPath(deps, visit, `connections/${connection.id}/start`, onward)
      : undefined,
    otherUri: flowPath(deps, visit, "authorize", onward),
  });
  return show(visit, frame, page, { status, redirectsElsewhere: true });
}

async function recordFailure(
  deps: ConnectionDeps,
  { organisation, request }: Visit,
  { connection, failure, flow }: Failed,
): Promise<void> {
  const { reason, detail, subject, email } = failure;
  const { id: orgId } = organisation;
  const address = addressOf(request);
  countFailedSignIn(deps.activity.count, orgId, "connection");
  if (flow !== undefined || (await isStartlessShown(deps, connection)))
    await recordConnectionSignIn(deps.database.query, {
      ...{ orgId, connectionId: connection.id, at: deps.clock(), outcome: "failed", reason },
      ...{ detail: detail ?? null, subject: subject ?? null, email: email ?? null, reference: request.id },
    });
  await recordUnauthenticatedEvent(deps, {
    ...{ orgId, actor: "anonymous", action: "connection-sign-in.failed", target: connection.id },
    ...{ address, details: { reason, reference: request.id } },
  });
}
