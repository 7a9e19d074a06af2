/** Links an identity at a provider to an account. Whether it may be is decided before. */
import type { Db } from "../../../db/open.ts";
import { voidActions } from "../../actions/actions.store.ts";
import { type Act, recordAuditEvent } from "../../audit/audit.store.ts";
import { type NoticeDeps, sendNotice } from "../../mail/notices.ts";
import type { RecordDeps } from "../../record-changes.ts";
import { setEmailVerified } from "../../users/account.store.ts";
import { endInvitation } from "../../users/invitations/invitation-records.store.ts";
import type { User } from "../../users/user.ts";
import { lockConnection } from "../connections.store.ts";
import { applyClaimedGroups } from "./claimed-groups.ts";
import { ConnectionSignInFailure } from "./failure.ts";
import { insertIdentity } from "./linked-identities.store.ts";
import type { MappedUser } from "./mapping.ts";
import type { SignInConnection } from "./sign-in-connections.ts";
import { issuerOf } from "./sign-in-settings.ts";
import type { UpstreamAuthentication } from "./upstream-sign-ins.ts";

/** What a provider has said, signed, about who is there. */
export interface UpstreamIdentity {
  readonly subject: string;
  readonly user: MappedUser;
  /** Of the assurance rules. */
  readonly acr: string;
  /** Whose values are claimed; undefined in what an older version has stored. */
  readonly groupIds?: readonly string[];
  /** Undefined in what an older version has stored. */
  readonly upstream?: UpstreamAuthentication;
}

export const refused = (
  reason: "account-disabled" | "accounts-not-created" | "email-taken" | "already-linked",
  { subject, user }: UpstreamIdentity,
  detail?: string,
) => new ConnectionSignInFailure(reason, { subject, email: user.email, detail });

/** Whoever links an identity to an account that is there tells its owner. */
export type LinkDeps = RecordDeps & NoticeDeps;

export interface Linking {
  readonly connection: SignInConnection;
  readonly identity: UpstreamIdentity;
  readonly act: Act;
  /** The address has been proven to be the account's. */
  readonly confirmsAddress?: boolean;
}

/**
 * An account that is there, or has just been made; its open invitation ends.
 * @throws ConnectionSignInFailure when the subject, or the account at this connection, is linked already
 */
export async function linkAccount(tx: Db, deps: RecordDeps, linking: Linking, user: User): Promise<void> {
  const { connection, identity, act } = linking;
  const { orgId, id: connectionId } = connection;
  const now = deps.clock();
  await link(tx, linking, user.id, now);
  // Whoever has the invitation's link would set a password. Link, account, invitation: the order in which a link is redeemed, so
  // that nothing deadlocks.
  await voidActions(tx, { orgId: user.orgId, userId: user.id, type: "AcceptInvitation", now });
  if (linking.confirmsAddress && !user.emailVerified) await confirmEmail(tx, act, user, now);
  await endInvitation(tx, { orgId, userId: user.id, as: "accepted_at", now });
  const said = { ...act, actor: `connection:${connectionId}` };
  const { groupIds = [] } = identity;
  await applyClaimedGroups(tx, deps, { act: said, connectionId, userId: user.id, groupIds });
}

async function confirmEmail(tx: Db, act: Act, { id, homeOrgId, email }: User, now: number): Promise<void> {
  if (await setEmailVerified(tx, { orgId: homeOrgId, id, email }, now))
    await recordAuditEvent(tx, { ...act, at: now, action: "email.verified", target: id });
}

/** As `linkAccount`, one that was there before: its owner hears of it, whoever it was. @throws ConnectionSignInFailure */
export async function linkExistingAccount(
  tx: Db,
  deps: LinkDeps,
  linking: Linking,
  user: User,
): Promise<void> {
  await linkAccount(tx, deps, linking, user);
  const { address } = linking.act;
  await sendNotice(tx, deps, user, { template: "IdentityLinked" }, address === undefined ? {} : { address });
}

/**
 * The person has signed in to the account by its own factors.
 * @throws ConnectionSignInFailure
 */
export function linkProvenAccount(
  deps: LinkDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  { user, address }: { readonly user: User; readonly address: string },
): Promise<void> {
  const act: Act = { orgId: connection.orgId, actor: `user:${user.id}`, address };
  return deps.database.transaction((tx) =>
    linkExistingAccount(tx, deps, { connection, identity, act }, user),
  );
}

async function link(
  tx: Db,
  { connection, identity, act }: Linking,
  userId: string,
  now: number,
): Promise<void> {
  const { orgId, id: connectionId } = connection;
  // Whoever moves the connection to another issuer waits, and sees who is linked; or has moved it since the browser left.
  const present = await lockConnection(tx, connection);
  if (!present?.settings || issuerOf(present.settings) !== issuerOf(connection.settings))
    throw refused("accounts-not-created", identity);
  const identities = { orgId, connectionId, subject: identity.subject, userId };
  // Two browsers of one person at once: the second one signs in when it tries again.
  if (!(await insertIdentity(tx, { ...identities, createdAt: now, lastSignInAt: now })))
    throw refused("already-linked", identity);
  const event = { ...act, at: now, action: "identity.linked" as const, target: userId };
  await recordAuditEvent(tx, { ...event, details: { connectionId } });
}
