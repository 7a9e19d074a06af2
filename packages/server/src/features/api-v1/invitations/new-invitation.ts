/** Invites one person: a new account, or one whose last invitation came to nothing. */
import type { Static } from "typebox";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { listIdentities } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import {
  findInvitationOfUser,
  invitationState,
} from "../../../core/users/invitations/invitation-records.store.ts";
import { invite } from "../../../core/users/invitations/invitations.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import type { Db } from "../../../db/open.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import { type ApiCaller, actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { changeUser, requireMayManage, type UserPatch } from "../users/change-user.ts";
import { requireMail } from "../users/new-user.ts";
import { requireFewResends } from "./count-resend.ts";
import { DEFAULT_SECONDS, type Invitation, type newInvitation } from "./invitation-record.ts";
import { findShownInvitation } from "./invitations-list.store.ts";

export interface NewInvitation {
  readonly invitation: Invitation;
  readonly link?: string;
}

/** @param deps in a transaction. @throws ApiError; InvalidUser, UsernameTaken */
export async function createInvitation(
  deps: ApiDeps,
  caller: ApiCaller,
  body: Static<typeof newInvitation>,
): Promise<NewInvitation> {
  const { email, expiresInSeconds = DEFAULT_SECONDS, sendEmail = true, role, ...others } = body;
  const { connectionId, ...rest } = others;
  requireMayManage(caller, role);
  if (sendEmail) requireMail(deps);
  const { orgId, ...by } = actOf(caller);
  const provider = connectionId?.toLowerCase();
  if (provider !== undefined) await requireProvider(deps, orgId, provider);
  const known = await knownUser(deps, orgId, email);
  if (known) requireMayManage(caller, known.role);
  if (known && sendEmail) await requireFewResends(deps, known);
  const { id: userId, link } = await invite(deps, {
    ...{ organisation: caller.organisation, email, firstname: "", surname: "", role: role ?? "Standard" },
    ...{ ...by, isNew: known === undefined, lifetimeMs: expiresInSeconds * 1_000, sendMail: sendEmail },
    connectionId: provider,
  });
  const wanted = { ...rest, ...(known && role !== undefined ? { role } : {}) };
  const patch = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  if (Object.keys(patch).length > 0)
    await changeUser(deps, caller, { id: userId, patch: patch as UserPatch, check: async () => {} });
  const row = await findInvitationOfUser(deps.database.query, { orgId, userId });
  const invitation = row && (await findShownInvitation(deps.database.query, { orgId, id: row.id }));
  if (!invitation) throw new Error("an invitation that was just written is there");
  return { invitation, ...(link === undefined ? {} : { link }) };
}

/** @throws ApiError 422 unless people sign in by it */
async function requireProvider({ database }: ApiDeps, orgId: string, id: string): Promise<void> {
  const connection = await findConnection(database.query, { orgId, id });
  if (connection?.enabled && isSignInConnection(connection)) return;
  const message = "names no enabled connection of the organisation that signs people in";
  throw invalid([{ path: "/connectionId", message }]);
}

/** The link would set a password, for whoever has it. */
const hasAnotherWayIn = async (db: Db, user: User): Promise<boolean> =>
  (await listIdentities(db, { orgId: user.orgId, userIds: [user.id] })).length > 0 ||
  (await findFactorSummary(db, factorOwner(user))).passkeys > 0;

/**
 * Whose invitation was withdrawn or ran out, and who has no other way in yet.
 * @throws ApiError 409 for everybody else who is there already
 */
async function knownUser(deps: ApiDeps, orgId: string, email: string): Promise<User | undefined> {
  const db = deps.database.query;
  const found = await findUserByEmail(db, orgId, emailKey(email));
  if (!found) return undefined;
  const { user, passwordHash } = found;
  const last = await findInvitationOfUser(db, { orgId, userId: user.id });
  const state = last && invitationState(last, deps.clock());
  if (state === "pending")
    throw conflict("The user is invited already: resend the invitation, or delete it.");
  const isOpen = state !== undefined && state !== "accepted" && passwordHash === null && !user.disabledAt;
  if (!isOpen || user.homeOrgId !== orgId || (await hasAnotherWayIn(db, user)))
    throw conflict("The organisation has a user with this email address.");
  return user;
}
