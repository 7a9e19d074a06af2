/** The public documents of a device CA: certificates, CRL (RFC 5280 §5) and OCSP (RFC 6960; device-identity.md §1). */

import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { MAX_REQUEST_BYTES } from "../../../core/device-ca/revocation/ocsp-request.ts";
import { buildOcspResponse } from "../../../core/device-ca/revocation/ocsp-response.ts";
import { currentRevocationList } from "../../../core/device-ca/revocation/revocation-list.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type PublishedDocument, sendDocument } from "../../../http/published-documents.ts";

export interface CaRouteDeps extends CoreDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly deviceCa: Pick<DeviceCa, "generations" | "signers">;
}

const OCSP_REQUEST = "application/ocsp-request";

/** In a separate scope: only these routes parse OCSP requests. */
export function caRoutes(app: FastifyInstance, deps: CaRouteDeps): void {
  app.removeAllContentTypeParsers();
  const parser = { parseAs: "buffer", bodyLimit: MAX_REQUEST_BYTES } as const;
  app.addContentTypeParser(OCSP_REQUEST, parser, (_request, body, done) => done(null, body));
  const document = (
    build: (organisation: Organisation, request: FastifyRequest) => Promise<PublishedDocument>,
  ) =>
    inOrganisation(deps.organisations.find, async ({ organisation, request, reply }) =>
      sendDocument(request, reply, await build(organisation, request)),
    );
  const withHead = { exposeHeadRoute: true };
  app.get(
    "/oauth/:org/devices/ca.pem",
    withHead,
    document(({ id }) => certificates(deps, id)),
  );
  app.get(
    "/oauth/:org/devices/ca.crl",
    withHead,
    document(({ id }, request) => revocations(deps, id, request)),
  );
  const ocsp = (readRequest: (request: FastifyRequest) => Buffer) =>
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) =>
      sendOcsp(
        reply,
        await buildOcspResponse({ ...deps, ...deps.deviceCa }, organisation.id, readRequest(request)),
      ),
    );
  app.post(
    "/oauth/:org/devices/ocsp",
    ocsp(({ body }) => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))),
  );
  // RFC 6960 appendix A.1: base64, which may contain slashes.
  app.get("/oauth/:org/devices/ocsp/*", ocsp(requestInPath));
}

async function certificates({ deviceCa }: CaRouteDeps, orgId: string): Promise<PublishedDocument> {
  const generations = await deviceCa.generations(orgId);
  const pem = generations.map(({ certificatePem }) => certificatePem).join("");
  return publicBytes(orgId, Buffer.from(pem), "application/x-pem-file");
}

/** The CRL of the named generation, by default of the newest. */
async function revocations(
  deps: CaRouteDeps,
  orgId: string,
  request: FastifyRequest,
): Promise<PublishedDocument> {
  const wanted = readGeneration(request);
  const generations = await deps.deviceCa.signers(orgId);
  const ca = generations.find(({ generation }) => wanted === undefined || wanted === generation);
  const list = ca && (await currentRevocationList(deps, ca));
  if (!list) throw codedNotFound();
  return publicBytes(orgId, list.der, "application/pkix-crl");
}

function readGeneration(request: FastifyRequest): number | undefined {
  const { values, repeated } = parseQuery(request);
  const text = values.get("generation");
  if (text === undefined && !repeated.has("generation")) return undefined;
  if (repeated.has("generation") || !/^[1-9]\d{0,8}$/.test(text ?? ""))
    throw new CodedError(400, "invalid_request", "generation must be a whole number from 1");
  return Number(text);
}

/** Caches must revalidate, so that a revocation is visible immediately. */
function publicBytes(orgId: string, bytes: Buffer, contentType: string): PublishedDocument {
  const etag = `"${sha256Base64url(bytes).slice(0, 27)}"`;
  const headers = [
    ["Content-Type", contentType],
    ["Cache-Control", "no-cache"],
    ["ETag", etag],
    ["X-Content-Type-Options", "nosniff"],
  ].flat();
  return { orgId, body: bytes, etag, headers, staleAt: 0 };
}

/** Also for a malformed request: the response says so itself (RFC 6960 §2.3). */
const sendOcsp = (reply: FastifyReply, answer: Buffer) =>
  reply.header("cache-control", "no-store").type("application/ocsp-response").send(answer);

function requestInPath(request: FastifyRequest): Buffer {
  const { "*": text = "" } = request.params as { "*"?: string };
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
}
