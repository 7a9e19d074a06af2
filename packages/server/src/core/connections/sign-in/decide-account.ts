/**
 * Whose account an identity at a provider is (connections.md §4), by reading alone: a sign-in does what is decided here, and a test
 * tells it. A subject that is linked is that account, whatever its email says. A new subject gets an account of its own where its
 * address may be believed, or is proven by a code, and nobody has it; an account that is there by the proof of a domain, where the
 * connection says so, and otherwise by the account's own factors.
 */
import type { Db } from "../../../db/open.ts";
import { domainOf } from "../../domains/domain.ts";
import { findDomainByName } from "../../domains/domains.store.ts";
import { enforcedConnection } from "../../domains/enforced-sign-in.ts";
import { factorOwner } from "../../second-factors/factor-status.ts";
import { findFactorSummary } from "../../second-factors/second-factors.store.ts";
import { emailKey, isEmail, type User } from "../../users/user.ts";
import { findUser, findUserByEmail } from "../../users/users.store.ts";
import type { FailureReason } from "./failure.ts";
import { ConnectionSignInFailure } from "./failure.ts";
import { refused, type UpstreamIdentity } from "./link-identity.ts";
import { findProvisionedUser } from "./link-provisioned.ts";
import { findIdentity, isLinkedAt } from "./linked-identities.store.ts";
import type { MappedUser } from "./mapping.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

/** The person has to show something first. */
export type Proof =
  /** Their address by a code: the provider's word for it is missing, or not believed. Whether there is an account is not looked at. */
  | { readonly kind: "prove-email" }
  /** That the account with this address is theirs, by its own factors. */
  | { readonly kind: "prove-account"; readonly email: string };

export type Unlinked =
  | Proof
  | { readonly kind: "create"; readonly email: string }
  | {
      readonly kind: "link";
      readonly user: User;
      /** The address has been proven to be the account's. */
      readonly confirmsAddress: boolean;
    };

export type Decision = Unlinked | { readonly kind: "sign-in"; readonly user: User };

interface Asked {
  readonly connection: SignInConnection;
  readonly identity: UpstreamIdentity;
  /** The person has typed the code that was sent there. */
  readonly provenEmail?: string | undefined;
}

/** @throws ConnectionSignInFailure */
export async function decideAccount(db: Db, asked: Asked): Promise<Decision> {
  const { connection, identity } = asked;
  const { orgId, id: connectionId } = connection;
  const linked = await findIdentity(db, { orgId, connectionId, subject: identity.subject });
  if (!linked) return decideUnlinked(db, asked);
  const user = await findUser(db, orgId, linked.userId);
  if (!user || user.disabledAt !== null) throw refused("account-disabled", identity);
  await requireOpen(db, asked, user.email);
  return { kind: "sign-in", user };
}

/** Of a subject that is new. @throws ConnectionSignInFailure */
export async function decideUnlinked(db: Db, asked: Asked): Promise<Unlinked> {
  const { connection, identity, provenEmail } = asked;
  const provisioned =
    provenEmail === undefined ? await findProvisionedUser(db, { connection, identity }) : undefined;
  if (provisioned) {
    await requireOpen(db, asked, provisioned.email);
    return linkTo(db, asked, provisioned, false);
  }
  const trust = provenEmail === undefined ? await trustOf(db, connection, identity.user) : "proven";
  const email = provenEmail ?? identity.user.email;
  if (trust === "none" || email === undefined) return { kind: "prove-email" };
  await requireOpen(db, asked, email);
  return decideTrusted(db, asked, { email, trust });
}

