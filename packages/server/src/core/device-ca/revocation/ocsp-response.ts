/** OCSP responses for an organisation's device certificates (RFC 6960), always from the database. */

import { hash } from "node:crypto";
import { DerError } from "@signet/protocol/der/der";
import { derOctetString, derSequence, derTime, derValue } from "@signet/protocol/der/der-writer";
import type { CoreDeps } from "../../core-deps.ts";
import { caName } from "../certificates.ts";
import type { OpenGeneration } from "../rotation.ts";
import { keyBits, oid, signStructure, tags } from "../x509.ts";
import { type CertificateId, type OcspRequest, readOcspRequest } from "./ocsp-request.ts";
import { findBySerials } from "./revocation.store.ts";
import { effectiveRevocation, type IssuedStatus, reasonCodes } from "./revocation.ts";

export interface OcspDeps extends CoreDeps {
  /** Newest first. */
  signers(orgId: string): Promise<readonly OpenGeneration[]>;
}

/** Limits replay; also the clock skew a client may have. */
const RESPONSE_LIFETIME_MS = 5 * 60_000;

const OCSP_BASIC = oid("1.3.6.1.5.5.7.48.1.1");
const responseStatus = (status: number): Buffer => derValue(tags.enumerated, Buffer.from([status]));
const SUCCESSFUL = responseStatus(0);
/** Unsigned (§2.3). */
const malformedRequest = derSequence(responseStatus(1));
const good = derValue(tags.primitive);
const unknown = derValue(tags.primitive + 2);

/** @returns an OCSPResponse, whatever the bytes are */
export async function buildOcspResponse(deps: OcspDeps, orgId: string, bytes: Buffer): Promise<Buffer> {
  const request = tryRead(bytes);
  if (!request) return malformedRequest;
  const generations = await deps.signers(orgId);
  // A response covers one issuer (§4.2.2.2): certificates of a second one are unknown in it.
  const isNamed = (ca: OpenGeneration) => request.ids.some((id) => isIssuer(ca, id));
  const ca = generations.find(isNamed) ?? generations[0];
  if (!ca) throw new Error("the organisation has no device CA");
  const now = deps.clock();
  const serials = request.ids.flatMap((id) =>
    id.serial !== undefined && isIssuer(ca, id) ? [id.serial] : [],
  );
  const found = await findBySerials(deps.database.query, ca, [...new Set(serials)]);
  const statuses = new Map(found.map((status) => [status.serial, status]));
  const responses = request.ids.map((id) => {
    const known = id.serial !== undefined && isIssuer(ca, id) ? statuses.get(id.serial) : undefined;
    return singleResponse(id, known, now);
  });
  const content = responseData(ca, { responses, nonce: request.nonce, now });
  const basic = await signStructure(content, ca.key.sign);
  return derSequence(SUCCESSFUL, derValue(tags.constructed, derSequence(OCSP_BASIC, derOctetString(basic))));
}

function tryRead(bytes: Buffer): OcspRequest | undefined {
  try {
    return readOcspRequest(bytes);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** By the hashes of both name and key. */
function isIssuer(ca: OpenGeneration, id: CertificateId): boolean {
  if (id.hash === undefined) return false;
  return (
    hash(id.hash, caName(ca.orgId, ca.generation), "buffer").equals(id.issuerNameHash) &&
    hash(id.hash, keyBits(ca.key.spki), "buffer").equals(id.issuerKeyHash)
  );
}

/** SingleResponse. */
function singleResponse(id: CertificateId, known: IssuedStatus | undefined, now: number): Buffer {
  return derSequence(
    id.raw,
    known ? certStatus(known, now) : unknown,
    derTime(new Date(now)),
    derValue(tags.constructed, derTime(new Date(now + RESPONSE_LIFETIME_MS))),
  );
}

/** CertStatus: an expired certificate that was not revoked is good. */
function certStatus(known: IssuedStatus, now: number): Buffer {
  const revocation = effectiveRevocation(known, now);
  if (!revocation) return good;
  const code = reasonCodes[revocation.reason];
  const reason =
    code === undefined ? [] : [derValue(tags.constructed, derValue(tags.enumerated, Buffer.from([code])))];
  return derValue(tags.constructed + 1, derTime(new Date(revocation.at)), ...reason);
}

/** Signed by the CA key itself, so that no certificate is included (§4.2.1, §4.2.2.3). */
function responseData(
  ca: OpenGeneration,
  content: { responses: readonly Buffer[]; nonce: Buffer | undefined; now: number },
): Buffer {
  const responder = derValue(
    tags.constructed + 2,
    derOctetString(hash("sha1", keyBits(ca.key.spki), "buffer")),
  );
  const extensions = content.nonce ? [derValue(tags.constructed + 1, derSequence(content.nonce))] : [];
  return derSequence(
    responder,
    derTime(new Date(content.now)),
    derSequence(...content.responses),
    ...extensions,
  );
}
