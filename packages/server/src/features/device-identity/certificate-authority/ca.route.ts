/**
 * What anybody may have of an organisation's device CA (device-identity.md §1): its certificates, which of them issued
 * are revoked, as a list (RFC 5280 §5) and one by one (OCSP, RFC 6960).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { answerOcsp } from "../../../core/device-ca/revocation/ocsp-answer.ts";
import { MOST_REQUEST_BYTES } from "../../../core/device-ca/revocation/ocsp-request.ts";
import {
  type RevocationListDeps,
  revocationListOf,
} from "../../../core/device-ca/revocation/revocation-list.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { CodedError, nothingHere } from "../../../http/coded-error.ts";
import { queryOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type PublishedDocument, sendDocument } from "../../../http/published-documents.ts";

export interface CaRouteDeps extends RevocationListDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly deviceCa: Pick<DeviceCa, "generations" | "signers">;
}

const OCSP_REQUEST = "application/ocsp-request";
const DEVICES = "/oauth/:org/devices";

/** In a scope of its own: no other route takes OCSP requests for a body. */
export function caRoutes(app: FastifyInstance, deps: CaRouteDeps): void {
  app.removeAllContentTypeParsers();
  const parser = { parseAs: "buffer", bodyLimit: MOST_REQUEST_BYTES } as const;
  app.addContentTypeParser(OCSP_REQUEST, parser, (_request, body, done) => done(null, body));
  const document = (
    make: (organisation: Organisation, request: FastifyRequest) => Promise<PublishedDocument>,
  ) =>
    inOrganisation(deps.organisations.find, async ({ organisation, request, reply }) =>
      sendDocument(request, reply, await make(organisation, request)),
    );
  const withHead = { exposeHeadRoute: true };
  app.get(
    `${DEVICES}/ca.pem`,
    withHead,
    document(({ id }) => certificates(deps, id)),
  );
  app.get(
    `${DEVICES}/ca.crl`,
    withHead,
    document(({ id }, request) => revocations(deps, id, request)),
  );
  const ocsp = (bytesOf: (request: FastifyRequest) => Buffer) =>
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) =>
      sendOcsp(reply, await answerOcsp({ ...deps, ...deps.deviceCa }, organisation.id, bytesOf(request))),
    );
  app.post(
    `${DEVICES}/ocsp`,
    ocsp(({ body }) => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))),
  );
  // RFC 6960 appendix A.1: base64, which may have slashes in it.
  app.get(`${DEVICES}/ocsp/*`, ocsp(fromAddress));
}

/** All generations, newest first. */
async function certificates({ deviceCa }: CaRouteDeps, orgId: string): Promise<PublishedDocument> {
  const generations = await deviceCa.generations(orgId);
  const pem = generations.map(({ certificatePem }) => certificatePem).join("");
  return publicBytes(orgId, Buffer.from(pem), "application/x-pem-file");
}

/** The newest generation's, or that of the one which a certificate names. */
async function revocations(
  deps: CaRouteDeps,
  orgId: string,
  request: FastifyRequest,
): Promise<PublishedDocument> {
  const wanted = generationOf(request);
  const generations = await deps.deviceCa.signers(orgId);
  const ca = generations.find(({ generation }) => wanted === undefined || wanted === generation);
  const list = ca && (await revocationListOf(deps, ca));
  if (!list) throw nothingHere();
  return publicBytes(orgId, list.der, "application/pkix-crl");
}

function generationOf(request: FastifyRequest): number | undefined {
  const { values, repeated } = queryOf(request);
  const text = values.get("generation");
  if (text === undefined && !repeated.has("generation")) return undefined;
  if (repeated.has("generation") || !/^[1-9]\d{0,8}$/.test(text ?? ""))
    throw new CodedError(400, "invalid_request", "generation must be a whole number from 1");
  return Number(text);
}

/** A revocation is told at once: caches ask each time, and are told shortly when nothing has changed. */
function publicBytes(orgId: string, bytes: Buffer, contentType: string): PublishedDocument {
  const etag = `"${sha256Base64url(bytes).slice(0, 27)}"`;
  const headers = [
    ["Content-Type", contentType],
    ["Cache-Control", "no-cache"],
    ["ETag", etag],
    ["X-Content-Type-Options", "nosniff"],
  ].flat();
  return { orgId, body: bytes.toString("latin1"), etag, headers, staleAt: 0 };
}

/** Even of what cannot be read: the answer itself says so (RFC 6960 §2.3). */
const sendOcsp = (reply: FastifyReply, answer: Buffer) =>
  reply.header("cache-control", "no-store").type("application/ocsp-response").send(answer);

function fromAddress(request: FastifyRequest): Buffer {
  const { "*": text = "" } = request.params as { "*"?: string };
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
}
