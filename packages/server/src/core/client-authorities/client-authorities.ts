/** Creates, changes and deletes the certificate authorities that an organisation trusts for its clients. */
import { X509Certificate } from "node:crypto";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findGenerations } from "../device-ca/device-ca.store.ts";
import { isRecordName } from "../organisations/organisation.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import {
  deleteClientAuthorityRow,
  findClientAuthority,
  insertClientAuthority,
  listClientAuthorities,
  replaceClientAuthority,
} from "./client-authorities.store.ts";
import {
  type ClientAuthority,
  InvalidClientAuthority,
  MAX_CLIENT_AUTHORITIES,
  readAuthority,
} from "./client-authority.ts";

export type ClientAuthoritySettings = Pick<ClientAuthority, "name" | "certificate" | "enabled">;

type OfAuthority = Act & { readonly id: string; check?(authority: ClientAuthority): Promise<void> };

/** @throws InvalidClientAuthority */
export async function createClientAuthority(
  deps: CoreDeps,
  { settings: { name, certificate, enabled }, ...act }: Act & { readonly settings: ClientAuthoritySettings },
): Promise<ClientAuthority> {
  requireName(name);
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    const read = await readTrusted(tx, act.orgId, certificate, now);
    const known = await listClientAuthorities(tx, act.orgId);
    if (known.length >= MAX_CLIENT_AUTHORITIES)
      throw new InvalidClientAuthority("too-many", `an organisation has at most ${MAX_CLIENT_AUTHORITIES}`);
    requireNew(known, read.fingerprint);
    const authority: ClientAuthority = {
      ...{ orgId: act.orgId, id: newUuid(), name, ...read, enabled },
      ...{ createdAt: now, updatedAt: now, version: 1 },
    };
    await insertClientAuthority(tx, authority);
    const details = { name, subject: authority.subject, fingerprint: authority.fingerprint };
    const event = { action: "client-authority.created" as const, target: authority.id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return authority;
  });
}

/**
 * Does nothing when nothing changes.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when there is none
 * @throws InvalidClientAuthority
 */
export async function changeClientAuthority(
  deps: CoreDeps,
  { id, change, check, ...act }: OfAuthority & { readonly change: Partial<ClientAuthoritySettings> },
): Promise<ClientAuthority | undefined> {
  const { name, certificate, enabled } = change;
  if (name !== undefined) requireName(name);
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, act.orgId);
    const before = await findClientAuthority(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const now = deps.clock();
    // What is there already may have expired since: that is no reason to refuse a new name.
    const isOther = certificate !== undefined && certificate.trim() !== before.certificate.trim();
    const read = isOther ? await readTrusted(tx, act.orgId, certificate, now) : {};
    const wanted = {
      ...{ ...before, ...read },
      ...(name === undefined ? {} : { name }),
      ...(enabled === undefined ? {} : { enabled }),
    };
    const changed = (["name", "fingerprint", "enabled"] as const).filter(
      (member) => wanted[member] !== before[member],
    );
    if (changed.length === 0) return before;
    if (changed.includes("fingerprint"))
      requireNew(await listClientAuthorities(tx, act.orgId), wanted.fingerprint);
    const authority = { ...wanted, updatedAt: now, version: before.version + 1 };
    await replaceClientAuthority(tx, authority);
    const details = {
      changed: changed.map((member) => (member === "fingerprint" ? "certificate" : member)),
      ...{ subject: authority.subject, fingerprint: authority.fingerprint },
    };
    const event = { action: "client-authority.changed" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return authority;
  });
}

/** Its certificates authenticate nobody from the next request on. @returns false when there is none */
export function deleteClientAuthority(
  { database, clock }: CoreDeps,
  { id, check, ...act }: OfAuthority,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockOrganisation(tx, act.orgId);
    const key = { orgId: act.orgId, id };
    const authority = await findClientAuthority(tx, key);
    if (!authority) return false;
    await check?.(authority);
    await deleteClientAuthorityRow(tx, key);
    const details = { name: authority.name, subject: authority.subject };
    const event = { action: "client-authority.deleted" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, clock()), ...event });
    return true;
  });
}

function requireName(name: string): void {
  if (!isRecordName(name))
    throw new InvalidClientAuthority("name", "must be 1 to 100 characters without control characters");
}

/** The organisation's own device CA is trusted already, where revocation counts: not as an authority of anybody's names. */
async function readTrusted(tx: Db, orgId: string, pem: string, now: number) {
  const { parsed, ...read } = readAuthority(pem, now);
  const isDeviceCa = (await findGenerations(tx, orgId)).some(({ certificate }) =>
    parsed.x509.publicKey.equals(new X509Certificate(certificate).publicKey),
  );
  if (isDeviceCa)
    throw new InvalidClientAuthority(
      "device-ca",
      "is the organisation's device CA, which is trusted already",
    );
  return read;
}

function requireNew(known: readonly ClientAuthority[], fingerprint: string): void {
  if (known.some((one) => one.fingerprint === fingerprint))
    throw new InvalidClientAuthority("duplicate", "the organisation has this certificate already");
}
