/** /api/v1/organisations/{org}/enrollment-codes: what enrols one device, once. */
import { isDeviceMethod } from "../../../core/applications/application.ts";
import type { Act } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { conflict, notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { type ApiCaller, actOf } from "../access.ts";
import { scopesOfApiClients } from "../applications/api-clients.store.ts";
import { requireHeldScopes } from "../applications/held-scopes.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { codedAnswer, unknownReference } from "../frame/member-faults.ts";
import { type ApiResource, actRoute, createRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { codeFields, findEnrollmentCode, listCodePage, lockEnrollmentCode } from "./device-lists.store.ts";
import { codeRecord, codeSchema, codeState, createdCode, newCode } from "./device-record.ts";

interface Registration extends Act {
  readonly name?: string;
  readonly attestation?: AttestationPolicy;
  readonly expiresInSeconds?: number;
  readonly replaces?: string;
}

/** What device identity does with its codes. */
export interface EnrollmentCodeDeps extends ApiDeps {
  registerDevice(
    deps: CoreDeps,
    registration: Registration,
  ): Promise<{ readonly code: string; readonly id: string }>;
  withdrawCode(deps: CoreDeps, code: Act & { readonly id: string }): Promise<boolean>;
}

export function apiEnrollmentCodesRoutes(api: ApiScope, deps: EnrollmentCodeDeps): void {
  const codes: ApiResource<EnrolmentCode, EnrollmentCodeDeps> = {
    ...{ api, deps, tag: "API v1: devices", one: "enrolment code", many: "enrolment codes" },
    reads: ["signet:devices:read"],
    writes: ["signet:devices:write"],
    schema: codeSchema,
    record: (code) => codeRecord(code, deps.clock()),
    toAnswer: (error) => codedAnswer(error, ["name", "attestation"]),
    volatile: ["state"],
  };
  listRoute(
    codes,
    "/api/v1/organisations/:org/enrollment-codes",
    {
      operationId: "apiListEnrollmentCodes",
      summary: "List enrolment codes, used ones too, without the codes themselves",
      fields: codeFields(0),
    },
    ({ orgId, list }) => listCodePage(deps.database.query, orgId, list, deps.clock()),
  );
  getRoute(
    codes,
    "/api/v1/organisations/:org/enrollment-codes/:id",
    { operationId: "apiReadEnrollmentCode", summary: "Get an enrolment code, without the code itself" },
    ({ orgId, id }) => findEnrollmentCode(deps.database.query, { orgId, id }),
  );
  changeRoutes(codes);
}

function changeRoutes(codes: ApiResource<EnrolmentCode, EnrollmentCodeDeps>): void {
  createRoute(
    codes,
    "/api/v1/organisations/:org/enrollment-codes",
    {
      operationId: "apiCreateEnrollmentCode",
      summary: "Create an enrolment code, shown once: it enrols one device",
      description:
        "The scopes of the API of applications that any device may authenticate (`tls_client_auth` and `attest_jwt_client_auth` without `tlsClientAuthSanUri`) are needed too.",
      ...{ body: newCode, created: createdCode, errors: [403] },
      example: { name: "Till 4", attestation: "required", expiresInSeconds: 3_600 },
    },
    async (inside, { caller, orgId, body }) => {
      const { query } = inside.database;
      await requireHeldByDevices(inside, caller);
      const replaces = body.replaces?.toLowerCase();
      if (replaces !== undefined && !(await findDevice(query, orgId, replaces)))
        throw unknownReference("/replaces");
      const wanted = { ...actOf(caller), ...body, ...(replaces !== undefined && { replaces }) };
      const { code, id } = await inside.registerDevice(inside, wanted);
      const row = await findEnrollmentCode(query, { orgId, id });
      if (!row) throw notFound();
      return { row, members: { code }, shownOnce: ["code"] };
    },
  );
  actRoute(
    codes,
    "/api/v1/organisations/:org/enrollment-codes/:id/withdraw",
    {
      operationId: "apiWithdrawEnrollmentCode",
      summary: "Withdraw an enrolment code that nobody has used",
      errors: [409],
    },
    async (inside, { caller, orgId, id, check }) => {
      const find = () => findEnrollmentCode(inside.database.query, { orgId, id });
      if (!(await lockEnrollmentCode(inside.database.query, { orgId, id }))) return undefined;
      const before = await find();
      if (!before) return undefined;
      await check(before);
      await inside.withdrawCode(inside, { ...actOf(caller), id });
      const code = await find();
      if (code && codeState(code, inside.clock()) === "used")
        throw conflict("A device was enrolled by the code: revoke the device.");
      return code;
    },
  );
}

/** A new device can be each client that any device may authenticate (RFC 8705 §2.1). @throws ApiError 403 exceeds-caller */
async function requireHeldByDevices({ database }: ApiDeps, caller: ApiCaller): Promise<void> {
  const scopes = await scopesOfApiClients(
    database.query,
    caller.organisation.id,
    ({ tokenEndpointAuthMethod: method, tlsClientAuthSanUri: uri }) =>
      method !== undefined && isDeviceMethod(method) && uri === undefined,
  );
  requireHeldScopes(caller, scopes);
}
