/** What follows a sign-in at an identity provider: the session, or the second factor that is due before it. */
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { UpstreamIdentity } from "../../../../core/connections/sign-in/link-identity.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { issuerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import {
  FEDERATED,
  holdUpstreamSignIn,
} from "../../../../core/connections/sign-in/upstream-sign-ins.store.ts";
import {
  recordUpstreamSignIn,
  upstreamAuthentication,
} from "../../../../core/connections/sign-in/upstream-sign-ins.ts";
import type { Session } from "../../../../core/sessions/session.ts";
import { findPasswordChange, lockIfPasswordUnchanged } from "../../../../core/users/account.store.ts";
import type { User } from "../../../../core/users/user.ts";
import { type BrowserDeps, continueFlow, currentSession, type Visit } from "../browser.ts";
import { showSecondFactor } from "../factors/factor-step.ts";
import { factorStep } from "../next-step.ts";
import { browserFactorStatus } from "../sign-in-context.ts";
import { type CurrentFlow, refuse } from "../take-step.ts";
import { deviceOfBrowser } from "./browser-device.ts";
import { finishSignIn, startBrowserSession } from "./start-session.ts";

const AMR = [FEDERATED];

/** Starts the session, unless a second factor is due first. Sends the response. @throws ConnectionSignInFailure */
export async function continueWithUpstream(
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  {
    user,
    connection: { id: connectionId, settings },
    identity,
  }: {
    readonly user: User;
    readonly connection: SignInConnection;
    readonly identity: UpstreamIdentity;
  },
): Promise<void> {
  const { flow, request } = current;
  const now = deps.clock();
  const factors = await browserFactorStatus(deps, visit, request, user);
  const { subject, acr, upstream = upstreamAuthentication({}, issuerOf(settings)) } = identity;
  const of = { orgId: user.orgId, userId: user.id, connectionId, subject };
  const { sessionLifetimeSeconds } = visit.organisation.settings;
  const signIn = { ...of, upstream, now, sessionLifetimeSeconds };
  const authTime = await recordUpstreamSignIn(deps.database.query, deps.encryption, signIn);
  const times = { authTime, createdAt: now, lastSeenAt: now, expiresAt: now };
  const session: Session = { orgId: user.orgId, id: "", userId: user.id, amr: AMR, acr, ...times };
  const step = factorStep({ request, now, factors }, { session, user });
  if (step?.kind === "refuse") return refuse(deps, visit, current, step.error);
  // Whatever ends a sign-in that waits for its factor ends this one: a new password, a disabled account.
  const passwordChangedAt = await findPasswordChange(deps.database.query, user);
  if (step?.kind === "second-factor" || step?.kind === "enrolment")
    return showSecondFactor(deps, visit, { flow, request, step }, passwordChangedAt);
  const before = await currentSession(deps, visit);
  const deviceId = await deviceOfBrowser(deps, visit);
  const started = await deps.database.transaction(async (tx) => {
    if (!(await lockIfPasswordUnchanged(tx, user, passwordChangedAt))) return undefined;
    if (!(await holdUpstreamSignIn(tx, { ...of, signedInAt: authTime }))) return undefined;
    const signIn = { user, amr: AMR, acr, authTime, request, before, deviceId };
    return startBrowserSession(deps, tx, visit, signIn);
  });
  if (!started) throw new ConnectionSignInFailure("account-disabled");
  finishSignIn(deps, visit, started);
  return continueFlow(deps, visit, flow);
}
