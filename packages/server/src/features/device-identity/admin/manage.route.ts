/** Lists devices and creates enrolment codes, as pages and as an API (specification, "Device identity"). */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { type AttestationPolicy, attestationPolicies, stricterPolicy } from "../../../core/devices/device.ts";
import { countDevicesByState } from "../../../core/devices/devices-by-state.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { apiHandler, type Operation } from "../../../http/api/api-route.ts";
import { pageOf, pageQuery, pageSchema, readPage } from "../../../http/api/paging.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { chartTimes, pointsOf, readRange } from "../../../page-kit/activity-range.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { listUri } from "../../../page-kit/list/list-address.ts";
import { renderList } from "../../../page-kit/list/list-view.ts";
import { auditContext, queryString, requireAdministrator, show, type Visit } from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { codePage } from "./code.page.ts";
import { codeWaitingRoute } from "./code-waiting.ts";
import { deviceStates, listDevices } from "./device-list.store.ts";
import { deviceList } from "./device-list.ts";
import { deviceListRoutes } from "./device-lists.route.ts";
import { device, deviceRecord, moment, orNull, uuid } from "./device-record.ts";
import { type DeviceCharts, managePage } from "./manage.page.ts";
import { newestCodes } from "./newest-codes.ts";
import {
  ALSO_BY_PAGES,
  actingFor,
  deviceAdministration,
  inTransaction,
  type ManageDeps,
  managePath,
  pageAndApiRoute,
} from "./page-and-api.ts";
import { registerDevice } from "./register-device.ts";
import {
  changedFields,
  type RegisterInput,
  readRegisterInput,
  validateRegistration,
} from "./register-input.ts";

const listOperation = {
  ...deviceAdministration,
  method: "GET",
  path: "/devices/manage/:org",
  operationId: "listDevices",
  summary: "List devices",
  description: "Newest first. Browsers get a page at this address.",
  query: Type.Object(
    {
      ...pageQuery,
      search: Type.Optional(Type.String({ maxLength: 100, description: "part of a name or an id" })),
      state: Type.Optional(Type.Enum([...deviceStates])),
    },
    { additionalProperties: false },
  ),
  answers: { 200: { description: "A page of devices", schema: pageSchema(device) } },
} as const satisfies Operation;

const registerOperation = {
  ...deviceAdministration,
  method: "POST",
  path: "/devices/manage/:org/register",
  operationId: "registerDevice",
  summary: "Create an enrolment code",
  description: `The code is returned once and enrols one device. ${ALSO_BY_PAGES}`,
  body: Type.Object(
    {
      name: Type.Optional(
        Type.String({ maxLength: 200, description: "1 to 100 characters; default: the device's id" }),
      ),
      attestation: Type.Optional(
        Type.Enum([...attestationPolicies], {
          description: "can only be stricter than the organisation's policy",
        }),
      ),
      expiresIn: Type.Optional(Type.Integer({ description: "seconds: 600 to 604800; default: 86400" })),
      replaces: Type.Optional(
        Type.String({ maxLength: 36, description: "a device to revoke when this one is enrolled" }),
      ),
    },
    { title: "NewDevice", additionalProperties: false },
  ),
  bodyOptional: false,
  example: { name: "Build agent 7", attestation: "required", expiresIn: 3600 },
  errors: [409, 422],
  answers: {
    201: {
      description: "The code",
      schema: Type.Object(
        {
          id: uuid,
          code: orNull(Type.String({ examples: ["7K4QD-…"] })),
          expiresAt: moment,
        },
        { title: "EnrollmentCode" },
      ),
    },
  },
} as const satisfies Operation;

