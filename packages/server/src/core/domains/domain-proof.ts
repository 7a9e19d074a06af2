/** Whether a domain is the organisation's: what its TXT record says, when asked and day by day (connections.md §6). */
import type { Act } from "../audit/audit.store.ts";
import { auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { type Domain, type DomainKey, type ProofError, proofRecord } from "./domain.ts";
import { listDueDomains, lockDomain, recordLook, replaceDomain } from "./domains.store.ts";
import type { LookUpTxt, TxtAnswer } from "./txt-records.ts";

export interface ProofDeps extends CoreDeps {
  readonly lookUpTxt: LookUpTxt;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A record that is gone for so long ends what the domain is trusted for. */
const EXPIRY_MS = 7 * DAY_MS;
/** Somebody who has just added a domain waits for it. */
const EAGER = { forMs: DAY_MS, everyMs: 10 * MINUTE_MS };
const MISSING_EVERY_MS = 60 * MINUTE_MS;

/** Asks before any transaction: a name server may take seconds. */
export const lookUpProof = ({ lookUpTxt }: ProofDeps, domain: Domain): Promise<TxtAnswer> =>
  lookUpTxt(proofRecord(domain).name);

/** @returns undefined when the record is there */
function proofError(domain: Domain, { records }: TxtAnswer): ProofError | undefined {
  if (records === undefined) return "unreachable";
  if (records.length === 0) return "not-found";
  return records.includes(proofRecord(domain).value) ? undefined : "wrong-value";
}

/** The domain after a look. No server that answers is no sign that the record is gone. */
export function withProof(domain: Domain, answer: TxtAnswer, now: number): Domain {
  const lastError = proofError(domain, answer) ?? null;
  if (lastError === null)
    return { ...domain, state: "proven", lastError, missingSince: null, nextCheckAt: now + DAY_MS };
  if (domain.state !== "proven") {
    const isEager = domain.state === "pending" && now - domain.createdAt < EAGER.forMs;
    return { ...domain, lastError, nextCheckAt: now + (isEager ? EAGER.everyMs : DAY_MS) };
  }
  const missingSince = lastError === "unreachable" ? domain.missingSince : (domain.missingSince ?? now);
  const hasLapsed = missingSince !== null && now - missingSince >= EXPIRY_MS;
  return {
    ...{ ...domain, lastError, missingSince, nextCheckAt: now + MISSING_EVERY_MS },
    state: hasLapsed ? "lapsed" : "proven",
  };
}

/**
 * Stores what a look found.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when the domain is gone
 */
export function storeProof(
  deps: CoreDeps,
  {
    id,
    answer,
    check,
    ...act
  }: Act & DomainKey & { readonly answer: TxtAnswer; check?(domain: Domain): Promise<void> },
): Promise<Domain | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockDomain(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const now = deps.clock();
    const looked = withProof(before, answer, now);
    const isChanged = looked.state !== before.state || looked.lastError !== before.lastError;
    const domain = isChanged ? { ...looked, updatedAt: now, version: before.version + 1 } : looked;
    if (domain.state === before.state) await recordLook(tx, domain);
    else {
      await replaceDomain(tx, domain);
      const action = domain.state === "proven" ? "domain.proven" : "domain.lapsed";
      const event = { action, target: id, details: { domain: domain.domain } } as const;
      await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    }
    return domain;
  });
}

const BATCH = 100;
const AT_ONCE = 10;

/** Looks up the domains that are due: a part of housekeeping. */
export async function checkDueDomains(deps: ProofDeps): Promise<void> {
  const due = await listDueDomains(deps.database.query, deps.clock(), BATCH);
  for (let first = 0; first < due.length; first += AT_ONCE)
    await Promise.all(
      due.slice(first, first + AT_ONCE).map(async (domain) => {
        const answer = await lookUpProof(deps, domain);
        const { orgId, id } = domain;
        await storeProof(deps, { orgId, id, answer, actor: "system" });
      }),
    );
}
