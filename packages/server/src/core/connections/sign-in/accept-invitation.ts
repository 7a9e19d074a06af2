/**
 * An invitation that is accepted at an identity provider: its link has proven the address, and whoever signs in there gets the account
 * that was made for it. The link is redeemed in the transaction that links (connections.md §1).
 */
import { type ActionDeps, redeemActionByHash } from "../../actions/actions.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { RecordDeps } from "../../record-changes.ts";
import type { User } from "../../users/user.ts";
import { findUser } from "../../users/users.store.ts";
import { linkAccount, refused, type UpstreamIdentity } from "./link-identity.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

export interface Acceptance {
  readonly connection: SignInConnection;
  readonly identity: UpstreamIdentity;
  /** SHA-256 of the secret in the link, which this browser has presented. */
  readonly linkHash: string;
  readonly address: string;
}

/** @throws ConnectionSignInFailure when the link has ended, or the identity or the account is linked already */
export function acceptInvitation(
  deps: RecordDeps & ActionDeps,
  { connection, identity, linkHash, address }: Acceptance,
): Promise<User> {
  const { orgId, id: connectionId } = connection;
  return deps.database.transaction(async (tx) => {
    const key = { orgId, type: "AcceptInvitation", idHash: linkHash } as const;
    const action = await redeemActionByHash(tx, deps, key);
    if (action?.data.connectionId !== connectionId)
      throw refused("accounts-not-created", identity, "the invitation has ended");
    const user = await findUser(tx, orgId, action.userId);
    // The link proves control of the address that it was sent to, and of no other.
    if (!user || user.email !== action.data.email)
      throw refused("accounts-not-created", identity, "the invitation has ended");
    if (user.disabledAt !== null) throw refused("account-disabled", identity);
    const act = { orgId, actor: `user:${user.id}`, address };
    await linkAccount(tx, deps, { connection, identity, act, confirmsAddress: true }, user);
    await recordAuditEvent(tx, { ...act, at: deps.clock(), action: "invitation.accepted", target: user.id });
    return user;
  });
}
