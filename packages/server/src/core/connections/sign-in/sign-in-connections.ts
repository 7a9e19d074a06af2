/** Creates and changes connections for signing in. What they share with a directory's is in ../connections.ts. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import type { RecordDeps } from "../../record-changes.ts";
import {
  type Connection,
  type ConnectionKey,
  connectionNameKey,
  InvalidConnection,
  validConnectionName,
} from "../connection.ts";
import { insertConnection, isNameTaken, lockConnection, replaceConnection } from "../connections.store.ts";
import { requireNotEnforced } from "../enforced-domains.ts";
import { findMappableGroups } from "./claimed-groups.store.ts";
import { endClaimedGroups } from "./claimed-groups.ts";
import { openSecret, sealSecret } from "./client-secret.ts";
import { pointer } from "./group-mapping.ts";
import { hasIdentities } from "./linked-identities.store.ts";
import { type AskedSettings, isClientSecret, signInSettings } from "./settings-rules.ts";
import {
  type GroupMapping,
  issuerOf,
  type SettingsFault,
  type SignInKind,
  type SignInSettings,
} from "./sign-in-settings.ts";

export interface SignInConnectionDeps extends RecordDeps {
  readonly encryption: Encryption;
}

/** What is wrong with what was asked for, by member. */
export class InvalidSignInConnection extends Error {
  override readonly name = "InvalidSignInConnection";
  readonly faults: readonly SettingsFault[];
  constructor(faults: readonly SettingsFault[]) {
    super("the connection is not valid");
    this.faults = faults;
  }
}

export interface AskedConnection {
  readonly kind: SignInKind;
  readonly name: string;
  readonly enabled: boolean;
  readonly settings: AskedSettings;
  /** Of SAML, the key that is made for it. Undefined: as it is. */
  readonly clientSecret: string | undefined;
}

/** @throws InvalidConnection, InvalidSignInConnection */
export async function createSignInConnection(
  deps: SignInConnectionDeps,
  {
    asked,
    id = newUuid(),
    ...act
  }: Act & {
    readonly asked: AskedConnection;
    /** Where its addresses have been shown already. */
    readonly id?: string;
  },
): Promise<Connection> {
  const now = deps.clock();
  const key = { orgId: act.orgId, id };
  const name = validConnectionName(asked.name);
  const { clientSecret } = asked;
  const secret = clientSecret === undefined ? null : sealSecret(deps.encryption, key, clientSecret);
  const settings = validSettings(asked, secret !== null);
  const connection: Connection = {
    ...{ ...key, kind: asked.kind, name, nameKey: connectionNameKey(name), enabled: asked.enabled },
    ...{ deletionPolicy: "disable", settings, secret },
    ...{ createdAt: now, updatedAt: now, version: 1 },
  };
  await deps.database.transaction(async (tx) => {
    await requireMappable(tx, key, settings.groups);
    if (!(await insertConnection(tx, connection))) throw new InvalidConnection("name-taken");
    const event = { action: "connection.created" as const, target: id, details: { name } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
  });
  return connection;
}

/**
 * Does nothing when nothing changes.
 * @param ask what it shall be, of what it is
 * @returns undefined when there is none
 * @throws InvalidConnection, InvalidSignInConnection
 */
export function changeSignInConnection(
  deps: SignInConnectionDeps,
  {
    id,
    ask,
    ...act
  }: Act & { readonly id: string; readonly ask: (before: SignInConnection) => AskedConnection },
): Promise<Connection | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockConnection(tx, { orgId: act.orgId, id });
    if (!before || !isSignInConnection(before)) return undefined;
    const asked = ask(before);
    const name = validConnectionName(asked.name);
    const secret = changedSecret(deps, before, asked);
    const settings = validSettings(asked, secret !== null);
    if (issuerOf(settings) !== issuerOf(before.settings))
      await requireMayMove(tx, before, sendsSecret(before, asked, secret));
    await requireMappable(tx, before, settings.groups, before.settings.groups);
    const nameKey = connectionNameKey(name);
    if (before.enabled && !asked.enabled) await requireNotEnforced(tx, before);
    const wanted = { ...before, name, nameKey, enabled: asked.enabled, settings, secret };
    const changed = changedMembers(before, wanted);
    if (changed.length === 0) return before;
    if (nameKey !== before.nameKey && (await isNameTaken(tx, { orgId: act.orgId, id, nameKey })))
      throw new InvalidConnection("name-taken");
    const now = deps.clock();
    const connection = { ...wanted, updatedAt: now, version: before.version + 1 };
    if (!(await replaceConnection(tx, connection))) throw new InvalidConnection("name-taken");
    if (changed.includes("groups"))
      await endClaimedGroups(tx, deps, before, { act, except: Object.values(settings.groups?.map ?? {}) });
    const event = { action: "connection.changed" as const, target: id, details: { changed } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return connection;
  });
}

