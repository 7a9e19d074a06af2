/** devices/manage/{org}/{id}/revoke: a device ends at once, and a code that nobody has used; a page asks before. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { type Device, type RevocationReason, revocationReasons } from "../../core/devices/device.ts";
import { revokeDevice } from "../../core/devices/revoke-device.ts";
import { findDevice } from "../../core/devices/store.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { confirmPage } from "../../html/confirm.page.ts";
import { apiHandler } from "../../http/api/api-route.ts";
import { nothingHere } from "../../http/coded-error.ts";
import { NotFound } from "../../http/errors.ts";
import { formOf } from "../../http/form-body.ts";
import { revokeOperation } from "./manage-operations.ts";
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
import { reasonField } from "./reason-field.ts";

export function revokeRoute(app: FastifyInstance, deps: ManageDeps): void {
  app.get(
    `${MANAGE}/:id/revoke`,
    { errorHandler: deps.errorHandlers.page },
    pageHandler(deps, async (visit) => {
      const found = await toRevoke(deps, visit);
      if (found) await ask(deps, visit, found);
    }),
  );
  forBoth(app, deps, revokeOperation, {
    program: apiHandler(
      deps.programs.strictDoor,
      revokeOperation,
      async ({ caller, params, body, within }) => {
        const deviceId = idIn(params["id"]);
        const { reason = "unspecified" } = body;
        const device = await findDevice(deps.database.query, caller.organisation.id, deviceId);
        if (!device) throw nothingHere();
        await revokeDevice(inside(deps, within), { ...actingFor(caller), deviceId, reason });
        return { status: 204 };
      },
    ),
    page: (visit) => revokeOnPage(deps, visit),
  });
}

const idIn = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

interface Found {
  readonly signedIn: SignedIn;
  readonly device: Device;
}

/** @returns undefined when the answer has been sent. @throws NotFound */
async function toRevoke(deps: ManageDeps, visit: Visit): Promise<Found | undefined> {
  const { organisation, request } = visit;
  const id = idIn((request.params as { id?: string }).id);
  const signedIn = await provenAdministrator(deps, visit, managePath(organisation, `/${id}/revoke`));
  if (!signedIn) return undefined;
  const device = await findDevice(deps.database.query, organisation.id, id);
  if (!device) throw new NotFound("device");
  if (device.revokedAt === null) return { signedIn, device };
  // A button that was pressed twice, or somebody else's: what was asked for is so.
  await goTo(visit, managePath(organisation, "?done=revoked"));
  return undefined;
}

async function ask(
  deps: ManageDeps,
  visit: Visit,
  { signedIn, device }: Found,
  isExpired = false,
): Promise<void> {
  const { organisation } = visit;
  const frame = frameOf(visit);
  const { devices } = frame.messages;
  const page = confirmPage({
    ...frame,
    user: { email: signedIn.user.email },
    csrf: deps.door.formBinding(visit).csrf,
    action: managePath(organisation, `/${device.id}/revoke`),
    heading: devices.revoke.heading(device.name),
    text: devices.revoke.text,
    question: reasonField(frame.messages),
    confirm: devices.revoke.submit,
    confirmId: "device-revoke-confirm",
    cancel: devices.cancel,
    backUri: managePath(organisation),
    ...(isExpired ? { failure: { title: devices.expired, text: devices.expiredText } } : {}),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}

async function revokeOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const found = await toRevoke(deps, visit);
  if (!found) return;
  const { values } = formOf(visit.request);
  if (!deps.door.isOwnForm(visit, values.get("csrf"))) return ask(deps, visit, found, true);
  const chosen = values.get("reason");
  const reason: RevocationReason = revocationReasons.find((one) => one === chosen) ?? "unspecified";
  const { signedIn, device } = found;
  await revokeDevice(deps, { ...actingOn(visit, signedIn), deviceId: device.id, reason });
  await goTo(visit, managePath(visit.organisation, "?done=revoked"));
}
