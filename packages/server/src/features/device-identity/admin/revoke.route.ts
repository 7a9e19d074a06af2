/**
 * Revokes a device, or withdraws an unused enrolment code: a confirmation page for browsers, one call for programs, at the
 * same address.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { type Device, type EnrolmentCode, revocationReasons } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { selectField } from "../../../html/components/fields.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { apiHandler, type Operation } from "../../../http/api/api-route.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { refusePageToProgram } from "../../../http/method-not-allowed.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirm,
  done,
  showConfirmation,
} from "../../../page-kit/confirmation.ts";
import { findCode } from "../enrol/enrolment-code.store.ts";
import { isUsable } from "../enrol/enrolment-code.ts";
import {
  ALSO_BY_PAGES,
  actingFor,
  deviceAdministration,
  inTransaction,
  type ManageDeps,
  managePageHandler,
  managePath,
  pageAndApiRoute,
} from "./page-and-api.ts";
import { withdrawCode } from "./register-device.ts";

const revokeOperation = {
  ...deviceAdministration,
  method: "POST",
  path: "/devices/manage/:org/:id/revoke",
  operationId: "revokeDevice",
  summary: "Revoke a device",
  description: `Idempotent. The device's certificates and the tokens bound to them stop working immediately. ${ALSO_BY_PAGES}`,
  body: Type.Object(
    {
      reason: Type.Optional(Type.Enum([...revocationReasons], { description: "default: `unspecified`" })),
    },
    { title: "DeviceRevocation", additionalProperties: false },
  ),
  bodyOptional: true,
  example: { reason: "keyCompromise" },
  errors: [409, 422],
  answers: { 204: { description: "The device is revoked" } },
} as const satisfies Operation;

const withdrawOperation = {
  ...deviceAdministration,
  method: "POST",
  path: "/devices/manage/:org/codes/:id/withdraw",
  operationId: "withdrawEnrollmentCode",
  summary: "Withdraw an unused enrolment code",
  description: ALSO_BY_PAGES,
  errors: [409, 422],
  answers: { 204: { description: "The code is withdrawn" } },
} as const satisfies Operation;

export function revokeRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { authenticator } = deps.programs;
  const revoke = apiHandler(authenticator, revokeOperation, async ({ caller, params, body, within }) => {
    const { reason = "unspecified" } = body;
    const inside = inTransaction(deps, within);
    const device = await findDevice(inside.database.query, caller.organisation.id, pathId(params));
    if (!device) throw codedNotFound();
    await revokeDevice(inside, { ...actingFor(caller), deviceId: device.id, reason });
    return { status: 204 };
  });
  confirmedRoutes(app, deps, revokeOperation, revoke, revocation);
  const withdraw = apiHandler(authenticator, withdrawOperation, async ({ caller, params, within }) => {
    const withdrawn = { ...actingFor(caller), id: pathId(params) };
    if (!(await withdrawCode(inTransaction(deps, within), withdrawn))) throw codedNotFound();
    return { status: 204 };
  });
  confirmedRoutes(app, deps, withdrawOperation, withdraw, withdrawal);
}

/** Registers the confirmation page; its form and programs post to the same address. */
function confirmedRoutes<Pending>(
  app: FastifyInstance,
  deps: ManageDeps,
  operation: Operation,
  program: Parameters<typeof pageAndApiRoute>[3]["program"],
  confirmation: Confirmation<ManageDeps, Pending>,
): void {
  const page = managePageHandler(deps, (_, visit) => showConfirmation(deps, visit, confirmation));
  app.get(operation.path, { errorHandler: deps.showError }, async (request, reply) =>
    (await refusePageToProgram(request, reply, operation.method)) ? reply : page(request, reply),
  );
  pageAndApiRoute(app, deps, operation, { program, page: (_, visit) => confirm(deps, visit, confirmation) });
}

/** @returns empty for anything but a UUID, so that nothing is found */
const pathId = ({ id = "" }: Readonly<Record<string, string>>): string =>
  isUuid(id) ? id.toLowerCase() : "";

const devicesCrumb = (messages: Messages, organisation: Organisation) => [
  { label: messages.console.frame.pages.devices, uri: managePath(organisation) },
];

/** The CRL publishes the reason (RFC 5280 §5.3.1). */
export function reasonField(messages: Messages): Html {
  const { revoke: text } = messages.devices;
  return selectField({
    id: "reason",
    label: text.reason,
    value: "unspecified",
    choices: revocationReasons.map((value) => ({ value, label: text.reasons[value] })),
    messages,
  });
}

export const revocation: Confirmation<ManageDeps, Device> = {
  current: "devices",
  load: ({ database }, { id: orgId }, params) => findDevice(database.query, orgId, pathId(params)),
  backUri: (organisation) => managePath(organisation),
  isDone: (_, { revokedAt }) => revokedAt !== null,
  question: (messages, { name }, organisation) => {
    const { revoke: text } = messages.devices;
    return {
      heading: text.heading({ name }),
      text: text.text,
      fields: reasonField(messages),
      confirm: text.submit,
      confirmId: "device-revoke-confirm",
      breadcrumbs: devicesCrumb(messages, organisation),
    };
  },
  apply: async (deps, acting, { id: deviceId }, { values }) => {
    const reason = revocationReasons.find((one) => one === values.get("reason")) ?? "unspecified";
    return (await revokeDevice(deps, { ...acting, deviceId, reason })) ? done("revoked") : alreadyApplied;
  },
};

/** Tells the administrator that the code was used, not withdrawn. */
const SPENT = "?done=spent";

export const withdrawal: Confirmation<ManageDeps, EnrolmentCode & { readonly isOpen: boolean }> = {
  current: "devices",
  load: async ({ database, clock }, { id: orgId }, params) => {
    const code = await findCode(database.query, orgId, pathId(params));
    return code && { ...code, isOpen: isUsable(code, clock()) };
  },
  backUri: (organisation, { isOpen, withdrawnAt }) =>
    managePath(organisation, !isOpen && withdrawnAt === null ? SPENT : ""),
  isDone: (_, { isOpen }) => !isOpen,
  question: (messages, { name }, organisation) => {
    const { codes: text } = messages.devices;
    return {
      heading: name === null ? text.withdrawUnnamedHeading : text.withdrawHeading({ name }),
      text: text.withdrawText,
      confirm: text.withdraw,
      confirmId: "code-withdraw-confirm",
      breadcrumbs: devicesCrumb(messages, organisation),
    };
  },
  apply: async (deps, acting, { id }, { organisation }) => {
    if (await withdrawCode(deps, { ...acting, id })) return done("withdrawn");
    return { kind: "already-applied", uri: managePath(organisation, SPENT) };
  },
};
