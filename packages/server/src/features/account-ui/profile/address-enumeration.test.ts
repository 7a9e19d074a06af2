// Requesting a new email address doesn't reveal whether it is taken, not even through the data export.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { follow, logIn, withUser } from "../../../testing/fixtures/visit.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";

const HOUR = 3_600_000;

describe("email change request", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    before(async () => {
      const SIGNET_RATE_LIMITS = "recovery-address=100/60,data-export=100/60";
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS };
      running = await startTestService({ databaseUrl: await fresh(), clock, env, passwords: quickPasswords });
    });
    after(() => running.close());

    test("the export is the same for a taken and a free address", async () => {
      const home = await makeOrganisation(running.service);
      const exports: unknown[] = [];
      for (const newEmail of ["free@acme.example", home.user.email]) {
        const org = await withUser(running.service, home, `asks-${exports.length}@acme.example`);
        const requestedAt = clock();
        const snapshots = [];
        for (const later of [0, HOUR, 30 * HOUR, 30 * HOUR]) {
          clock.advance(later);
          await removeExpired(running.service);
          const browser = testBrowser();
          const open = async (rest: string) => {
            const page = await follow(browser, await browser.get(`${org.issuer}/account/${rest}`));
            return page.body.includes('id="login-submit"') ? logIn(browser, org, page) : page;
          };
          const { hidden } = await open("address");
          if (later === 0) await browser.post(`${org.issuer}/account/address`, { ...hidden, newEmail });
          const data = await browser.post(`${org.issuer}/account/data/export`, (await open("data")).hidden);
          const { links, mails } = JSON.parse(data.body) as {
            links: { sentAt: string; expiresAt: string }[];
            mails: { kind: string }[];
          };
          snapshots.push({
            links: links.map(({ sentAt, expiresAt, ...link }) => ({
              ...link,
              sentAt: Date.parse(sentAt) - requestedAt,
              expiresAt: Date.parse(expiresAt) - requestedAt,
            })),
            mails: mails.map(({ kind }) => kind),
          });
        }
        exports.push(snapshots);
      }
      assert.match(JSON.stringify(exports[0]), /ChangeEmail/);
      assert.deepEqual(exports[1], exports[0]);
    });
  });
});
