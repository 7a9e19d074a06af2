import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { enrolledDevice } from "../../testing/enrolled-device.ts";
import { makeOrganisation, startTestService } from "../../testing/test-service.ts";
import { revokeDevice } from "./revoke-device.ts";
forEachDatabase(({ name, fresh }) => {
  test("storm", async () => {
    const server = await startTestService({ databaseUrl: await fresh() });
    const org = await makeOrganisation(server.service);
    const orgId = org.organisation.id;
    for (let i = 0; i < 3; i++) await server.service.deviceCa.rotate({ orgId, actor: "t" });
    const ds = [];
    for (let i = 0; i < 60; i++) ds.push(await enrolledDevice(server.service, orgId));
    const out = await Promise.allSettled(ds.map((d) => revokeDevice(server.service, { orgId, deviceId: d.id, reason: "unspecified", actor: "t" })));
    const bad = out.filter((o) => o.status === "rejected");
    console.log(name, "bad", bad.length, bad[0]);
    await server.close();
  });
});
