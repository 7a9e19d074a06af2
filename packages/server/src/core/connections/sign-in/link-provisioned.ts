/**
 * A user whom a directory has provisioned is linked by the directory's `externalId`: the same id as the provider's `sub`, whatever the
 * address is trusted with (connections.md §4). A `sub` is one issuer's alone, and many providers number their users: so nothing else
 * may say that it means another person, and for administrators the connection speaks only for accounts where it may (docs/connections.md).
 */
import type { Db } from "../../../db/open.ts";
import { domainOf } from "../../domains/domain.ts";
import { findDomainByName } from "../../domains/domains.store.ts";
import { findProvisionedBy } from "../../provisioning/scim-users.store.ts";
import { emailKey, type User } from "../../users/user.ts";
import { findUser } from "../../users/users.store.ts";
import { listConnections } from "../connections.store.ts";
import type { Linking } from "./link-identity.ts";
import { presetDefaults } from "./presets.ts";
import { issuerOf } from "./sign-in-settings.ts";

/** @returns undefined where nobody is linked */
export async function findProvisionedUser(
  tx: Db,
  { connection, identity }: Pick<Linking, "connection" | "identity">,
): Promise<User | undefined> {
  const { orgId } = connection;
  if (connection.settings.linking === "never") return undefined;
  const [found, ...more] = await findProvisionedBy(tx, { orgId, externalId: identity.subject });
  // Two directories that mean somebody else by the same id.
  if (!found || more.length > 0) return undefined;
  const user = await findUser(tx, orgId, found.userId);
  if (!user || user.homeOrgId !== orgId) return undefined;
  if (user.role === "Administrator" && connection.settings.linking !== "verifiedEmail") return undefined;
  const { email, emailVerified } = identity.user;
  const routed = await routedConnection(tx, orgId, user);
  if (routed !== undefined) return routed === connection.id ? user : undefined;
  const isSameAddress = email !== undefined && emailKey(email) === emailKey(user.email);
  if (isSameAddress && emailVerified) return user;
  const isOtherAddress = email !== undefined && !isSameAddress;
  return !isOtherAddress && (await isOnlyPair(tx, connection)) ? user : undefined;
}

/** The provider of the organisation's people there, where it has proven their domain; undefined where nothing says whose they are. */
async function routedConnection(tx: Db, orgId: string, user: User): Promise<string | undefined> {
  const name = domainOf(user.email);
  const domain = name === undefined ? undefined : await findDomainByName(tx, orgId, name);
  return domain?.state === "proven" ? (domain.connectionId ?? undefined) : undefined;
}

/** One directory, and one provider, of which not everybody can be a user: there is nobody else whom the id could mean. */
async function isOnlyPair(tx: Db, { orgId, id, settings }: Linking["connection"]): Promise<boolean> {
  if (publicIssuers.includes(issuerOf(settings))) return false;
  const all = await listConnections(tx, orgId);
  const providers = all.filter(({ kind }) => kind !== "scim");
  return all.length === providers.length + 1 && providers.length === 1 && providers[0]?.id === id;
}

/** Whose presets know the issuer: it is the same for everybody. */
const publicIssuers = Object.values(presetDefaults).flatMap(({ issuer }) => issuer ?? []);