export interface SignInConnection extends Connection {
  readonly kind: SignInKind;
  readonly settings: SignInSettings;
}

export const isSignInConnection = (connection: Connection): connection is SignInConnection =>
  connection.settings !== null;

/** @throws InvalidSignInConnection */
function validSettings({ kind, settings: asked, clientSecret }: AskedConnection, hasSecret: boolean) {
  const { settings, faults } = signInSettings(kind, asked, hasSecret);
  const secretFaults =
    clientSecret === undefined || isClientSecret(clientSecret)
      ? []
      : [{ path: "/oidc/clientSecret", message: "has 1 to 4,096 characters without control characters" }];
  if (faults.length + secretFaults.length > 0)
    throw new InvalidSignInConnection([...faults, ...secretFaults]);
  return settings;
}

/**
 * Of the organisation, and changed by nobody else. One that was mapped before may be gone meanwhile: nothing comes of it.
 * @throws InvalidSignInConnection
 */
async function requireMappable(
  tx: Db,
  { orgId, id: connectionId }: ConnectionKey,
  groups: GroupMapping | null | undefined,
  before?: GroupMapping | null,
): Promise<void> {
  const known = new Set(Object.values(before?.map ?? {}));
  const entries = Object.entries(groups?.map ?? {}).filter(([, id]) => !known.has(id));
  const ids = [...new Set(entries.map(([, id]) => id))];
  const mappable = await findMappableGroups(tx, { orgId, connectionId }, ids);
  const faults = entries
    .filter(([, id]) => !mappable.has(id))
    .map(([value]) => ({
      path: `/mapping/groups/map/${pointer(value)}`,
      message: "names no group of the organisation that this connection may change",
    }));
  if (faults.length > 0) throw new InvalidSignInConnection(faults);
}

/**
 * To another issuer. The secret goes to whom it is of: who may change a connection, and doesn't know its secret, must not have it
 * sent elsewhere. A `sub` is one issuer's alone (OpenID Connect Core §5.7): another one could say that it is anybody who is linked.
 * @throws InvalidSignInConnection
 */
async function requireMayMove(
  tx: Db,
  { orgId, id: connectionId, kind }: SignInConnection,
  keepsSecret: boolean,
): Promise<void> {
  const path = kind === "saml" ? "/saml/entityId" : "/oidc/issuer";
  const isUsed = await hasIdentities(tx, { orgId, connectionId });
  const faults = [
    ...(isUsed ? [{ path, message: "stays while people sign in by it: make another connection" }] : []),
    ...(keepsSecret ? [{ path: "/oidc/clientSecret", message: "is required with another issuer" }] : []),
  ];
  if (faults.length > 0) throw new InvalidSignInConnection(faults);
}

/** A key of one's own is sent to nobody. */
const sendsSecret = ({ kind }: SignInConnection, { clientSecret }: AskedConnection, secret: string | null) =>
  kind !== "saml" && secret !== null && clientSecret === undefined;

/** The same secret stays as it is sealed; a public client has none. */
function changedSecret(
  { encryption }: SignInConnectionDeps,
  before: SignInConnection,
  { clientSecret, settings }: AskedConnection,
): string | null {
  if (clientSecret !== undefined)
    return openSecret(encryption, before) === clientSecret
      ? before.secret
      : sealSecret(encryption, before, clientSecret);
  return settings.oidc?.tokenEndpointAuthMethod === "none" ? null : before.secret;
}

/** For the audit log: members' names, never their values. */
function changedMembers(before: SignInConnection, after: SignInConnection): string[] {
  const own = (["name", "enabled", "secret"] as const).filter((member) => before[member] !== after[member]);
  const settings = (Object.keys(after.settings) as ReadonlyArray<keyof SignInSettings>).filter(
    (member) =>
      JSON.stringify(before.settings[member] ?? null) !== JSON.stringify(after.settings[member] ?? null),
  );
  return [...own, ...settings];
}
