/**
 * Whose account an identity at a provider is (connections.md §4). A subject that is linked is that account, whatever its email
 * says. A new subject gets an account of its own where its address may be believed, or is proven by a code, and nobody has it; an
 * account that is there by the proof of a domain, where the connection says so, and otherwise by the account's own factors.
 */
import { isUniqueViolation } from "../../../db/database-errors.ts";
import type { Db } from "../../../db/open.ts";
import { type Act, recordAuditEvent } from "../../audit/audit.store.ts";
import { domainOf } from "../../domains/domain.ts";
import { findDomainByName } from "../../domains/domains.store.ts";
import { enforcedConnection } from "../../domains/enforced-sign-in.ts";
import type { RecordDeps } from "../../record-changes.ts";
import { factorOwner } from "../../second-factors/factor-status.ts";
import { findFactorSummary } from "../../second-factors/second-factors.store.ts";
import { type AccountKey, setUsername } from "../../users/account.store.ts";
import { areAttributes } from "../../users/member-record.ts";
import { isLanguageTag, isPhone } from "../../users/profile/profile.ts";
import { emailKey, isEmail, isPersonName, type User } from "../../users/user.ts";
import { isUsername, usernameKey } from "../../users/username.ts";
import { findUser, findUserByEmail, insertUser, setMemberAttributes } from "../../users/users.store.ts";
import { newPermId } from "../../users/users.ts";
import { followClaimedGroups } from "./claimed-groups.ts";
import { type Linking, linkAccount, refused, type UpstreamIdentity } from "./link-identity.ts";
import { linkProvisionedAccount } from "./link-provisioned.ts";
import { findIdentity, recordIdentityUse } from "./linked-identities.store.ts";
import type { MappedUser } from "./mapping.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

/** Whose account it is, or what the person has to show first. */
export type Resolution =
  | { readonly kind: "account"; readonly user: User }
  /** Their address by a code: the provider's word for it is missing, or not believed. Whether there is an account is not looked at. */
  | { readonly kind: "prove-email" }
  /** That the account with this address is theirs, by its own factors. */
  | { readonly kind: "prove-account"; readonly email: string };

interface Resolving {
  readonly address: string;
  /** The person has typed the code that was sent there. */
  readonly provenEmail?: string | undefined;
}

/** @throws ConnectionSignInFailure */
export async function resolveAccount(
  deps: RecordDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  { address, provenEmail }: Resolving,
): Promise<Resolution> {
  const { orgId, id: connectionId } = connection;
  const key = { orgId, connectionId, subject: identity.subject };
  const act: Act = { orgId, actor: `connection:${connectionId}`, address };
  const linked = await findIdentity(deps.database.query, key);
  if (linked) {
    const user = await findUser(deps.database.query, orgId, linked.userId);
    if (!user || user.disabledAt !== null) throw refused("account-disabled", identity);
    await requireOpen(deps.database.query, connection, identity, user.email);
    await followClaimedGroups(deps.database.query, deps, {
      act,
      connectionId,
      userId: user.id,
      groupIds: identity.groupIds ?? [],
    });
    await recordIdentityUse(deps.database.query, key, deps.clock());
    return { kind: "account", user };
  }
  const provisioned =
    provenEmail === undefined
      ? await linkProvisionedAccount(deps, { connection, identity, act }, (tx, user) =>
          requireOpen(tx, connection, identity, user.email),
        )
      : undefined;
  if (provisioned) return { kind: "account", user: provisioned };
  const trust =
    provenEmail === undefined ? await trustOf(deps.database.query, connection, identity.user) : "proven";
  const email = provenEmail ?? identity.user.email;
  if (trust === "none" || email === undefined) return { kind: "prove-email" };
  await requireOpen(deps.database.query, connection, identity, email);
  const resolve = () =>
    deps.database.transaction((tx) => resolveTrusted(tx, deps, { connection, identity, act, email, trust }));
  return resolve().catch((error: unknown) => {
    // Somebody else took the username at the same moment: now it is seen to be taken.
    if (isUniqueViolation(error)) return resolve();
    throw error;
  });
}

