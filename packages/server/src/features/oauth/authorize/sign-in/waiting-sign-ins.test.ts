/** Who waits until a password can be looked at, or until another guess was, takes no place of those who work. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createPasswordHasher } from "../../../../core/passwords/password-hasher.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { fewPlaces } from "../../../../testing/few-places.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { visit } from "../../../../testing/fixtures/visit.ts";
import { makeOrganisation, startTestService } from "../../../../testing/test-service.ts";

/** One for the sign-in that is looked at, and one beside it. */
const two = fewPlaces(2, { waiting: 8, waitMs: 10_000 });
const limits = {
  "the password queue": "password-account=1000/60",
  "the guesses at one account": "password-account=1/60",
};

forEachDatabase(({ fresh }) => {
  for (const [line, limit] of Object.entries(limits))
    test(`a token request is answered while sign-ins stand in the line of ${line}`, async () => {
      const { promise: isLookedAt, resolve: look } = Promise.withResolvers<void>();
      let looking = 0;
      const verify = async () => {
        looking++;
        await isLookedAt;
        return false;
      };
      const passwords = createPasswordHasher({
        concurrency: 1,
        argon2: { hash: async () => "$argon2id$", verify },
      });
      const env = { SIGNET_RATE_LIMITS: limit };
      const running = await startTestService({ databaseUrl: await fresh(), passwords, env, admission: two });
      try {
        const org = await makeOrganisation(running.service);
        const signIns = [];
        for (let count = 0; count < 3; count++) {
          const browser = testBrowser();
          const { hidden } = await visit(browser, org);
          const typed = { ...hidden, email: org.user.email, password: "plum tractor ninety" };
          signIns.push(browser.post(`${org.issuer}/login`, typed));
        }
        const form = { grant_type: "client_credentials", ...credentials(org.batch) };
        for (let count = 0; count < 3; count++)
          assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
        await eventually("the first one is looked at", () => looking === 1);
        look();
        for (const { status } of await Promise.all(signIns)) assert.ok(status < 500, `${status}`);
      } finally {
        look();
        await running.close();
      }
    });
});
