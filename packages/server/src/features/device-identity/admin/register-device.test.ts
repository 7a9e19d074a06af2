import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { defaultRateLimits } from "../../../core/rate-limits/rate-limits.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { enrolledDevice } from "../../../testing/fixtures/enrolled-device.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { findCode, listUsableCodes } from "../enrol/enrolment-code.store.ts";
import { countEnrolmentAttempt, findUsableCode } from "../enrol/enrolment-code.ts";
import { type DeviceRegistration, registerDevice, withdrawCode } from "./register-device.ts";

const DAY_MS = 86_400_000;

describe("registering a device", () => {
  forEachDatabase(({ fresh }) => {
    let server: TestService;
    let org: TestOrganisation;
    const clock = fakeClock();
    const register = (more: Partial<DeviceRegistration> = {}) =>
      registerDevice(server.service, { orgId: org.organisation.id, actor: "test", ...more });
    const usable = async () => {
      const page = { now: clock(), limit: 100 };
      const codes = await listUsableCodes(server.service.database.query, org.organisation.id, page);
      return codes.map(({ id }) => id);
    };

    before(async () => {
      server = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(server.service);
    });
    after(() => server.close());

    test("a code is valid for a day, or ten minutes to seven days", async () => {
      assert.equal((await register()).expiresAt, clock() + DAY_MS);
      for (const seconds of [600, 604_800])
        assert.equal((await register({ expiresInSeconds: seconds })).expiresAt, clock() + seconds * 1000);
      for (const seconds of [0, 599, 604_801, 600.5, Number.NaN, -600])
        await assert.rejects(register({ expiresInSeconds: seconds }), {
          status: 400,
          code: "invalid_request",
        });
    });

    test("validates name, policy and replaced device of a code", async () => {
      for (const wrong of [
        { name: "" },
        { name: "a\nb" },
        { name: "x".repeat(101) },
        { attestation: "sometimes" },
        { replaces: newUuid() },
        { replaces: "device" },
      ])
        await assert.rejects(
          register(wrong),
          { status: 400, code: "invalid_request" },
          JSON.stringify(wrong),
        );
      const device = await enrolledDevice(server.service, org.organisation.id);
      const { id } = await register({ name: " Till ", attestation: "required", replaces: device.id });
      const code = await findCode(server.service.database.query, org.organisation.id, id);
      assert.deepEqual([code?.name, code?.attestation, code?.replaces], ["Till", "required", device.id]);
    });

    test("stores only the hash of a code", async () => {
      const { code, id } = await register({ name: "Till", address: "192.0.2.1" });
      const { query } = server.service.database;
      const rows = await query
        .selectFrom("device_enrollment_code")
        .selectAll()
        .where("id", "=", id)
        .execute();
      const events = await listAuditEvents(query, org.organisation.id, 1);
      assert.deepEqual([events[0]?.action, events[0]?.target], ["enrollment-code.created", id]);
      assert.equal(events[0]?.address, "192.0.2.1");
      const kept = JSON.stringify([rows, events]);
      // Five digits may be in any time or id.
      const parts = code.split("-").filter((part) => /[A-Z]/.test(part));
      for (const part of [code, code.replaceAll("-", ""), ...parts]) assert.ok(!kept.includes(part), part);
    });

    test("withdraws a code once, in its own organisation only", async () => {
      const { code, id } = await register();
      const orgId = org.organisation.id;
      const other = await makeOrganisation(server.service, "Beta");
      const { service } = server;
      assert.equal(await withdrawCode(service, { orgId: other.organisation.id, id, actor: "test" }), false);
      assert.ok((await usable()).includes(id));
      assert.equal(await withdrawCode(service, { orgId, id, actor: "test" }), true);
      assert.equal(await withdrawCode(service, { orgId, id, actor: "test" }), false);
      assert.ok(!(await usable()).includes(id));
      const events = await listAuditEvents(service.database.query, orgId, 1);
      assert.deepEqual([events[0]?.action, events[0]?.target], ["enrollment-code.withdrawn", id]);
      const deps = { ...service, rateLimits: defaultRateLimits };
      await assert.rejects(findUsableCode(deps, { id: orgId }, code, "192.0.2.1"), { status: 401 });
    });

    test("limits wrong codes by organisation and requests by address", async () => {
      clock.advance(61_000);
      const limits = {
        ...defaultRateLimits,
        "enrollment-code-organisation": { name: "enrollment-code-organisation", count: 2, windowSeconds: 60 },
        "enrollment-address": { name: "enrollment-address", count: 3, windowSeconds: 60 },
      } as const;
      const deps = { ...server.service, rateLimits: limits };
      const orgId = org.organisation.id;
      const { code } = await register();
      const wrong = (address: string) => findUsableCode(deps, { id: orgId }, "nonsense", address);
      for (const address of ["192.0.2.1", "192.0.2.2"]) await assert.rejects(wrong(address), { status: 401 });
      await assert.rejects(wrong("192.0.2.3"), { status: 429, code: "temporarily_unavailable" });
      // Guesses lock nobody out.
      for (let time = 0; time < 3; time++) await findUsableCode(deps, { id: orgId }, code, "192.0.2.9");
      await assert.rejects(findUsableCode(deps, { id: orgId }, code, "192.0.2.9"), { status: 429 });
      await assert.rejects(countEnrolmentAttempt(deps, orgId, "192.0.2.9"), { status: 429 });
      await countEnrolmentAttempt(deps, orgId, "192.0.2.10");
      clock.advance(61_000);
      await countEnrolmentAttempt(deps, orgId, "192.0.2.9");
    });

    test("has default limits of ten and sixty wrong codes and 600 requests a minute", () => {
      const of = (name: keyof typeof defaultRateLimits) => {
        const { count, windowSeconds } = defaultRateLimits[name];
        return [count, windowSeconds];
      };
      assert.deepEqual(of("enrollment-code-address"), [10, 60]);
      assert.deepEqual(of("enrollment-code-organisation"), [60, 60]);
      assert.deepEqual(of("enrollment-address"), [600, 60]);
    });

    test("deletes codes a month and challenges a day after they expire", async () => {
      const { id } = await register();
      const orgId = org.organisation.id;
      const { service } = server;
      const { query } = service.database;
      await query
        .insertInto("device_challenge")
        .values({
          org_id: orgId,
          id: newUuid(),
          code_hash: "c",
          secret_hash: "s",
          nonce: "n",
          ek_hash: "e",
          ek_path: "[]",
          ak_public: "a",
          created_at: clock(),
          expires_at: clock() + 300_000,
        })
        .execute();
      const round = async () => {
        await removeExpired(service);
        const challenges = await query.selectFrom("device_challenge").select("id").execute();
        return [(await findCode(query, orgId, id)) !== undefined, challenges.length];
      };
      clock.advance(DAY_MS);
      assert.deepEqual(await round(), [true, 1]);
      clock.advance(300_001);
      assert.deepEqual(await round(), [true, 0]);
      clock.advance(30 * DAY_MS - 300_002);
      assert.deepEqual(await round(), [true, 0]);
      clock.advance(2);
      assert.deepEqual(await round(), [false, 0]);
    });

    test("pages the list of codes", async () => {
      const made = [await register(), await register(), await register()].map(({ id }) => id).reverse();
      const query = server.service.database.query;
      const page = (more: { after?: string }) =>
        listUsableCodes(query, org.organisation.id, { now: clock(), limit: 2, ...more });
      const first = (await page({})).map(({ id }) => id);
      assert.deepEqual(first, made.slice(0, 2));
      const rest = await page({ after: first[1] ?? "" });
      assert.equal(rest[0]?.id, made[2]);
    });
  });
});
