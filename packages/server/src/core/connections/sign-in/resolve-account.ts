/** Does what is decided of an identity at a provider: signs in to its account, links one that is there, or makes one. */
import { isUniqueViolation } from "../../../db/database-errors.ts";
import type { Db } from "../../../db/open.ts";
import { type Act, recordAuditEvent } from "../../audit/audit.store.ts";
import { type AccountKey, setUsername } from "../../users/account.store.ts";
import { areAttributes } from "../../users/member-record.ts";
import { isLanguageTag, isPhone } from "../../users/profile/profile.ts";
import { emailKey, isPersonName, type User } from "../../users/user.ts";
import { isUsername, usernameKey } from "../../users/username.ts";
import { findUser, insertUser, setMemberAttributes } from "../../users/users.store.ts";
import { newPermId } from "../../users/users.ts";
import { followClaimedGroups } from "./claimed-groups.ts";
import { decideAccount, decideUnlinked, type Proof } from "./decide-account.ts";
import {
  type LinkDeps,
  type Linking,
  linkAccount,
  linkExistingAccount,
  refused,
  type UpstreamIdentity,
} from "./link-identity.ts";
import { recordIdentityUse } from "./linked-identities.store.ts";
import type { MappedUser } from "./mapping.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

/** Whose account it is, or what the person has to show first. */
export type Resolution = Proof | { readonly kind: "account"; readonly user: User };

interface Resolving {
  readonly address: string;
  /** The person has typed the code that was sent there. */
  readonly provenEmail?: string | undefined;
}

/** @throws ConnectionSignInFailure */
export async function resolveAccount(
  deps: LinkDeps,
  connection: SignInConnection,
  identity: UpstreamIdentity,
  { address, provenEmail }: Resolving,
): Promise<Resolution> {
  const { orgId, id: connectionId } = connection;
  const act: Act = { orgId, actor: `connection:${connectionId}`, address };
  const { query } = deps.database;
  const decision = await decideAccount(query, { connection, identity, provenEmail });
  if (decision.kind === "sign-in") {
    const { user } = decision;
    const { groupIds = [], subject } = identity;
    await followClaimedGroups(query, deps, { act, connectionId, userId: user.id, groupIds });
    await recordIdentityUse(query, { orgId, connectionId, subject }, deps.clock());
    return { kind: "account", user };
  }
  if (decision.kind === "prove-email" || decision.kind === "prove-account") return decision;
  const resolve = () =>
    deps.database.transaction((tx) => resolveNew(tx, deps, { connection, identity, act, provenEmail }));
  return resolve().catch((error: unknown) => {
    // Somebody else took the username at the same moment: now it is seen to be taken.
    if (isUniqueViolation(error)) return resolve();
    throw error;
  });
}

/** Decided again, by the transaction that does it. */
async function resolveNew(
  tx: Db,
  deps: LinkDeps,
  { provenEmail, ...linking }: Linking & Pick<Resolving, "provenEmail">,
): Promise<Resolution> {
  const { identity, act } = linking;
  const decision = await decideUnlinked(tx, { ...linking, provenEmail });
  if (decision.kind === "link") {
    const { user, confirmsAddress } = decision;
    await linkExistingAccount(tx, deps, { ...linking, confirmsAddress }, user);
    return { kind: "account", user };
  }
  if (decision.kind !== "create") return decision;
  const user = await insertMappedUser(tx, act, { ...identity, email: decision.email }, deps.clock());
  if (!user) throw refused("email-taken", identity);
  await linkAccount(tx, deps, linking, user);
  return { kind: "account", user };
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
