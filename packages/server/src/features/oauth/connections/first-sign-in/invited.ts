/** An invitation that is accepted at an identity provider: there with the link's hash in the sealed flow, and back with an identity. */
import { sha256Base64url } from "@signet/protocol/hash";
import { acceptInvitation } from "../../../../core/connections/sign-in/accept-invitation.ts";
import type { UpstreamIdentity } from "../../../../core/connections/sign-in/link-identity.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, flowPath, orgPath, type Visit } from "../../authorize/browser.ts";
import { type Flow, flowForm } from "../../authorize/flow.ts";
import { pageFlow } from "../../authorize/page-request.ts";
import { continueWithUpstream } from "../../authorize/sign-in/upstream-session.ts";
import type { CurrentFlow } from "../../authorize/take-step.ts";
import type { ConnectionDeps } from "../connection-visit.ts";
import { recordSuccess } from "./pending-visit.ts";

const INVITATION = "invitation";

/** @param link.id as in the address: a secret, which is not stored with the flow */
export function invitedStartUri(
  deps: BrowserDeps,
  visit: Visit,
  { id, connectionId }: { readonly id: string; readonly connectionId: string },
): string {
  const page = { place: "account", path: orgPath(visit.organisation, "account") } as const;
  const flow = pageFlow(visit.organisation.id, page, deps.clock());
  const invited = {
    ...flow,
    parameters: [...flow.parameters, [INVITATION, sha256Base64url(id)] as const],
  };
  return flowPath(deps, visit, `connections/${connectionId}/start`, invited);
}

/** Parameters of an authorization request are the client's: of a page's flow alone they are this server's. */
const invitationOf = (flow: Flow): string | undefined =>
  flow.page === undefined ? undefined : flowForm(flow).values.get(INVITATION);

/** @returns false for a sign-in that accepts no invitation. @throws ConnectionSignInFailure */
export async function continueInvited(
  deps: ConnectionDeps,
  visit: Visit,
  current: CurrentFlow,
  { connection, identity }: { readonly connection: SignInConnection; readonly identity: UpstreamIdentity },
): Promise<boolean> {
  const linkHash = invitationOf(current.flow);
  if (linkHash === undefined) return false;
  const address = addressOf(visit.request);
  const user = await acceptInvitation(deps, { connection, identity, linkHash, address });
  await recordSuccess(deps, visit, connection, identity);
  await continueWithUpstream(deps, visit, current, {
    user: { ...user, emailVerified: true },
    connection,
    identity,
  });
  return true;
}
