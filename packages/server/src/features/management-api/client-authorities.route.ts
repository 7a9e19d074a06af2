/** Authorities whose certificates authenticate clients (RFC 8705 §2.1, modern-oauth.md §6). */

import Type from "typebox";
import {
  findClientAuthority,
  listClientAuthorities,
} from "../../core/client-authorities/client-authorities.store.ts";
import {
  changeClientAuthority,
  createClientAuthority,
  deleteClientAuthority,
} from "../../core/client-authorities/client-authorities.ts";
import {
  type ClientAuthority,
  InvalidClientAuthority,
  MAX_CERTIFICATE_LENGTH,
} from "../../core/client-authorities/client-authority.ts";
import { exampleCertificate } from "../../core/client-authorities/example-certificate.ts";
import { conflict, invalid } from "../../http/api/api-error.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { requireMatch } from "../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../http/api/paging.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";
import { by, inTransaction, type ManagementDeps } from "./management.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type ResourceRoutes,
  replaceRoute,
} from "./resource-routes.ts";

const members = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  certificate: Type.String({
    ...{ minLength: 1, maxLength: MAX_CERTIFICATE_LENGTH },
    description: "PEM: of a root, or of an authority that another has issued",
  }),
};
const enabled = Type.Boolean({ description: "While it is false, its certificates authenticate nobody" });
const content = { ...members, enabled: Type.Optional(enabled) };
const time = Type.String({ format: "date-time" });

const schema = Type.Object(
  {
    ...{ id: Type.String({ format: "uuid" }), ...members, enabled },
    ...{
      subject: Type.String(),
      fingerprint: Type.String(),
      notAfter: time,
      createdAt: time,
      updatedAt: time,
    },
  },
  { title: "ClientCertificateAuthority" },
);
const newSchema = strictObject(content, { title: "NewClientCertificateAuthority" });
const changedSchema = strictObject(content, { title: "ChangedClientCertificateAuthority" });
const readOnly = ["id", "subject", "fingerprint", "notAfter", "createdAt", "updatedAt"];
const example = { name: "Partner CA", certificate: exampleCertificate };

const record = (authority: ClientAuthority) => ({
  ...{ id: authority.id, name: authority.name, certificate: authority.certificate },
  ...{ enabled: authority.enabled, subject: authority.subject, fingerprint: authority.fingerprint },
  notAfter: wireTime(authority.notAfter),
  ...{ createdAt: wireTime(authority.createdAt), updatedAt: wireTime(authority.updatedAt) },
});

export function clientAuthoritiesRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const authorities: ResourceRoutes<ClientAuthority> = {
    ...{ api, deps, tag: "Client certificate authorities", schema, record, toAnswer },
    ...{ one: "client certificate authority", many: "client certificate authorities" },
  };
  listRoute(
    authorities,
    "/legacy/api/oauth/client-certificate-authorities",
    {
      operationId: "listClientCertificateAuthorities",
      summary: "List the authorities whose certificates authenticate clients, oldest first",
      query: pageQuerySchema,
    },
    async (orgId, { after = "" }) => (await listClientAuthorities(db, orgId)).filter(({ id }) => id > after),
  );
  getRoute(
    authorities,
    "/legacy/api/oauth/client-certificate-authorities/:id",
    { operationId: "getClientCertificateAuthority", summary: "Get a client certificate authority" },
    (orgId, id) => findClientAuthority(db, { orgId, id }),
  );
  writeRoutes(authorities, deps);
}

function writeRoutes(authorities: ResourceRoutes<ClientAuthority>, deps: ManagementDeps): void {
  createRoute(
    authorities,
    "/legacy/api/oauth/client-certificate-authorities",
    {
      ...{ operationId: "createClientCertificateAuthority", summary: "Trust a certificate authority" },
      ...{ body: newSchema, example },
    },
    async (inside, { caller, body: { name, certificate, enabled: isOn = true } }) => {
      const settings = { name, certificate, enabled: isOn };
      const act = { orgId: caller.organisation.id, ...by(caller), settings };
      return { row: await createClientAuthority(inside, act) };
    },
  );
  replaceRoute(
    authorities,
    "/legacy/api/oauth/client-certificate-authorities/:id",
    {
      ...{
        operationId: "replaceClientCertificateAuthority",
        summary: "Replace a client certificate authority",
      },
      ...{ body: changedSchema, readOnly, example },
    },
    (key, { request, body: { name, certificate, enabled: isOn = true } }) =>
      inTransaction(deps, undefined, (inside) => {
        const check = async ({ version }: ClientAuthority) => requireMatch(request, version);
        const change = { name, certificate, enabled: isOn };
        return changeClientAuthority(inside, { ...key, check, change });
      }),
  );
  deleteRoute(
    authorities,
    "/legacy/api/oauth/client-certificate-authorities/:id",
    {
      operationId: "deleteClientCertificateAuthority",
      summary: "Trust a certificate authority no longer: from the next request on",
    },
    (key, { request }) =>
      inTransaction(deps, undefined, (inside) => {
        const check = async ({ version }: ClientAuthority) => requireMatch(request, version);
        return deleteClientAuthority(inside, { ...key, check });
      }),
  );
}

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidClientAuthority)) throw error;
  const { code, message } = error;
  if (code === "duplicate" || code === "too-many")
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  throw invalid([{ path: code === "name" ? "/name" : "/certificate", message }]);
}
