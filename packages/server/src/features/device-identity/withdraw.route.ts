/** devices/manage/{org}/codes/{id}/withdraw: a code that nobody has used enrols nothing any more; a page asks before. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { EnrollmentCode } from "../../core/devices/device.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { confirmPage } from "../../html/confirm.page.ts";
import { apiHandler } from "../../http/api/api-route.ts";
import { nothingHere } from "../../http/coded-error.ts";
import { NotFound } from "../../http/errors.ts";
import { formOf } from "../../http/form-body.ts";
import { findCode } from "./codes/store.ts";
import { isUsable } from "./enrollment-code.ts";
import { withdrawOperation } from "./manage-operations.ts";
import {
  actingFor,
  actingOn,
  forBoth,
  frameOf,
  goTo,
  inside,
  MANAGE,
  type ManageDeps,
  managePath,
  pageHandler,
  provenAdministrator,
  show,
  type Visit,
} from "./manage-visit.ts";
import { withdrawCode } from "./register-device.ts";

export function withdrawRoute(app: FastifyInstance, deps: ManageDeps): void {
  app.get(
    `${MANAGE}/codes/:id/withdraw`,
    { errorHandler: deps.errorHandlers.page },
    pageHandler(deps, async (visit) => {
      const found = await toWithdraw(deps, visit);
      if (found) await ask(deps, visit, found);
    }),
  );
  forBoth(app, deps, withdrawOperation, {
    program: apiHandler(deps.programs.strictDoor, withdrawOperation, async ({ caller, params, within }) => {
      const id = idIn(params["id"]);
      if (!(await withdrawCode(inside(deps, within), { ...actingFor(caller), id }))) throw nothingHere();
      return { status: 204 };
    }),
    page: (visit) => withdrawOnPage(deps, visit),
  });
}

const idIn = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

interface Found {
  readonly signedIn: SignedIn;
  readonly code: EnrollmentCode;
}

/** @returns undefined when the answer has been sent. @throws NotFound */
async function toWithdraw(deps: ManageDeps, visit: Visit): Promise<Found | undefined> {
  const { organisation, request } = visit;
  const id = idIn((request.params as { id?: string }).id);
  const path = managePath(organisation, `/codes/${id}/withdraw`);
  const signedIn = await provenAdministrator(deps, visit, path);
  if (!signedIn) return undefined;
  const code = await findCode(deps.database.query, organisation.id, id);
  if (!code) throw new NotFound("code");
  if (isUsable(code, deps.clock())) return { signedIn, code };
  // Used or over meanwhile: the list says what became of it.
  await goTo(visit, managePath(organisation, code.withdrawnAt === null ? "" : "?done=withdrawn"));
  return undefined;
}

async function ask(
  deps: ManageDeps,
  visit: Visit,
  { signedIn, code }: Found,
  isExpired = false,
): Promise<void> {
  const { organisation } = visit;
  const frame = frameOf(visit);
  const { devices } = frame.messages;
  const { codes: text } = devices;
  const page = confirmPage({
    ...frame,
    user: { email: signedIn.user.email },
    csrf: deps.door.formBinding(visit).csrf,
    action: managePath(organisation, `/codes/${code.id}/withdraw`),
    heading: code.name === null ? text.withdrawUnnamedHeading : text.withdrawHeading(code.name),
    text: text.withdrawText,
    confirm: text.withdraw,
    confirmId: "code-withdraw-confirm",
    cancel: devices.cancel,
    backUri: managePath(organisation),
    ...(isExpired ? { failure: { title: devices.expired, text: devices.expiredText } } : {}),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}

async function withdrawOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const found = await toWithdraw(deps, visit);
  if (!found) return;
  if (!deps.door.isOwnForm(visit, formOf(visit.request).values.get("csrf")))
    return ask(deps, visit, found, true);
  const { signedIn, code } = found;
  await withdrawCode(deps, { ...actingOn(visit, signedIn), id: code.id });
  await goTo(visit, managePath(visit.organisation, "?done=withdrawn"));
}
