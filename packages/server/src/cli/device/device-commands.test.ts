import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { presentedDevice } from "../../core/devices/presented-device.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { enrol, enrolledByCode, enrolmentOf } from "../../testing/fixtures/enrolments.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

interface Registered {
  readonly id: string;
  readonly code: string;
  readonly expiresAt: string;
}

interface Listed {
  readonly items: ReadonlyArray<Record<string, unknown>>;
}

describe("signet device", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let server: TestService;
    let org: TestOrganisation;
    let orgId: string;
    const json = <Answer>(...args: string[]) =>
      runForJson<Answer>(["device", ...args, "--org", orgId], settings.env);
    const typed = (...args: string[]) => runInProcess(["device", ...args, "--org", orgId], settings.env);
    const standing = async (der: Buffer) => (await presentedDevice(server.service, orgId, der)).kind;

    before(async () => {
      const databaseUrl = await fresh();
      server = await startTestService({ databaseUrl });
      settings = await operatorSettings(databaseUrl);
      org = await makeOrganisation(server.service);
      orgId = org.organisation.id;
    });
    after(async () => {
      await server.close();
      await settings.remove();
    });

    test("registers, lists, shows and revokes a device", async () => {
      assert.match((await typed("list")).out, /No matching devices/);
      const made = await json<Registered>("register", "--name", "Till 4", "--expires", "1h");
      assert.ok(Math.abs(Date.parse(made.expiresAt) - Date.now() - 3_600_000) < 600_000);
      const key = newEcKey();
      const { deviceId: id, der } = enrolmentOf(await enrol(org.issuer, made.code, key), key);
      const { items } = await json<Listed>("list");
      assert.equal(items.length, 1);
      assert.deepEqual([items[0]?.["id"], items[0]?.["name"], items[0]?.["state"]], [id, "Till 4", "active"]);
      assert.match(
        (await typed("list", "--state", "active")).out,
        new RegExp(`^${id} +Till 4 +none +active `, "m"),
      );
      assert.match((await typed("list", "--state", "revoked")).out, /No matching devices/);
      const shown = await json<{ certificates: ReadonlyArray<{ standing: string }> }>("show", id);
      assert.deepEqual(
        shown.certificates.map((one) => one.standing),
        ["good"],
      );
      assert.match((await typed("show", id.toUpperCase())).out, /^revoked +no$/m);
      assert.equal(await standing(der), "good");
      assert.match((await typed("revoke", id, "--reason", "keycompromise")).out, /^Revoked "Till 4"\.$/m);
      assert.equal(await standing(der), "refused");
      assert.deepEqual(await json("revoke", id), { id, revoked: false });
      assert.match((await typed("show", id)).out, /\(keyCompromise\)$/m);
    });

    test("rejects an invalid command line without changing anything", async () => {
      const { deviceId: id, der } = await enrolledByCode(server.service, org.issuer);
      for (const [args, code, told] of [
        [["register", "--expires", "5m"], 1, /10 minutes to 7 days/],
        [["register", "--expires", "soon"], 2, /--expires must be/],
        [["register", "--attestation", "maybe"], 2, /--attestation must be one of/],
        [["register", "--replaces", orgId], 1, /replaces must be/],
        [["revoke", id, "--reason", "boredom"], 2, /--reason must be one of/],
        [["revoke"], 2, /ID of the device is required/],
        [["revoke", orgId], 1, /there is no device/],
        [["withdraw-code", orgId], 1, /there is no enrollment code/],
        [["withdraw-code"], 2, /ID of the enrollment code is required/],
        [["list", "--state", "asleep"], 2, /--state must be one of/],
        [["list", "--codes", "--state", "active"], 2, /can't be combined with --codes/],
      ] as const) {
        const ended = await typed(...args);
        assert.equal(ended.code, code, ended.err);
        assert.match(ended.err, told);
      }
      assert.equal(await standing(der), "good");
    });

    test("doesn't find another organisation's devices and codes", async () => {
      const { deviceId } = await enrolledByCode(server.service, org.issuer);
      const { id: codeId } = await json<Registered>("register");
      const other = (await makeOrganisation(server.service, "Beta")).organisation.id;
      for (const args of [
        ["show", deviceId],
        ["revoke", deviceId],
        ["withdraw-code", codeId],
      ] as const) {
        const ended = await runInProcess(["device", ...args, "--org", other], settings.env);
        assert.equal(ended.code, 1, args[0]);
        assert.match(ended.err, /there is no/);
      }
    });

    test("lists unused codes without their value, and withdraws them", async () => {
      const device = await enrolledByCode(server.service, org.issuer);
      const more = ["--attestation", "required", "--replaces", device.deviceId];
      const { id, code } = await json<Registered>("register", "--name", "Gate", ...more);
      const { items } = await json<Listed>("list", "--codes");
      const [item] = items;
      const { name, attestation, replaces, createdBy } = item ?? {};
      assert.deepEqual(
        [item?.["id"], name, attestation, replaces, createdBy],
        [id, "Gate", "required", device.deviceId, "operator"],
      );
      assert.ok(!JSON.stringify(items).includes(code));
      assert.match((await typed("list", "--codes")).out, new RegExp(`^${id} +Gate +required `, "m"));
      assert.deepEqual(await json("withdraw-code", id), { id, withdrawn: true });
      assert.match((await typed("withdraw-code", id)).out, /already used or expired/);
      assert.equal((await enrol(org.issuer, code)).status, 401);
    });
  });
});
