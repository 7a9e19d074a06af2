/** Usernames, invitations, new addresses and the end of accounts by command. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { findUser, findUserByEmail, insertMembership } from "../../core/users/users.store.ts";
import { openService } from "../../modules/open-service.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { MAIL_ENV, mailsTo } from "../../testing/fakes/mailbox.ts";

const PASSWORD = "plum tractor ninety";

describe("signet user: usernames, invitations, email changes and deletion", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const withMail = () => ({ ...settings.env, ...MAIL_ENV });
    const json = <Answer = { id: string }>(args: string[], password = "") =>
      runForJson<Answer>(["user", ...args, "--org", org], withMail(), password);
    const typed = (args: string[], env: Record<string, string> = withMail(), answered = "") =>
      runInProcess(["user", ...args, "--org", org], env, answered);
    const opened = async <T>(work: (service: Awaited<ReturnType<typeof openService>>) => Promise<T>) => {
      const service = await openService(readConfig(withMail()), { onError: assert.ifError });
      try {
        return await work(service);
      } finally {
        await service.close();
      }
    };

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
      for (const email of ["ada@example.com", "bob@example.com"])
        await json(["create", "--email", email, "--verified"], PASSWORD);
    });
    after(() => settings.remove());

    test("keeps usernames unique regardless of case, and frees a removed one", async () => {
      const set = (email: string, ...name: string[]) => ["set-username", "--email", email, ...name];
      await json(set("ada@example.com", "--username", " Ada.L "));
      const user = () => opened((service) => findUserByEmail(service.database.query, org, "ada@example.com"));
      assert.equal((await user())?.user.username, "ada.l");
      assert.notEqual((await typed(set("bob@example.com", "--username", "ADA.L"))).code, 0);
      assert.notEqual((await typed(set("bob@example.com", "--username", "bob@example"))).code, 0);
      await json(set("ada@example.com"));
      assert.equal((await user())?.user.username, null);
      await json(set("bob@example.com", "--username", "ada.l"));
    });

    test("invites a user without a password by email, and requires SMTP_URL", async () => {
      const invite = ["invite", "--email", "ivy@example.com", "--firstname", "Ivy"];
      assert.notEqual((await typed(invite, settings.env)).code, 0);
      await json(invite);
      const found = await opened((service) =>
        findUserByEmail(service.database.query, org, "ivy@example.com"),
      );
      assert.deepEqual([found?.passwordHash, found?.user.emailVerified], [null, false]);
      const mails = await opened((service) => mailsTo(service, "ivy@example.com"));
      assert.deepEqual(
        mails.map(({ mail }) => mail.template),
        ["AcceptInvitation"],
      );
      assert.notEqual((await typed(["invite", "--email", "ada@example.com"])).code, 0, "there is one");
    });

    test("emails a confirmation link to the new address, and rejects one in use", async () => {
      const change = (to: string) => ["change-email", "--email", "ada@example.com", "--new-email", to];
      await json(change("ada@lovelace.example"));
      const mails = await opened((service) => mailsTo(service, "ada@lovelace.example"));
      assert.deepEqual(
        mails.map(({ mail }) => mail.template),
        ["ChangeEmail"],
      );
      assert.notEqual((await typed(change("bob@example.com"))).code, 0);
    });

    test("deletes a user only after confirmation, and keeps the account of a guest", async () => {
      await json(["create", "--email", "del@example.com", "--verified"], PASSWORD);
      const remove = ["delete", "--email", "del@example.com"];
      assert.equal((await typed(remove)).code, 2, "nobody to ask");
      assert.equal((await typed([...remove, "--json"])).code, 2);
      const found = () =>
        opened((service) => findUserByEmail(service.database.query, org, "del@example.com"));
      const second = await typed(remove, withMail(), "no");
      assert.deepEqual([second.code, second.err], [1, "Nothing was deleted.\n"]);
      assert.ok(await found());
      assert.equal((await typed(remove, withMail(), "yes")).out, "del@example.com has been deleted.\n");
      assert.equal(await found(), undefined);
      const { id } = await json(["create", "--email", "guest@example.com", "--verified"], PASSWORD);
      const host = (await runForJson<{ id: string }>(["org", "create", "--name", "Host"], withMail())).id;
      await opened(({ database, clock }) =>
        insertMembership(database.query, {
          orgId: host,
          userId: id,
          homeOrgId: org,
          role: "Standard",
          now: clock(),
        }),
      );
      const shownOut = ["user", "delete", "--id", id, "--yes", "--org", host];
      assert.match(
        (await runInProcess(shownOut, withMail())).out,
        /is no longer a guest of this organisation/,
      );
      const memberOf = (orgId: string) => opened(({ database }) => findUser(database.query, orgId, id));
      assert.deepEqual([(await memberOf(host))?.id, (await memberOf(org))?.id], [undefined, id]);
      assert.equal((await json<{ deleted: boolean }>(["delete", "--id", id, "--yes"])).deleted, true);
      assert.equal(await memberOf(org), undefined);
      await json(
        ["create", "--email", "boss@example.com", "--verified", "--role", "administrator"],
        PASSWORD,
      );
      const refused = await typed(["delete", "--email", "boss@example.com", "--yes"]);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /no other administrator/);
    });
  });
});