export function manageRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { authenticator } = deps.programs;
  pageAndApiRoute(app, deps, listOperation, {
    program: apiHandler(authenticator, listOperation, async ({ caller, query }) => {
      const page = readPage(query);
      const search = { limit: page.limit + 1, after: page.after, text: query.search, state: query.state };
      const rows = await listDevices(deps.database.query, caller.organisation.id, search, deps.clock());
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(deviceRecord), nextCursor } };
    }),
    page: showPage,
  });
  pageAndApiRoute(app, deps, registerOperation, {
    program: apiHandler(authenticator, registerOperation, async ({ caller, body, within }) => {
      const { expiresIn, ...members } = body;
      const lifetime = expiresIn === undefined ? {} : { expiresInSeconds: expiresIn };
      const registration = { ...actingFor(caller), ...members, ...lifetime };
      const { id, code, expiresAt } = await registerDevice(inTransaction(deps, within), registration);
      const answer = { id, code, expiresAt: new Date(expiresAt).toISOString() };
      return { status: 201, body: answer, shownOnce: ["code"] };
    }),
    page: registerOnPage,
  });
  deviceListRoutes(app, deps);
  codeWaitingRoute(app, deps);
}

async function showPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const input = readRegisterInput(values);
  const list = listUri(deviceList, visit.organisation, values);
  const more = queryString(changedFields(input)).slice(1);
  const path = more === "" ? list : `${list}${list.includes("?") ? "&" : "?"}${more}`;
  const signedIn = await requireAdministrator(deps, visit, path);
  await showList(deps, visit, signedIn, { input });
}

async function showList(
  deps: ManageDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<RegisterInput>,
): Promise<void> {
  const { organisation, request } = visit;
  const view = await formView(deps, visit, signedIn, "devices", shown);
  const { values } = parseQuery(request);
  const page = managePage({
    ...view,
    action: managePath(organisation, "/register"),
    manageUri: (rest) => managePath(organisation, rest),
    done: (["revoked", "withdrawn", "spent"] as const).find((one) => one === values.get("done")),
    devices: await renderList(deps, visit, view, signedIn, deviceList),
    charts: await loadCharts(deps, visit, view.messages),
    rangeUri: (query) => {
      const range = new URLSearchParams(query).get("range") ?? "";
      return `${listUri(deviceList, organisation, new Map([...values, ["range", range]]))}#devices-by-state`;
    },
    ...(await newestCodes(deps, visit)),
    policy: organisation.settings.deviceAttestation,
  });
  await show(visit, view, page, shown.status);
}

async function loadCharts(
  { database, clock }: ManageDeps,
  { organisation, request }: Visit,
  { locale }: Messages,
): Promise<DeviceCharts> {
  const now = clock();
  const range = readRange(parseQuery(request).values.get("range"));
  const points = pointsOf(range, now);
  const devices = await countDevicesByState(database.query, organisation.id, { ...points, now });
  return { ...chartTimes(range, now, locale), range, devices };
}

async function registerOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const input = readRegisterInput(parsedForm(request).values);
  // After a sign-in the form is filled in again.
  const path = managePath(organisation, queryString(changedFields(input)));
  const form = await acceptOneTimeForm(deps, visit, path);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const rerender = (shown: Partial<FormShown<RegisterInput>>) =>
    showList(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const registration = await validateRegistration(deps, organisation.id, input, messages);
  if ("faults" in registration) return rerender({ state: registration, status: 400 });
  const wanted = { ...auditContext(visit, signedIn), ...registration };
  const created = await applyOnce(deps, form, (inside) => registerDevice(inside, wanted));
  if (created === "duplicate-submission") {
    const result = { label: messages.devices.codes.heading, uri: managePath(organisation) };
    return rerender(duplicateSubmission({ result, secret: messages.console.frame.sentBefore.secret.code }));
  }
  const { code } = created;
  const frame = await consoleFrame(deps, visit, signedIn, "devices");
  const command = enrollCommand(deps, organisation, { ...registration, code });
  const page = codePage({
    ...frame,
    ...created,
    ...deps,
    organisation,
    name: registration.name,
    command,
    now: deps.clock(),
  });
  await show(visit, frame, page);
}

/** The code is passed in the environment: every user of a machine can read command-line arguments. */
function enrollCommand(
  { baseUrl }: ManageDeps,
  { id, settings }: Organisation,
  code: { readonly code: string; readonly attestation?: AttestationPolicy },
): string {
  const policy = stricterPolicy(settings.deviceAttestation, code.attestation ?? "none");
  const key = policy === "required" ? " --key tpm" : "";
  return `SIGNET_ENROLLMENT_CODE=${code.code} signet-device enroll --server ${baseUrl} --org ${id}${key}`;
}
