/** Adds and removes witnesses of an organisation's log. */
import { parseVerifierKey } from "@signet/protocol/ledger/note";
import { newUuid } from "@signet/protocol/uuid";
import { isCallable } from "../applications/validation.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { MAX_WITNESSES } from "./ledger-log.ts";
import { InvalidWitness, type LedgerWitness } from "./witness.ts";
import { deleteWitnessRow, findWitness, insertWitness, listWitnesses } from "./witnesses.store.ts";

export interface WitnessSettings {
  readonly url: string;
  readonly verifierKey: string;
}

const MAX_URL = 1_000;

/** @throws InvalidWitness */
function requireValid({ url, verifierKey }: WitnessSettings): void {
  const { search = "", hash = "" } = URL.parse(url) ?? {};
  if (url.length > MAX_URL || !isCallable(url) || search !== "" || hash !== "")
    throw new InvalidWitness("invalid-url", "/url");
  if (parseVerifierKey(verifierKey)?.type !== 4) throw new InvalidWitness("invalid-key", "/verifierKey");
}

/** @throws InvalidWitness */
export function addWitness(
  deps: CoreDeps,
  { settings, ...act }: Act & { readonly settings: WitnessSettings },
): Promise<LedgerWitness> {
  requireValid(settings);
  const { url, verifierKey } = settings;
  return deps.database.transaction(async (tx) => {
    const { orgId } = act;
    // Of two at once the second counts the first.
    await lockOrganisation(tx, orgId);
    const others = await listWitnesses(tx, orgId);
    if (others.length >= MAX_WITNESSES) throw new InvalidWitness("too-many-witnesses");
    if (others.some((one) => isSameKey(one.verifierKey, verifierKey)))
      throw new InvalidWitness("known-key", "/verifierKey");
    const now = deps.clock();
    const witness: LedgerWitness = {
      ...{ orgId, id: newUuid(), url: url.replace(/\/+$/, ""), verifierKey },
      ...{ cosignedSize: 0, cosignedAt: null, lastError: null, createdAt: now },
    };
    await insertWitness(tx, witness);
    const details = { url: witness.url, verifierKey };
    const event = { action: "ledger-witness.created" as const, target: witness.id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return witness;
  });
}

/** One key under two names would be counted twice. */
const isSameKey = (one: string, other: string): boolean => {
  const [a, b] = [parseVerifierKey(one), parseVerifierKey(other)];
  return a !== undefined && b !== undefined && a.publicKey.equals(b.publicKey);
};

/** @param check of the present record; throwing rolls back @returns false when there is none */
export function removeWitness(
  deps: CoreDeps,
  { id, check, ...act }: Act & { readonly id: string; check?(witness: LedgerWitness): Promise<void> },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const witness = await findWitness(tx, key);
    if (!witness) return false;
    await check?.(witness);
    if (!(await deleteWitnessRow(tx, key))) return false;
    const details = { url: witness.url, verifierKey: witness.verifierKey };
    const event = { action: "ledger-witness.deleted" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
