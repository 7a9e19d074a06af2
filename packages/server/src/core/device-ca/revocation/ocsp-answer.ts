/** Answers OCSP requests about an organisation's device certificates (RFC 6960), from the database at every request. */
import { hash } from "node:crypto";
import { DerError } from "@signet/protocol/der/der";
import { derOctetString, derSequence, derTime, derValue } from "@signet/protocol/der/der-writer";
import type { Database } from "../../../db/open.ts";
import type { Clock } from "../../clock.ts";
import { caName } from "../certificates.ts";
import type { OpenGeneration } from "../rotation.ts";
import { keyBits, oid, signed, tags } from "../x509.ts";
import { type CertificateId, type OcspRequest, readOcspRequest } from "./ocsp-request.ts";
import { findBySerials } from "./revocation.store.ts";
import { type IssuedStatus, reasonCodes, revocationOf } from "./revocation.ts";

export interface OcspDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Newest first. */
  signers(orgId: string): Promise<readonly OpenGeneration[]>;
}

/** How long somebody who overheard an answer can give it again; a stranger's clock may be wrong by as much. */
const ANSWER_LIFE_MS = 5 * 60_000;

const OCSP_BASIC = oid("1.3.6.1.5.5.7.48.1.1");
const responseStatus = (status: number): Buffer => derValue(tags.enumerated, Buffer.from([status]));
const SUCCESSFUL = responseStatus(0);
/** What is told of a request that cannot be read, unsigned (§2.3). */
const malformedRequest = derSequence(responseStatus(1));
const good = derValue(tags.own);
const unknown = derValue(tags.own + 2);

/** @returns an OCSPResponse, whatever the bytes are */
export async function answerOcsp(deps: OcspDeps, orgId: string, bytes: Buffer): Promise<Buffer> {
  const request = readable(bytes);
  if (!request) return malformedRequest;
  const generations = await deps.signers(orgId);
  // One signature is good for one issuer's certificates (§4.2.2.2): a second issuer's are unknown in this answer.
  const isNamed = (ca: OpenGeneration) => request.ids.some((id) => isIssuer(ca, id));
  const ca = generations.find(isNamed) ?? generations[0];
  if (!ca) throw new Error("the organisation has no device CA to answer with");
  const now = deps.clock();
  const asked = request.ids.flatMap((id) => (id.serial !== undefined && isIssuer(ca, id) ? [id.serial] : []));
  const found = await findBySerials(deps.database.query, ca, [...new Set(asked)]);
  const statuses = new Map(found.map((status) => [status.serial, status]));
  const answers = request.ids.map((id) => {
    const known = id.serial !== undefined && isIssuer(ca, id) ? statuses.get(id.serial) : undefined;
    return singleAnswer(id, known, now);
  });
  const content = responseData(ca, { answers, nonce: request.nonce, now });
  const basic = await signed(content, ca.key.sign);
  return derSequence(SUCCESSFUL, derValue(tags.around, derSequence(OCSP_BASIC, derOctetString(basic))));
}

function readable(bytes: Buffer): OcspRequest | undefined {
  try {
    return readOcspRequest(bytes);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** By the hashes of its name and of its key: never by the name alone. */
function isIssuer(ca: OpenGeneration, id: CertificateId): boolean {
  if (id.hash === undefined) return false;
  return (
    hash(id.hash, caName(ca.orgId, ca.generation), "buffer").equals(id.issuerNameHash) &&
    hash(id.hash, keyBits(ca.key.spki), "buffer").equals(id.issuerKeyHash)
  );
}

/** SingleResponse. */
function singleAnswer(id: CertificateId, known: IssuedStatus | undefined, now: number): Buffer {
  return derSequence(
    id.raw,
    known ? statusOf(known, now) : unknown,
    derTime(new Date(now)),
    derValue(tags.around, derTime(new Date(now + ANSWER_LIFE_MS))),
  );
}

/** CertStatus: an expired certificate that was not revoked is good, as its dates tell the rest. */
function statusOf(known: IssuedStatus, now: number): Buffer {
  const revocation = revocationOf(known, now);
  if (!revocation) return good;
  const code = reasonCodes[revocation.reason];
  const reason =
    code === undefined ? [] : [derValue(tags.around, derValue(tags.enumerated, Buffer.from([code])))];
  return derValue(tags.around + 1, derTime(new Date(revocation.at)), ...reason);
}

/** By the key of the CA itself, which needs no certificate to go along (§4.2.1, §4.2.2.3). */
function responseData(
  ca: OpenGeneration,
  content: { answers: readonly Buffer[]; nonce: Buffer | undefined; now: number },
): Buffer {
  const responder = derValue(tags.around + 2, derOctetString(hash("sha1", keyBits(ca.key.spki), "buffer")));
  const extensions = content.nonce ? [derValue(tags.around + 1, derSequence(content.nonce))] : [];
  return derSequence(
    responder,
    derTime(new Date(content.now)),
    derSequence(...content.answers),
    ...extensions,
  );
}
