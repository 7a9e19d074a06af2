/** Goes on with what core/connections has resolved: the session, or the page on which the person proves what is missing. */
import { refused, type UpstreamIdentity } from "../../../../core/connections/sign-in/link-identity.ts";
import { updatePendingIdentity } from "../../../../core/connections/sign-in/pending-identities.store.ts";
import { type Resolution, resolveAccount } from "../../../../core/connections/sign-in/resolve-account.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { sendEmailCode } from "../../../../core/email-codes/email-codes.ts";
import { isEmail } from "../../../../core/users/user.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { orgPath, redirectTo, requestOrigin, type Visit } from "../../authorize/browser.ts";
import { continueWithUpstream } from "../../authorize/sign-in/upstream-session.ts";
import type { CurrentFlow } from "../../authorize/take-step.ts";
import { countCodeRequest } from "../../recovery/link-mail.ts";
import type { ConnectionDeps } from "../connection-visit.ts";
import { continueInvited } from "./invited.ts";
import { beginPending, endPending, type PendingVisit, recordSuccess } from "./pending-visit.ts";

/** The browser has come back. @throws ConnectionSignInFailure */
export async function continueReturned(
  deps: ConnectionDeps,
  visit: Visit,
  current: CurrentFlow,
  { connection, identity }: { readonly connection: SignInConnection; readonly identity: UpstreamIdentity },
): Promise<void> {
  const { organisation, request } = visit;
  const { flow } = current;
  if (await continueInvited(deps, visit, current, { connection, identity })) return;
  const resolution = await resolveAccount(deps, connection, identity, { address: addressOf(request) });
  if (resolution.kind === "account") {
    await recordSuccess(deps, visit, connection, identity);
    return continueWithUpstream(deps, visit, current, { user: resolution.user, connection, identity });
  }
  if (resolution.kind === "prove-account") {
    await beginPending(deps, visit, { connection, identity, flow, email: resolution.email });
    return redirectTo(visit, orgPath(organisation, "link-account"));
  }
  // Who claims somebody's address gets the same answer whether there is an account of it or not.
  if (!deps.outbox.isOpen)
    throw refused(
      "accounts-not-created",
      identity,
      "the email address is missing or not trusted, and email is not set up",
    );
  const holderHash = await beginPending(deps, visit, { connection, identity, flow, email: null });
  const { email } = identity.user;
  if (email !== undefined && isEmail(email))
    await sendCode(deps, visit, { connection, holderHash, email, current });
  return redirectTo(visit, orgPath(organisation, "email-code"));
}

/** Limited as every email to a mailbox is. @returns how long to wait, when none was sent */
export async function sendCode(
  deps: ConnectionDeps,
  visit: Visit,
  {
    connection,
    holderHash,
    email,
    current,
  }: {
    readonly connection: SignInConnection;
    readonly holderHash: string;
    readonly email: string;
    readonly current: CurrentFlow;
  },
): Promise<{ readonly retryAfterSeconds: number } | undefined> {
  const limited = await countCodeRequest(deps, visit, email);
  if (limited) return limited;
  const { address, locale } = requestOrigin(visit, current.request.uiLocales);
  const { orgId, id } = connection;
  await sendEmailCode(deps, { orgId, actor: "anonymous", address, target: id, holderHash, email, locale });
  return undefined;
}

/** The person has typed the code. @throws ConnectionSignInFailure */
export async function continueProven(
  deps: ConnectionDeps,
  visit: Visit,
  here: PendingVisit,
  provenEmail: string,
): Promise<void> {
  const { connection, pending, current } = here;
  const address = addressOf(visit.request);
  const resolution: Resolution = await resolveAccount(deps, connection, pending.identity, {
    address,
    provenEmail,
  });
  if (resolution.kind !== "account") {
    await updatePendingIdentity(deps.database.query, pending, { email: provenEmail });
    return redirectTo(visit, orgPath(visit.organisation, "link-account"));
  }
  await endPending(deps, visit, here);
  await recordSuccess(deps, visit, connection, pending.identity);
  return continueWithUpstream(deps, visit, current, {
    ...{ user: resolution.user, connection, identity: pending.identity },
  });
}
