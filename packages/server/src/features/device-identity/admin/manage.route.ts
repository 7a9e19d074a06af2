/** Lists devices and creates enrolment codes, as pages and as an API (specification, "Device identity"). */
import type { FastifyInstance } from "fastify";
import { type AttestationPolicy, stricterPolicy } from "../../../core/devices/device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import { html } from "../../../html/html.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { pageOf, readPage } from "../../../http/api/paging.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type Refusal,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { auditContext, queryString, requireAdministrator, show, type Visit } from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { listDevices } from "./device-list.store.ts";
import { managePage } from "./manage.page.ts";
import { listManagedDevices, listOpenCodes, readSearch, searchQuery } from "./manage-list.ts";
import { deviceRecord, listOperation, registerOperation } from "./manage-operations.ts";
import {
  actingFor,
  inTransaction,
  type ManageDeps,
  managePath,
  manageTabs,
  pageAndApiRoute,
} from "./manage-visit.ts";
import { registerDevice } from "./register-device.ts";
import type { RegisterForm } from "./register-form.ts";
import { changedFields, readRegistration, typedFields } from "./registration.ts";

export function manageRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { authenticator } = deps.programs;
  pageAndApiRoute(app, deps, listOperation, {
    program: apiHandler(authenticator, listOperation, async ({ caller, query }) => {
      const page = readPage(query);
      const { search, state } = query;
      const asked = { limit: page.limit + 1, after: page.after, text: search, state };
      const rows = await listDevices(deps.database.query, caller.organisation.id, asked, deps.clock());
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(deviceRecord), nextCursor } };
    }),
    page: showPage,
  });
  pageAndApiRoute(app, deps, registerOperation, {
    program: apiHandler(authenticator, registerOperation, async ({ caller, body, within }) => {
      const { expiresIn, ...asked } = body;
      const input = { ...asked, ...(expiresIn === undefined ? {} : { expiresInSeconds: expiresIn }) };
      const made = await registerDevice(inTransaction(deps, within), { ...actingFor(caller), ...input });
      const { id, code, expiresAt } = made;
      const answer = { id, code, expiresAt: new Date(expiresAt).toISOString() };
      return { status: 201, body: answer, shownOnce: ["code"] };
    }),
    page: registerOnPage,
  });
}

async function showPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const typed = typedFields(values);
  const again = { ...searchQuery(values), ...changedFields(typed) };
  const path = managePath(visit.organisation, queryString(again));
  const signedIn = await requireAdministrator(deps, visit, path);
  await showList(deps, visit, signedIn, { typed });
}

type FormState = Pick<RegisterForm, "typed" | "fault" | "failure">;

async function showList(
  deps: ManageDeps,
  visit: Visit,
  signedIn: SignedIn,
  form: FormState,
  status = 200,
): Promise<void> {
  const { organisation, request } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "devices");
  const { values } = parseQuery(request);
  const done = values.get("done");
  const page = managePage({
    ...frame,
    tabs: manageTabs(organisation, "list", frame.messages),
    done: done === "revoked" || done === "withdrawn" || done === "spent" ? done : undefined,
    listUri: managePath(organisation),
    search: readSearch(values),
    ...(await listManagedDevices(deps, visit, values, frame.messages)),
    codes: await listOpenCodes(deps, visit, values),
    form: {
      ...form,
      action: managePath(organisation, "/register"),
      csrf: deps.browserSession.formBinding(visit).csrf,
      once: newSubmissionToken(deps),
      policy: organisation.settings.deviceAttestation,
    },
  });
  await show(visit, frame, page, status);
}

async function registerOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const typed = typedFields(parsedForm(request).values);
  // After a sign-in the form is filled in again.
  const path = managePath(organisation, queryString(changedFields(typed)));
  const form = await acceptOneTimeForm(deps, visit, path);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const rerender = ({ failure, status }: Refusal) =>
    showList(deps, visit, signedIn, { typed, failure }, status);
  if (form.outcome === "rejected") return rerender(form.refusal);

  const read = await readRegistration(deps, organisation.id, typed);
  if ("fault" in read) return showList(deps, visit, signedIn, { typed, fault: read.fault }, 400);
  const wanted = { ...auditContext(visit, signedIn), ...read };
  const created = await applyOnce(deps, form, (inTransaction) => registerDevice(inTransaction, wanted));
  if (created === "duplicate-submission") {
    const { console: texts, devices } = pageMessages(visit, signedIn);
    const made = { label: devices.codes.heading, uri: managePath(organisation) };
    return rerender(duplicateSubmission({ made, secret: texts.frame.sentBefore.secret.code }));
  }
  const { code, expiresAt } = created;
  const frame = await consoleFrame(deps, visit, signedIn, "devices");
  const { code: text } = frame.messages.devices;
  const command = enrollCommand(deps, organisation, { ...read, code });
  const page = shownOncePage({
    ...frame,
    title: read.name === undefined ? text.heading : text.headingFor({ name: read.name }),
    breadcrumbs: [{ label: frame.messages.console.frame.pages.devices, uri: managePath(organisation) }],
    text: html`${text.onceText} ${text.until({ at: expiresAt })} ${text.commandText}`,
    values: [
      { id: "enrollment-code", title: text.label, lines: code },
      { id: "enroll-command", title: text.command, lines: command },
    ],
    doneUri: managePath(organisation),
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
