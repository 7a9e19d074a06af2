/**
 * Whose account an identity at a provider is (connections.md §4). A subject that is linked is that account, whatever its email
 * says. A new subject gets an account of its own where its address may be believed and nobody has it; an account that is there
 * only by the proof of a domain, where the connection says so.
 */
import type { Db } from "../../../db/open.ts";
import { type Act, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { domainOf } from "../../domains/domain.ts";
import { findDomainByName } from "../../domains/domains.store.ts";
import { isLanguageTag, isPhone } from "../../users/profile/profile.ts";
import { emailKey, isEmail, isPersonName, type User } from "../../users/user.ts";
import { findUser, findUserByEmail, insertUser } from "../../users/users.store.ts";
import { newPermId } from "../../users/users.ts";
import { lockConnection } from "../connections.store.ts";
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

/** How far an address is believed: to find the account that has it, or only to make one that nobody has. */
type Trust = "links" | "creates" | "none";

/**
 * A provider speaks for the addresses of a domain that the organisation has proven and routed to it; `verifiedClaim` believes it
 * for others too, but gives it no account that is there.
 */
async function trustOf(
  db: Db,
  { orgId, id, settings }: SignInConnection,
  { email, emailVerified }: MappedUser,
): Promise<Trust> {
  if (email === undefined || !isEmail(email) || !emailVerified || settings.emailTrust === "never")
    return "none";
  const name = domainOf(email);
  const domain = name === undefined ? undefined : await findDomainByName(db, orgId, name);
  if (domain?.state === "proven" && domain.connectionId === id) return "links";
  return settings.emailTrust === "verifiedClaim" ? "creates" : "none";
}

type Linking = {
  readonly connection: SignInConnection;
  readonly identity: UpstreamIdentity;
  readonly act: Act;
};

async function createLinkedAccount(
  deps: CoreDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  address: string,
): Promise<User> {
  const { orgId, id: connectionId, settings } = connection;
  const email = identity.user.email ?? "";
  const trust = await trustOf(deps.database.query, connection, identity.user);
  // Who claims somebody's address gets the same answer whether there is an account of it or not.
  if (trust === "none")
    throw refused("accounts-not-created", identity, "the email address is missing or not trusted");
  const linking: Linking = {
    connection,
    identity,
    act: { orgId, actor: `connection:${connectionId}`, address },
  };
  return deps.database.transaction(async (tx) => {
    const known = await findUserByEmail(tx, orgId, emailKey(email));
    const now = deps.clock();
    if (known) {
      if (!mayLink(linking, known.user, trust)) throw refused("email-taken", identity);
      await link(tx, linking, known.user.id, now);
      return known.user;
    }
    if (!settings.createAccounts) throw refused("accounts-not-created", identity);
    const user = await insertMappedUser(tx, linking.act, { ...identity, email }, now);
    if (!user) throw refused("email-taken", identity);
    await link(tx, linking, user.id, now);
    return user;
  });
}

/**
 * An account whose address nobody has confirmed may be somebody else's, made beforehand: it is not linked (pre-hijacking).
 * @throws ConnectionSignInFailure
 */
function mayLink({ connection, identity }: Linking, user: User, trust: Trust): boolean {
  const isLinked = trust === "links" && connection.settings.linking === "verifiedEmail" && user.emailVerified;
  if (isLinked && user.disabledAt !== null) throw refused("account-disabled", identity);
  return isLinked;
}

/** @throws ConnectionSignInFailure when the subject, or the account at this connection, is linked already */
async function link(
  tx: Db,
  { connection, identity, act }: Linking,
  userId: string,
  now: number,
): Promise<void> {
  const { orgId, id: connectionId } = connection;
  // Whoever moves the connection to another issuer waits, and sees who is linked; or has moved it since the browser left.
  const present = await lockConnection(tx, connection);
  if (present?.settings?.oidc.issuer !== connection.settings.oidc.issuer)
    throw refused("accounts-not-created", identity);
  const identities = { orgId, connectionId, subject: identity.subject, userId };
  // Two browsers of one person at once: the second one signs in when it tries again.
  if (!(await insertIdentity(tx, { ...identities, createdAt: now, lastSignInAt: now })))
    throw refused("already-linked", identity);
  const event = { ...act, at: now, action: "identity.linked" as const, target: userId };
  await recordAuditEvent(tx, { ...event, details: { connectionId } });
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
