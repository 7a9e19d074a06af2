/** Every route that the server registers, for the check that docs/spec-map.md lists them all. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../app.ts";
import { readConfig } from "../config/config.ts";
import { openService, withMailbox } from "../modules/open-service.ts";

export interface ListedRoute {
  readonly method: string;
  /** As Fastify writes it, e.g. `/oauth/:org/token`. */
  readonly path: string;
}

export async function listRoutes(): Promise<ListedRoute[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "signet-routes-"));
  const service = await openService(readConfig({ SIGNET_DATA_DIR: dataDir }), { onError: () => {} });
  try {
    const routes: ListedRoute[] = [];
    const app = await createApp(withMailbox(service), {
      nodeName: "routes",
      logRequest: () => {},
      logError: () => {},
      logDocuments: () => {},
      logRefusal: () => {},
      isDraining: () => false,
      demo: { organisationIds: [], orgId: "", clientId: "", credentialsFile: "" },
      onRoute: (route) => routes.push(route),
    });
    await app.close();
    return routes;
  } finally {
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
