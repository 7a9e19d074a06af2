/** GET codes/{id}/waiting: a panel that sees when a device has used its enrolment code. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { EnrolmentCode } from "../../../core/devices/device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { sendLivePiece } from "../../../page-kit/live-piece.ts";
import { pathParams } from "../../../page-kit/page.ts";
import { findCode } from "../enrol/enrolment-code.store.ts";
import { type ManageDeps, managePageHandler, managePath } from "./page-and-api.ts";

export function codeWaitingRoute(app: FastifyInstance, deps: ManageDeps): void {
  const handler = managePageHandler(deps, (_, visit) =>
    sendLivePiece(deps, visit, async (messages) => {
      const { id = "" } = pathParams(visit);
      const { organisation } = visit;
      const code = isUuid(id) ? await findCode(deps.database.query, organisation.id, id) : undefined;
      return code && codePanel(organisation, code, deps.clock(), messages);
    }),
  );
  app.get("/devices/manage/:org/codes/:id/waiting", { errorHandler: deps.showError }, handler);
}

export function codePanel(
  organisation: Pick<Organisation, "id">,
  {
    id,
    deviceId,
    withdrawnAt,
    expiresAt,
  }: Pick<EnrolmentCode, "id" | "deviceId" | "withdrawnAt" | "expiresAt">,
  now: number,
  { devices }: Messages,
): Html {
  const { waiting } = devices;
  const panel = { id: "first-certificate", uri: managePath(organisation, `/codes/${id}/waiting`) };
  if (deviceId !== null) {
    const body = html`<p><a id="waiting-device" href="${linkAddress(managePath(organisation, `/${deviceId}`))}">${waiting.open}</a></p>
`;
    return livePanel({ ...panel, title: waiting.done, text: waiting.doneText, state: "done", body });
  }
  if (withdrawnAt !== null || expiresAt <= now)
    return livePanel({ ...panel, title: waiting.failed, text: waiting.failedText, state: "failed" });
  return livePanel({ ...panel, title: waiting.title, text: waiting.text, state: "waiting" });
}
