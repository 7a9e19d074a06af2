/** /api/v1/organisations/{org}/client-certificate-authorities: authorities whose certificates authenticate clients (RFC 8705 §2.1). */

import { certificateNames } from "../../../core/applications/certificate-names.ts";
import {
  findClientAuthority,
  listClientAuthorities,
} from "../../../core/client-authorities/client-authorities.store.ts";
import {
  changeClientAuthority,
  createClientAuthority,
  deleteClientAuthority,
} from "../../../core/client-authorities/client-authorities.ts";
import {
  type ClientAuthority,
  InvalidClientAuthority,
} from "../../../core/client-authorities/client-authority.ts";
import { exampleCertificate } from "../../../core/client-authorities/example-certificate.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { type ApiCaller, actOf } from "../access.ts";
import { scopesOfApiClients } from "../applications/api-clients.store.ts";
import { requireHeldScopes } from "../applications/held-scopes.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  clientAuthorityFields,
  clientAuthorityPatch,
  clientAuthorityRecord,
  clientAuthoritySchema,
  newClientAuthority,
} from "./client-authority-record.ts";

type Authorities = ApiResource<ClientAuthority>;

export function apiClientAuthoritiesRoutes(api: ApiScope, deps: ApiDeps): void {
  const authorities: Authorities = {
    ...{ api, deps, tag: "API v1: client certificate authorities" },
    ...{ one: "client certificate authority", many: "client certificate authorities" },
    ...{ reads: ["signet:applications:read"], writes: ["signet:applications:write"] },
    ...{ schema: clientAuthoritySchema, record: clientAuthorityRecord, toAnswer },
  };
  listRoute(
    authorities,
    "/api/v1/organisations/:org/client-certificate-authorities",
    {
      operationId: "apiListClientCertificateAuthorities",
      summary: "List the authorities whose certificates authenticate clients",
      fields: clientAuthorityFields,
    },
    async ({ orgId, list }) =>
      memoryPage(list, await listClientAuthorities(deps.database.query, orgId), {
        ...{ fields: clientAuthorityFields, record: clientAuthorityRecord },
      }),
  );
  getRoute(
    authorities,
    "/api/v1/organisations/:org/client-certificate-authorities/:id",
    { operationId: "apiReadClientCertificateAuthority", summary: "Get a client certificate authority" },
    ({ orgId, id }) => findClientAuthority(deps.database.query, { orgId, id }),
  );
  writeRoutes(authorities);
}

function writeRoutes(authorities: Authorities): void {
  createRoute(
    authorities,
    "/api/v1/organisations/:org/client-certificate-authorities",
    {
      ...{ operationId: "apiCreateClientCertificateAuthority", summary: "Trust a certificate authority" },
      ...{ body: newClientAuthority, errors: [403, 409] },
      example: { name: "Partner CA", certificate: exampleCertificate },
      description:
        "Its certificates authenticate clients of `tls_client_auth` that are registered by a name: the scopes of the API that these clients may ask for are needed too.",
    },
    async (inside, { caller, body: { name, certificate, enabled = true } }) => {
      await requireHeldByNamedClients(inside, caller);
      const settings = { name, certificate, enabled };
      return { row: await createClientAuthority(inside, { ...actOf(caller), settings }) };
    },
  );
  patchRoute(
    authorities,
    "/api/v1/organisations/:org/client-certificate-authorities/:id",
    {
      ...{
        operationId: "apiChangeClientCertificateAuthority",
        summary: "Change a client certificate authority",
      },
      ...{ body: clientAuthorityPatch, errors: [403, 409], example: { enabled: false } },
      description: "Enabling it, or another certificate, needs what creating one needs.",
    },
    async (inside, { caller, id, check, patch: { name, certificate, enabled } }) => {
      if (name === null) throw invalid([{ path: "/name", message: "cannot be unset" }]);
      if (certificate === null) throw invalid([{ path: "/certificate", message: "cannot be unset" }]);
      if (certificate !== undefined || (enabled !== undefined && enabled !== false))
        await requireHeldByNamedClients(inside, caller);
      const change = {
        ...(name !== undefined && { name }),
        ...(certificate !== undefined && { certificate }),
        ...(enabled !== undefined && { enabled: enabled ?? true }),
      };
      return changeClientAuthority(inside, { ...actOf(caller), id, check, change });
    },
  );
  deleteRoute(
    authorities,
    "/api/v1/organisations/:org/client-certificate-authorities/:id",
    {
      operationId: "apiDeleteClientCertificateAuthority",
      summary: "Trust a certificate authority no longer: from the next request on",
    },
    (inside, { caller, id, check }) => deleteClientAuthority(inside, { ...actOf(caller), id, check }),
  );
}

/** An authority can make a certificate of any name (RFC 8705 §2.1.2). @throws ApiError 403 exceeds-caller */
async function requireHeldByNamedClients({ database }: ApiDeps, caller: ApiCaller): Promise<void> {
  const scopes = await scopesOfApiClients(
    database.query,
    caller.organisation.id,
    (settings) =>
      settings.tokenEndpointAuthMethod === "tls_client_auth" &&
      certificateNames.some((name) => settings[name] !== undefined),
  );
  requireHeldScopes(caller, scopes);
}

/** @throws ApiError 409, 422 */
function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidClientAuthority)) throw error;
  const { code, message } = error;
  if (code === "duplicate" || code === "too-many")
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  throw invalid([{ path: code === "name" ? "/name" : "/certificate", message }]);
}
