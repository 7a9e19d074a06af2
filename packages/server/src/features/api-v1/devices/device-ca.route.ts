/** /api/v1/organisations/{org}/device-ca: the generations of the authority that certifies an organisation's devices. */
import { X509Certificate } from "node:crypto";
import Type from "typebox";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { type CaGeneration, deviceCaUris } from "../../../core/device-ca/generation.ts";
import { ConcurrentRotation } from "../../../core/device-ca/rotation.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
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
  readonly deviceCa: Pick<DeviceCa, "generations" | "prepareRotation">;
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
    ...{ idParameter: "generation", toAnswer },
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
  getRoute(
    generations,
    "/api/v1/organisations/:org/device-ca/:generation",
    { operationId: "apiReadDeviceCa", summary: "Get a generation of the device CA" },
    async ({ orgId, id }) =>
      (await deps.deviceCa.generations(orgId)).find(({ generation }) => String(generation) === id),
  );
  createRoute(
    generations,
    "/api/v1/organisations/:org/device-ca",
    {
      operationId: "apiRotateDeviceCa",
      summary: "Rotate the device CA: a new generation issues certificates, issued ones stay valid",
      body: strictObject({}),
      bodyOptional: true,
      example: {},
      errors: [409],
      prepare: ({ orgId }) => deps.deviceCa.prepareRotation(orgId),
    },
    async (inside, { caller, prepared: rotation }) => {
      const { orgId: _, ...by } = actOf(caller);
      return { row: await rotation.adopt(inside.database.query, by) };
    },
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof ConcurrentRotation) throw conflict("The device CA was rotated meanwhile.");
  throw error;
}