/** An enforced domain leaves its people its own connection alone, whoever has the mailbox. @throws ConnectionSignInFailure */
async function requireOpen(
  db: Db,
  { orgId, id }: SignInConnection,
  identity: UpstreamIdentity,
  email: string,
): Promise<void> {
  const only = await enforcedConnection(db, orgId, email);
  if (only !== undefined && only !== id)
    throw refused("accounts-not-created", identity, "the domain is enforced with another connection");
}

/**
 * How far an address is believed: to be given the account that has it, or only to make one that nobody has. Who is not given it
 * may prove that it is theirs.
 */
type Trust = "links" | "creates" | "proven";

/**
 * A provider speaks for the addresses of a domain that the organisation has proven and routed to it; `verifiedClaim` believes it
 * for others too, but gives it no account that is there.
 */
async function trustOf(
  db: Db,
  { orgId, id, settings }: SignInConnection,
  { email, emailVerified }: MappedUser,
): Promise<Trust | "none"> {
  if (email === undefined || !isEmail(email) || !emailVerified || settings.emailTrust === "never")
    return "none";
  const name = domainOf(email);
  const domain = name === undefined ? undefined : await findDomainByName(db, orgId, name);
  if (domain?.state === "proven" && domain.connectionId === id) return "links";
  return settings.emailTrust === "verifiedClaim" ? "creates" : "none";
}

type Trusted = Linking & { readonly email: string; readonly trust: Trust };

async function resolveTrusted(tx: Db, deps: RecordDeps, trusted: Trusted): Promise<Resolution> {
  const { connection, identity, act, email } = trusted;
  const { createAccounts, linking } = connection.settings;
  const known = await findUserByEmail(tx, act.orgId, emailKey(email));
  const now = deps.clock();
  if (!known) {
    if (!createAccounts) throw refused("accounts-not-created", identity);
    const user = await insertMappedUser(tx, act, { ...identity, email }, now);
    if (!user) throw refused("email-taken", identity);
    await linkAccount(tx, deps, trusted, user);
    return { kind: "account", user };
  }
  if (linking === "never") throw refused("email-taken", identity);
  if (!(await mayLink(tx, trusted, known))) return { kind: "prove-account", email };
  if (known.user.disabledAt !== null) throw refused("account-disabled", identity);
  await linkAccount(tx, deps, { ...trusted, confirmsAddress: true }, known.user);
  return { kind: "account", user: known.user };
}

/**
 * An account whose address nobody has confirmed, and that somebody can sign in to, may have been made beforehand by somebody
 * else: it is not linked (pre-hijacking).
 */
async function mayLink(
  tx: Db,
  { connection, trust }: Trusted,
  { user, passwordHash }: { readonly user: User; readonly passwordHash: string | null },
): Promise<boolean> {
  if (trust !== "links" || connection.settings.linking !== "verifiedEmail") return false;
  if (user.emailVerified) return true;
  return passwordHash === null && (await findFactorSummary(tx, factorOwner(user))).passkeys === 0;
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
  await insertMappedMembers(tx, { orgId, id }, user, now);
  await recordAuditEvent(tx, { ...act, at: now, action: "user.created", target: id });
  return findUser(tx, orgId, id);
}

/** What is not valid, or taken, is left out: nobody is kept outside by a claim that is none. */
async function insertMappedMembers(
  tx: Db,
  key: AccountKey,
  { username, attributes }: MappedUser,
  now: number,
): Promise<void> {
  const name = username === undefined ? "" : usernameKey(username);
  if (isUsername(name)) await setUsername(tx, key, name, now);
  if (Object.keys(attributes).length > 0 && areAttributes(attributes))
    await setMemberAttributes(tx, key, { attributes });
}

const personName = (name: string): string => (isPersonName(name) ? name : "");