/** An enforced domain leaves its people its own connection alone, whoever has the mailbox. @throws ConnectionSignInFailure */
async function requireOpen(
  db: Db,
  { connection: { orgId, id }, identity }: Asked,
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

interface Trusted {
  readonly email: string;
  readonly trust: Trust;
}

async function decideTrusted(db: Db, asked: Asked, { email, trust }: Trusted): Promise<Unlinked> {
  const { connection, identity } = asked;
  const { createAccounts, linking } = connection.settings;
  const known = await findUserByEmail(db, connection.orgId, emailKey(email));
  if (!known) {
    if (!createAccounts) throw refused("accounts-not-created", identity);
    return { kind: "create", email };
  }
  if (linking === "never") throw refused("email-taken", identity);
  const isGiven = trust === "links" && linking === "verifiedEmail" && (await isNobodyElses(db, known));
  return isGiven ? linkTo(db, asked, known.user, true) : { kind: "prove-account", email };
}

/**
 * An account whose address nobody has confirmed, and that somebody can sign in to, may have been made beforehand by somebody
 * else: it is not linked (pre-hijacking).
 */
async function isNobodyElses(
  db: Db,
  { user, passwordHash }: { readonly user: User; readonly passwordHash: string | null },
): Promise<boolean> {
  if (user.emailVerified) return true;
  return passwordHash === null && (await findFactorSummary(db, factorOwner(user))).passkeys === 0;
}

async function linkTo(db: Db, asked: Asked, user: User, confirmsAddress: boolean): Promise<Unlinked> {
  if (user.disabledAt !== null) throw refused("account-disabled", asked.identity);
  await requireUnlinked(db, asked, user);
  return { kind: "link", user, confirmsAddress };
}

/** An account has one identity at a connection. @throws ConnectionSignInFailure */
async function requireUnlinked(
  db: Db,
  { connection: { orgId, id }, identity }: Asked,
  user: User,
): Promise<void> {
  if (await isLinkedAt(db, { orgId, connectionId: id, userId: user.id }))
    throw refused("already-linked", identity);
}

export interface Foreseen {
  readonly action: "create" | "signIn" | "link" | "refuse";
  readonly reason: FailureReason | null;
  /** What the person would have to show first: an address by a code, the account by its own factors, or both. */
  readonly proof: ReadonlyArray<"email" | "account">;
}

/**
 * What would become of a sign-in, when the person can prove what is asked.
 * @param canSendCodes whether email is set up
 */
export async function foreseeAccount(
  db: Db,
  { connection, identity }: Asked,
  canSendCodes: boolean,
): Promise<Foreseen> {
  try {
    const first = await decideAccount(db, { connection, identity });
    if (first.kind !== "prove-email") return await foreseen(db, { connection, identity }, first, []);
    if (!canSendCodes) throw refused("accounts-not-created", identity);
    const { email } = identity.user;
    const asked = { connection, identity, provenEmail: email };
    // Which address the person would type is not known: as of one that nobody has.
    if (email === undefined || !isEmail(email)) return ofAnyAddress(asked);
    return await foreseen(db, asked, await decideUnlinked(db, asked), ["email"]);
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    return { action: "refuse", reason: error.reason, proof: [] };
  }
}

/** @throws ConnectionSignInFailure */
function ofAnyAddress({ connection, identity }: Asked): Foreseen {
  const { createAccounts, linking } = connection.settings;
  if (createAccounts) return { action: "create", reason: null, proof: ["email"] };
  if (linking === "never") throw refused("accounts-not-created", identity);
  return { action: "link", reason: null, proof: ["email", "account"] };
}

/** @throws ConnectionSignInFailure */
async function foreseen(
  db: Db,
  asked: Asked,
  decision: Decision,
  proof: Foreseen["proof"],
): Promise<Foreseen> {
  if (decision.kind === "sign-in") return { action: "signIn", reason: null, proof };
  if (decision.kind === "create") return { action: "create", reason: null, proof };
  if (decision.kind === "prove-account") {
    const known = await findUserByEmail(db, asked.connection.orgId, emailKey(decision.email));
    if (known?.user.disabledAt !== null) throw refused("account-disabled", asked.identity);
    await requireUnlinked(db, asked, known.user);
    return { action: "link", reason: null, proof: [...proof, "account"] };
  }
  return { action: "link", reason: null, proof };
}
