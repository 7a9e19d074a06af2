/** The CRL of each generation (RFC 5280 §5): signed when it is asked for and the last one will not do, kept until then. */
import { derInteger, derSequence, derValue } from "@signet/protocol/der/der-writer";
import type { Database } from "../../../db/open.ts";
import type { Clock } from "../../clock.ts";
import { caName } from "../certificates.ts";
import { BACKDATED_MS, wholeSeconds } from "../generation.ts";
import type { OpenGeneration } from "../rotation.ts";
import {
  authorityKeyIdentifier,
  extension,
  keyIdentifier,
  oid,
  serialNumber,
  signatureAlgorithm,
  signed,
  tags,
  x509Time,
} from "../x509.ts";
import { type CrlRow, findCrl, listEnded, replaceCrl } from "./revocation.store.ts";
import { type IssuedStatus, overlapEndOf, reasonCodes, revocationOf } from "./revocation.ts";

const HOUR_MS = 3_600_000;
export const CRL_LIFE_MS = 24 * HOUR_MS;
/**
 * Who fetches it can go on with it for half a day at least. A certificate that is superseded after it was signed need not
 * be thought of: its overlap is longer than the list is good for.
 */
const RENEWED_AFTER_MS = 12 * HOUR_MS;
/** A revoked certificate is on one CRL more after its own end (RFC 5280 §3.3). */
const LISTED_AFTER_END_MS = CRL_LIFE_MS;
/** Each is lost only to another node that has signed one. */
const MOST_ATTEMPTS = 20;

export interface RevocationListDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface RevocationList {
  readonly der: Buffer;
  readonly number: number;
  /** Milliseconds. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

/**
 * With every revocation that was committed before the call.
 * @returns undefined when the generation has been removed meanwhile
 */
export async function revocationListOf(
  deps: RevocationListDeps,
  ca: OpenGeneration,
): Promise<RevocationList | undefined> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const last = await findCrl(deps.database.query, ca.orgId, ca.generation);
    if (!last) return undefined;
    if (isGoodAt(last, deps.clock())) return toList(last);
    const next = await makeNext(deps, ca, last);
    if (await replaceCrl(deps.database.query, next)) return toList(next);
  }
  throw new Error("the CRL was replaced again and again while it was signed");
}

/** A clock that was far ahead may have signed the last one. */
const isGoodAt = ({ renew_at, this_update }: CrlRow, now: number): boolean =>
  now < renew_at && this_update <= now;

async function makeNext(deps: RevocationListDeps, ca: OpenGeneration, last: CrlRow): Promise<CrlRow> {
  const now = deps.clock();
  const number = last.crl_number + 1;
  // After `last` was read: what was revoked since is known by its mark.
  const ended = await listEnded(deps.database.query, ca, now - LISTED_AFTER_END_MS);
  const times = { thisUpdate: wholeSeconds(now - BACKDATED_MS), nextUpdate: wholeSeconds(now + CRL_LIFE_MS) };
  const der = await signedList(ca, { number, ended, now, ...times });
  return {
    ...last,
    crl_number: number,
    crl: der.toString("base64"),
    this_update: times.thisUpdate,
    next_update: times.nextUpdate,
    renew_at: Math.min(now + RENEWED_AFTER_MS, nextOverlapEnd(ended, now)),
  };
}

/** When the next certificate is due on the list that is superseded already. */
const nextOverlapEnd = (ended: readonly IssuedStatus[], now: number): number =>
  ended
    .map(overlapEndOf)
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

async function signedList(ca: OpenGeneration, content: ListContent): Promise<Buffer> {
  const entries = content.ended.flatMap((status) => entryOf(status, content.now));
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
    derValue(tags.around, extensions),
  );
  return signed(body, ca.key.sign);
}

function entryOf(status: IssuedStatus, now: number): Buffer[] {
  const revocation = revocationOf(status, now);
  if (!revocation) return [];
  const code = reasonCodes[revocation.reason];
  const reason =
    code === undefined
      ? []
      : [derSequence(extension(REASON_CODE, derValue(tags.enumerated, Buffer.from([code]))))];
  return [derSequence(serialNumber(status.serial), x509Time(wholeSeconds(revocation.at)), ...reason)];
}
