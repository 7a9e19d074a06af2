/** The CRL of each generation (RFC 5280 §5): signed on demand when the stored one is outdated. */

import { derInteger, derSequence, derValue } from "@signet/protocol/der/der-writer";
import type { CoreDeps } from "../../core-deps.ts";
import { caName } from "../certificates.ts";
import { BACKDATE_MS, wholeSeconds } from "../generation.ts";
import type { OpenGeneration } from "../rotation.ts";
import {
  authorityKeyIdentifier,
  extension,
  keyIdentifier,
  oid,
  serialNumber,
  signatureAlgorithm,
  signStructure,
  tags,
  x509Time,
} from "../x509.ts";
import { type CrlRow, findCrl, listRevokedOrSuperseded, replaceCrl } from "./revocation.store.ts";
import { effectiveRevocation, endOfOverlap, type IssuedStatus, reasonCodes } from "./revocation.ts";

const HOUR_MS = 3_600_000;
export const CRL_LIFETIME_MS = 24 * HOUR_MS;
/**
 * A fetched CRL stays valid for at least half a day. Certificates that are superseded after it was signed don't matter:
 * their overlap is longer.
 */
const RENEW_AFTER_MS = 12 * HOUR_MS;
/** A revoked certificate is on one more CRL after its expiry (RFC 5280 §3.3). */
const LISTED_AFTER_EXPIRY_MS = CRL_LIFETIME_MS;
/** An attempt fails only if another node signed a CRL meanwhile. */
const MAX_ATTEMPTS = 20;

export interface RevocationList {
  readonly der: Buffer;
  readonly number: number;
  /** Milliseconds. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

/**
 * Contains every revocation committed before the call.
 * @returns undefined when the generation was deleted meanwhile
 */
export async function currentRevocationList(
  deps: CoreDeps,
  ca: OpenGeneration,
): Promise<RevocationList | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const last = await findCrl(deps.database.query, ca.orgId, ca.generation);
    if (!last) return undefined;
    if (isCurrent(last, deps.clock())) return toList(last);
    const next = await signNextList(deps, ca, last);
    if (await replaceCrl(deps.database.query, next)) return toList(next);
  }
  throw new Error("the CRL was replaced too often while it was signed");
}

/** `this_update` may be in the future if a node's clock was ahead. */
const isCurrent = ({ renew_at, this_update }: CrlRow, now: number): boolean =>
  now < renew_at && this_update <= now;

async function signNextList(deps: CoreDeps, ca: OpenGeneration, last: CrlRow): Promise<CrlRow> {
  const now = deps.clock();
  const number = last.crl_number + 1;
  // Read after `last`: `revocations` shows what was revoked since.
  const revoked = await listRevokedOrSuperseded(deps.database.query, ca, now - LISTED_AFTER_EXPIRY_MS);
  const times = {
    thisUpdate: wholeSeconds(now - BACKDATE_MS),
    nextUpdate: wholeSeconds(now + CRL_LIFETIME_MS),
  };
  const der = await signList(ca, { number, ended: revoked, now, ...times });
  return {
    ...last,
    crl_number: number,
    crl: der.toString("base64"),
    this_update: times.thisUpdate,
    next_update: times.nextUpdate,
    renew_at: Math.min(now + RENEW_AFTER_MS, nextOverlapEnd(revoked, now)),
  };
}

/** When the next superseded certificate has to be on the list. */
const nextOverlapEnd = (ended: readonly IssuedStatus[], now: number): number =>
  ended
    .map(endOfOverlap)
    .reduce((next, end) => (end > now && end < next ? end : next), Number.POSITIVE_INFINITY);

const toList = (row: CrlRow): RevocationList => ({
  der: Buffer.from(row.crl, "base64"),
  number: row.crl_number,
  thisUpdate: row.this_update,
  nextUpdate: row.next_update,
});

interface ListContent {
  readonly number: number;
  readonly ended: readonly IssuedStatus[];
  readonly now: number;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

const REASON_CODE = oid("2.5.29.21");
const CRL_NUMBER = oid("2.5.29.20");
const version2 = derInteger(1);

async function signList(ca: OpenGeneration, content: ListContent): Promise<Buffer> {
  const entries = content.ended.flatMap((status) => crlEntry(status, content.now));
  const extensions = derSequence(
    authorityKeyIdentifier(keyIdentifier(ca.key.spki)),
    extension(CRL_NUMBER, derInteger(content.number)),
  );
  const body = derSequence(
    version2,
    signatureAlgorithm,
    caName(ca.orgId, ca.generation),
    x509Time(content.thisUpdate),
    x509Time(content.nextUpdate),
    // An empty list must be left out (§5.1.2.6).
    ...(entries.length === 0 ? [] : [derSequence(...entries)]),
    derValue(tags.constructed, extensions),
  );
  return signStructure(body, ca.key.sign);
}

function crlEntry(status: IssuedStatus, now: number): Buffer[] {
  const revocation = effectiveRevocation(status, now);
  if (!revocation) return [];
  const code = reasonCodes[revocation.reason];
  const reason =
    code === undefined
      ? []
      : [derSequence(extension(REASON_CODE, derValue(tags.enumerated, Buffer.from([code]))))];
  return [derSequence(serialNumber(status.serial), x509Time(wholeSeconds(revocation.at)), ...reason)];
}
