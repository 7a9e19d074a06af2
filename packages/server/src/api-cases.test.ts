// Every operation of the JSON interfaces: well used, unauthenticated, another organisation's, without permission,
// malformed. A new route fails here until it has a row.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listRoutes } from "./app-routes.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./testing/api-cases/api-case.ts";
import { legacyHolderCases } from "./testing/api-cases/legacy-holders.ts";
import { legacySignedCases } from "./testing/api-cases/legacy-signed.ts";
import { managementCases } from "./testing/api-cases/management.ts";
import { sessionKeyCases } from "./testing/api-cases/session-keys.ts";
import { usersGetCases } from "./testing/api-cases/users-get.ts";
import { forEachDatabase } from "./testing/databases.ts";
import { fakeClock } from "./testing/fake-clock.ts";
import { quickPasswords } from "./testing/quick-passwords.ts";
import { MAIL_ENV } from "./testing/test-mailbox.ts";
import { makeOrganisation, startTestService, type TestService } from "./testing/test-service.ts";
import { makeSystemAccount } from "./testing/test-system-account.ts";

const cases: ApiCases = {
  ...managementCases,
  ...sessionKeyCases,
  ...usersGetCases,
  ...legacyHolderCases,
  ...legacySignedCases,
};

const KINDS = [
  "happy",
  "unauthenticated",
  "foreign",
  "forbidden",
  "malformed",
] as const satisfies readonly (keyof ApiCase)[];
const routes = (await listRoutes()).filter(({ path }) => path.startsWith("/legacy/"));

test("every operation has a row", () => {
  assert.deepEqual(Object.keys(cases).sort(), routes.map(({ method, path }) => `${method} ${path}`).sort());
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let world: ApiWorld;
  before(async () => {
    const clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    const { service, baseUrl } = running;
    const [a, b] = [await makeOrganisation(service, "A"), await makeOrganisation(service, "B")];
    world = {
      service,
      baseUrl,
      clock,
      a,
      b,
      administratorOfA: await makeSystemAccount(service, a, { administrator: true }),
      administratorOfB: await makeSystemAccount(service, b, { administrator: true }),
      plainOfA: await makeSystemAccount(service, a),
      plainOfB: await makeSystemAccount(service, b),
    };
  });
  after(() => running.close());

  for (const [route, row] of Object.entries(cases)) {
    for (const kind of KINDS) {
      const tried = row[kind];
      if (typeof tried !== "function") {
        test(`${route}: nothing to try as ${kind}, because ${tried.none}`, () =>
          assert.ok(tried.none.length > 10));
        continue;
      }
      test(`${route}: ${kind}`, async () => {
        await tried(world);
        assert.deepEqual(running.errors, []);
      });
    }
  }
});
