/** /api/v1/organisations/{org}/device-ca: the generations of the authority that certifies an organisation's devices. */
import { X509Certificate } from "node:crypto";
import Type from "typebox";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { type CaGeneration, deviceCaUris } from "../../../core/device-ca/generation.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, listRoute } from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";

const time = () => Type.String({ format: "date-time" });

const schema = Type.Object(
  {
    id: Type.String({ description: "The generation, as a text" }),
    generation: Type.Integer({ description: "From 1" }),
    state: Type.Enum(["issues", "retired"], {
      description: "`retired`: it signs CRLs and OCSP responses until its last certificate has expired",
    }),
    certificate: Type.String({ description: "PEM" }),
    fingerprint: Type.String({ description: "SHA-256, as `openssl x509 -fingerprint -sha256` writes it" }),
    crl: Type.String({ format: "uri", description: "Where its revocation list is" }),
    ...{ notBefore: time(), notAfter: time(), retiredAt: timeOrNull, createdAt: time(), updatedAt: time() },
  },
  { title: "ApiDeviceCaGeneration" },
);

const fields = memoryFields({
  ...({ id: "text", generation: "number", state: "text", notBefore: "time", notAfter: "time" } as const),
  ...({ retiredAt: "time", createdAt: "time", updatedAt: "time" } as const),
});

export interface DeviceCaDeps extends ApiDeps {
  readonly deviceCa: Pick<DeviceCa, "generations">;
}

export function apiDeviceCaRoutes(api: ApiScope, deps: DeviceCaDeps): void {
  const record = (ca: CaGeneration) => ({
    ...{ id: String(ca.generation), generation: ca.generation },
    state: ca.retiredAt === null ? ("issues" as const) : ("retired" as const),
    certificate: ca.certificatePem,
    fingerprint: new X509Certificate(ca.der).fingerprint256,
    crl: deviceCaUris(deps.baseUrl, ca.orgId).crl(ca.generation),
    ...{ notBefore: wireTime(ca.notBefore), notAfter: wireTime(ca.notAfter) },
    retiredAt: wireTimeOrNull(ca.retiredAt),
    createdAt: wireTime(ca.createdAt),
    updatedAt: wireTime(ca.retiredAt ?? ca.createdAt),
  });
  const generations: ApiResource<CaGeneration, DeviceCaDeps> = {
    ...{ api, deps, tag: "API v1: devices", one: "generation", many: "generations", schema, record },
    reads: ["signet:devices:read"],
    writes: ["signet:devices:write"],
  };
  listRoute(
    generations,
    "/api/v1/organisations/:org/device-ca",
    {
      operationId: "apiListDeviceCa",
      summary: "List the generations of the device CA, with their certificates",
      fields,
    },
    async ({ orgId, list }) => memoryPage(list, await deps.deviceCa.generations(orgId), { fields, record }),
  );
}
