import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { defaultSettings } from "../applications/application.ts";
import { findApplication, insertApplication } from "../applications/applications.store.ts";
import { grantUserConsent } from "../consents/consents.store.ts";
import { countDocumentClients, deleteUnusedClients } from "./document-clients.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());

  test("what nobody has used makes room, in its own organisation alone; what somebody uses stays", async () => {
    const db = running.service.database.query;
    const [org, other] = [await makeOrganisation(running.service), await makeOrganisation(running.service)];
    const add = (orgId: string, id: string, updatedAt: number) =>
      insertApplication(db, {
        ...{ orgId, id, name: "Agent", clientType: "native", settings: defaultSettings("native") },
        ...{ secrets: [], source: "metadata-document", homeOrgId: null, grantedScopes: null },
        ...{ createdAt: updatedAt, updatedAt, disabledAt: null, version: 1 },
      });
    const { id: orgId } = org.organisation;
    const ids = {
      old: "https://a.example/old",
      used: "https://a.example/used",
      recent: "https://a.example/new",
    };
    await add(orgId, ids.old, 1);
    await add(orgId, ids.used, 1);
    await add(orgId, ids.recent, 1_000);
    await add(other.organisation.id, ids.old, 1);
    await grantUserConsent(db, {
      ...{ orgId, applicationId: ids.used, userId: org.user.id, scopes: ["openid"] },
      ...{ fingerprints: {}, definitions: {}, now: 1 },
    });
    assert.equal(await countDocumentClients(db, orgId), 3);
    assert.equal(await deleteUnusedClients(db, { orgId, before: 500, limit: 10 }), 1);
    assert.equal(await findApplication(db, orgId, ids.old), undefined);
    assert.ok(await findApplication(db, orgId, ids.used));
    assert.ok(await findApplication(db, orgId, ids.recent));
    assert.ok(await findApplication(db, other.organisation.id, ids.old));
    assert.ok(await findApplication(db, orgId, org.web.application.id), "one that somebody registered");
  });
});
