/**
 * A user whom a directory has provisioned is linked by the directory's `externalId`: the same id as the provider's `sub`. A `sub` is
 * one issuer's alone, and many providers number their users: it counts only from the provider that belongs to the directory's
 * people, and for administrators only where the connection may speak for accounts that are there (docs/connections.md).
 */
import type { Db } from "../../../db/open.ts";
import { domainOf } from "../../domains/domain.ts";
import { findDomainByName } from "../../domains/domains.store.ts";
import { findProvisionedBy } from "../../provisioning/scim-users.store.ts";
import { emailKey, type User } from "../../users/user.ts";
import { findUser } from "../../users/users.store.ts";
import { listConnections } from "../connections.store.ts";
import type { Linking, UpstreamIdentity } from "./link-identity.ts";

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
  const isTheirs =
    (await isRoutedHere(tx, connection, user)) ||
    (await isOnlyPair(tx, linkingPair(connection, identity, user)));
  return isTheirs ? user : undefined;
}

/** The organisation has proven the domain, and routed its people to this provider. */
async function isRoutedHere(tx: Db, { orgId, id }: Linking["connection"], user: User): Promise<boolean> {
  const name = domainOf(user.email);
  const domain = name === undefined ? undefined : await findDomainByName(tx, orgId, name);
  return domain?.state === "proven" && domain.connectionId === id;
}

const linkingPair = (
  { orgId, id }: Linking["connection"],
  { user: { email, emailVerified } }: UpstreamIdentity,
  user: User,
) => ({
  ...{ orgId, id },
  isSameAddress: emailVerified && email !== undefined && emailKey(email) === emailKey(user.email),
});

/** One directory and one provider, which names the account's own address too: there is nobody else whom it could mean. */
async function isOnlyPair(
  tx: Db,
  { orgId, id, isSameAddress }: ReturnType<typeof linkingPair>,
): Promise<boolean> {
  if (!isSameAddress) return false;
  const all = await listConnections(tx, orgId);
  const [directories, providers] = [
    all.filter(({ kind }) => kind === "scim"),
    all.filter(({ kind }) => kind !== "scim"),
  ];
  return directories.length === 1 && providers.length === 1 && providers[0]?.id === id;
}
