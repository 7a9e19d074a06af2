/** GET /devices/manage/{org}/{id}: the page of one device. Programs read devices from the list. */
import type { FastifyInstance } from "fastify";
import { certificateStatus } from "../../../core/devices/device.ts";
import { findDevice, listCertificates } from "../../../core/devices/devices.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { requireAdministrator, requireId, show, type Visit } from "../../../page-kit/page.ts";
import { devicePage } from "./device.page.ts";
import { stateOf } from "./device-list.store.ts";
import { type ManageDeps, managePageHandler, managePath } from "./page-and-api.ts";

export function deviceRoute(app: FastifyInstance, deps: ManageDeps): void {
  const handler = managePageHandler(deps, showDevice);
  app.get("/devices/manage/:org/:id", { errorHandler: deps.showError }, handler);
}

/** The current one and those before it. */
const MAX_CERTIFICATES = 6;

async function showDevice(deps: ManageDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const db = deps.database.query;
  const device = await findDevice(db, organisation.id, id);
  if (!device) throw new NotFound("device");
  const now = deps.clock();
  const certificates = await listCertificates(db, organisation.id, id, MAX_CERTIFICATES);
  const last = certificates.find(({ supersededAt }) => supersededAt === null);
  const frame = await consoleFrame(deps, visit, signedIn, "devices");
  const page = devicePage({
    ...frame,
    manageUri: (rest) => managePath(organisation, rest),
    device: { ...device, state: stateOf(device.revokedAt, last?.notAfter ?? null, now) },
    certificates: certificates.map((one) => ({ ...one, status: certificateStatus(one, device, now) })),
    activity: await activityCard(deps, organisation, { kind: "device", id }, frame.messages),
    lastChange: await findLastChange(deps, organisation.id, id, frame.messages),
  });
  await show(visit, frame, page);
}
