/**
 * Whose account an identity at a provider is (connections.md §4). A subject that is linked is that account, whatever its email
 * says. A new subject gets an account of its own where its address may be believed and nobody has it; it is never given an
 * account that is there.
 */
import type { Db } from "../../../db/open.ts";
import { type Act, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { isLanguageTag, isPhone } from "../../users/profile/profile.ts";
import { emailKey, isEmail, isPersonName, type User } from "../../users/user.ts";
import { findUser, findUserByEmail, insertUser } from "../../users/users.store.ts";
import { newPermId } from "../../users/users.ts";
import { ConnectionSignInFailure } from "./failure.ts";
import { findIdentity, insertIdentity, recordIdentityUse } from "./linked-identities.store.ts";
import type { MappedUser } from "./mapping.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

/** What a provider has said, signed, about who is there. */
export interface UpstreamIdentity {
  readonly subject: string;
  readonly user: MappedUser;
  /** Of the assurance rules. */
  readonly acr: string;
}

/** @throws ConnectionSignInFailure */
export async function resolveAccount(
  deps: CoreDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  address: string,
): Promise<User> {
  const { orgId, id: connectionId } = connection;
  const key = { orgId, connectionId, subject: identity.subject };
  const linked = await findIdentity(deps.database.query, key);
  if (!linked) return createLinkedAccount(deps, connection, identity, address);
  const user = await findUser(deps.database.query, orgId, linked.userId);
  if (!user || user.disabledAt !== null) throw refused("account-disabled", identity);
  await recordIdentityUse(deps.database.query, key, deps.clock());
  return user;
}

const refused = (
  reason: "account-disabled" | "accounts-not-created" | "email-taken" | "already-linked",
  { subject, user }: UpstreamIdentity,
  detail?: string,
) => new ConnectionSignInFailure(reason, { subject, email: user.email, detail });

/**
 * An address is believed as far as the connection says. Without a proof of domains `provenDomains` believes none; who claims
 * somebody's address gets the same answer whether there is an account of it or not.
 */
const isTrusted = ({ settings }: SignInConnection, { emailVerified }: MappedUser): boolean =>
  settings.emailTrust === "verifiedClaim" && emailVerified;

function createLinkedAccount(
  deps: CoreDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  address: string,
): Promise<User> {
  const { orgId, id: connectionId, settings } = connection;
  const { email } = identity.user;
  if (email === undefined || !isEmail(email) || !isTrusted(connection, identity.user))
    throw refused("accounts-not-created", identity, "the email address is missing or not trusted");
  return deps.database.transaction(async (tx) => {
    if (await findUserByEmail(tx, orgId, emailKey(email))) throw refused("email-taken", identity);
    if (!settings.createAccounts) throw refused("accounts-not-created", identity);
    const now = deps.clock();
    const act = { orgId, actor: `connection:${connectionId}`, address };
    const user = await insertMappedUser(tx, act, { ...identity, email }, now);
    if (!user) throw refused("email-taken", identity);
    const { subject } = identity;
    const link = { orgId, connectionId, subject, userId: user.id, createdAt: now, lastSignInAt: now };
    // Two browsers of one person at once: the second one signs in when it tries again.
    if (!(await insertIdentity(tx, link))) throw refused("already-linked", identity);
    const event = { ...act, at: now, action: "identity.linked" as const, target: user.id };
    await recordAuditEvent(tx, { ...event, details: { connectionId } });
    return user;
  });
}

/** Standard, whatever is claimed: an administrator is made by administrators. @returns undefined when the address is taken */
async function insertMappedUser(
  tx: Db,
  act: Act,
  { user, email }: UpstreamIdentity & { readonly email: string },
  now: number,
): Promise<User | undefined> {
  const { phone, locale } = user;
  const id = newPermId();
  const { orgId } = act;
  const inserted = await insertUser(tx, {
    ...{ orgId, id, email: email.trim(), emailKey: emailKey(email), emailVerifiedAt: now },
    ...{ firstname: personName(user.firstname), surname: personName(user.surname) },
    phone: phone !== undefined && isPhone(phone) ? phone : null,
    locale: locale !== undefined && isLanguageTag(locale) ? locale : null,
    ...{ passwordHash: null, role: "Standard", now },
  });
  if (!inserted) return undefined;
  await recordAuditEvent(tx, { ...act, at: now, action: "user.created", target: id });
  return findUser(tx, orgId, id);
}

const personName = (name: string): string => (isPersonName(name) ? name : "");
