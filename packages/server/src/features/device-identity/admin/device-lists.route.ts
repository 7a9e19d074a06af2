/** The lists of devices and of unused codes for browsers: acts on ticked rows, files, and the page of the codes. */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listCard, showListPage } from "../../../page-kit/list/list-route.ts";
import { codeList } from "./code-list.ts";
import { deviceList } from "./device-list.ts";
import { type ManageDeps, managePageHandler, managePath, manageTabs } from "./page-and-api.ts";

export function deviceListRoutes(app: FastifyInstance, deps: ManageDeps): void {
  // A list of a hundred is a hundred boxes.
  const options = { errorHandler: deps.showError, config: { sanitizesForms: true, maxFields: 300 } };
  const [devices, codes] = [bulkHandlers(deviceList), bulkHandlers(codeList)];
  const page = (handle: Parameters<typeof managePageHandler>[1]) => managePageHandler(deps, handle);
  app.get("/devices/manage/:org/bulk", options, page(devices.get));
  app.post("/devices/manage/:org/bulk", options, page(devices.post));
  app.get("/devices/manage/:org/export", options, page(listExport(deviceList)));
  app.get("/devices/manage/:org/codes", options, page(showCodes));
  app.get("/devices/manage/:org/codes/bulk", options, page(codes.get));
  app.post("/devices/manage/:org/codes/bulk", options, page(codes.post));
  app.get("/devices/manage/:org/codes/export", options, page(listExport(codeList)));
}

const showCodes: Parameters<typeof managePageHandler>[1] = (deps, visit) =>
  showListPage(deps, visit, codeList, (section, { messages }) => [
    manageTabs("codes", { manageUri: (rest) => managePath(visit.organisation, rest), messages }),
    listCard(messages.devices.codes.heading, section),
  ]);
