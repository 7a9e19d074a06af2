/** GET /devices/manage/{org}/{id} and its tabs: the page of one device. Programs read devices from the list. */
import type { FastifyInstance } from "fastify";
import { certificateStatus, type Device } from "../../../core/devices/device.ts";
import { findDevice, listCertificates } from "../../../core/devices/devices.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { requireId, type Visit } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { type RecordPlace, showTab, type TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { aboveDevice, type DeviceView, deviceCertificates, deviceOverview } from "./device.page.ts";
import { stateOf } from "./device-list.store.ts";
import { type ManageDeps, managePageHandler, managePath } from "./page-and-api.ts";

const place: RecordPlace<Device> = {
  current: "devices",
  require: async ({ database }, visit) => {
    const device = await findDevice(database.query, visit.organisation.id, requireId(visit));
    if (!device) throw new NotFound("device");
    return device;
  },
  pathOf: (organisation, { id }, rest) => managePath(organisation, `/${id}${rest}`),
  crumbsAbove: ({ messages }, { orgId }) => [
    { label: messages.console.frame.pages.devices, uri: managePath({ id: orgId }) },
  ],
};

const deviceRecord: TabbedRecord<ManageDeps, Device, DeviceView> = {
  place,
  load: loadDevice,
  above: aboveDevice,
  tabs: [
    { name: "overview", url: "/devices/manage/:org/:id", content: (_, view) => deviceOverview(view) },
    {
      name: "activity",
      url: "/devices/manage/:org/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "device", id }, messages),
    },
    {
      name: "certificates",
      url: "/devices/manage/:org/:id/certificates",
      content: (_, view) => deviceCertificates(view),
    },
  ],
};

export function deviceRoute(app: FastifyInstance, deps: ManageDeps): void {
  for (const tab of deviceRecord.tabs) {
    const show = (_: ManageDeps, visit: Visit) => showTab(deps, visit, deviceRecord, tab);
    app.get(tab.url, { errorHandler: deps.showError }, managePageHandler(deps, show));
  }
}

/** The current one and those before it. */
const MAX_CERTIFICATES = 6;

async function loadDevice({ database, clock }: ManageDeps, view: RecordView<Device>): Promise<DeviceView> {
  const { record: device } = view;
  const now = clock();
  const found = await listCertificates(database.query, device.orgId, device.id, MAX_CERTIFICATES);
  const certificates = found.map((one) => ({ ...one, status: certificateStatus(one, device, now) }));
  const current = certificates.find(({ supersededAt }) => supersededAt === null);
  return { ...view, certificates, current, state: stateOf(device.revokedAt, current?.notAfter ?? null, now) };
}
