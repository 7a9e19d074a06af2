/** A service in demo mode, for the page of all components: nothing of it comes from the database. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { startTestService } from "../../packages/server/src/testing/test-service.ts";

export interface KitService {
  readonly baseUrl: string;
  close(): Promise<void>;
}

export async function startKitService(): Promise<KitService> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-kit-"));
  const running = await startTestService({
    databaseUrl: `sqlite:${path.join(folder, "signet.db")}`,
    demo: async () => ({ organisationIds: [], orgId: "", clientId: "", credentialsFile: "demo.json" }),
  });
  return {
    baseUrl: running.baseUrl,
    close: async () => {
      await running.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
