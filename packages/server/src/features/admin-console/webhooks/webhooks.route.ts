/** The webhooks of an organisation. */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { consoleRoute } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { webhookDeliveriesRoutes } from "./deliveries.route.ts";
import { webhookEndRoutes } from "./end.route.ts";
import { newWebhookRoute } from "./new.route.ts";
import { webhookSecretRoute } from "./secret.route.ts";
import { webhookSettingsRoute } from "./settings.route.ts";
import { webhookList } from "./webhook-list.ts";
import type { WebhooksDeps } from "./webhook-pages.ts";
import { webhookRecord } from "./webhook-record.ts";

export function webhooksRoutes(app: FastifyInstance, deps: WebhooksDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/webhooks", webhookList);
  newWebhookRoute(app, deps);
  tabbedRecordRoutes(app, deps, webhookRecord);
  webhookSettingsRoute(app, deps);
  webhookSecretRoute(app, deps);
  webhookDeliveriesRoutes(app, deps);
  consoleRoute(app, deps, "/oauth/manage/:org/webhooks/export", { get: listExport(webhookList) });
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/webhooks/bulk", bulkHandlers(webhookList));
  webhookEndRoutes(app, deps);
}
