/** The end of an account: nothing of it stays but ids in the audit log, and no home organisation loses its last administrator. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { giveAuthenticator } from "../../../testing/fixtures/factors.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import { dumpWholeDatabase } from "../../../testing/probes/dump-database.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { listAuditEvents, recordAuditEvent } from "../../audit/audit.store.ts";
import { recordBrowserUse } from "../../known-browsers/known-browsers.store.ts";
import { sendNotice } from "../../mail/notices.ts";
import { saveFilter } from "../../saved-filters/saved-filters.ts";
import { requestNewEmail } from "../account-mails.ts";
import { findUser, insertMembership } from "../users.store.ts";
import { deleteUser, leaveOrganisation } from "./delete-user.ts";
import { LastAdministrator } from "./last-administrator.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let host: TestOrganisation;
  let count = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
    org = await makeOrganisation(running.service);
    host = await makeOrganisation(running.service, "Host");
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const person = () => withUser(running.service, org, `person-${count++}@acme.example`);
  const roams = async (userId: string, role: "Standard" | "Administrator" = "Standard") =>
    insertMembership(db(), { orgId: host.organisation.id, userId, homeOrgId: orgId(), role, now: 1 });
  const makeAdministrator = (userId: string, where = org) =>
    db()
      .updateTable("membership")
      .set({ role: "Administrator" })
      .where("org_id", "=", where.organisation.id)
      .where("user_id", "=", userId)
      .execute();
  const remove = (id: string) => deleteUser(running.service, { orgId: orgId(), id, actor: `user:${id}` });
  /** Every row that holds one of the words, without those of the audit log. */
  const rowsWith = async (...words: string[]) =>
    (await dumpWholeDatabase(db()))
      .split("\n")
      .filter((line) => words.some((word) => line.includes(word)) && !line.startsWith("audit_event "))
      .map((line) => line.slice(0, line.indexOf(" ")));

  test("deleting an account keeps its id in the audit log, sends logouts and an email, and ends its tokens", async () => {
    const own = await person();
    const { id, email } = own.user;
    const told = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      backchannelLogoutUri: "https://app.example/logout",
    });
    const source = codeSource(own);
    const tokens = await source.tokens({}, told);
    await giveAuthenticator(running.service, own);
    await roams(id);
    await recordBrowserUse(db(), { orgId: host.organisation.id, userId: id, browserHash: "hash", now: 1 });
    const user = await findUser(db(), orgId(), id);
    assert.ok(user);
    for (const where of [orgId(), host.organisation.id]) {
      const failed = { orgId: where, at: 1, actor: "anonymous", action: "sign-in.failed" } as const;
      await recordAuditEvent(db(), { ...failed, typedEmail: email });
      await saveFilter(running.service, {
        ...{ orgId: where, list: "users" },
        ...{ name: email, query: "category=signIn" },
      });
    }
    const { baseUrl } = running.service.config;
    await requestNewEmail({ ...running.service, baseUrl }, user, {
      newEmail: "new@acme.example",
      actor: "test",
    });
    const before = await rowsWith(id, email);
    for (const table of [
      "browser_session",
      "token_family",
      "consent",
      "user_action",
      "totp_credential",
      "audit_typed_email",
      "audit_filter",
    ])
      assert.ok(before.includes(table), table);

    assert.equal(await remove(id), true);
    assert.equal(await remove(id), false);

    assert.deepEqual((await rowsWith(id, email)).sort(), ["logout_delivery", "outgoing_mail"]);
    const mails = await mailsTo(running.service, email);
    assert.deepEqual(
      mails.map(({ mail }) => mail.template),
      ["AccountDeleted"],
    );
    const userinfo = await fetch(`${org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${tokens.accessToken}` },
    });
    assert.equal(userinfo.status, 401);
    const introspected = await postForm(`${org.issuer}/introspect`, {
      ...credentials(told),
      token: tokens.accessToken,
    });
    assert.equal(introspected.body["active"], false);
    assert.equal((await refresh(own, tokens.refreshToken, {}, told)).body["error"], "invalid_grant");
    const said = (await listAuditEvents(db(), orgId(), 200)).filter(({ target, actor }) =>
      [target, actor].some((one) => one?.includes(id)),
    );
    assert.equal(said[0]?.action, "user.deleted");
    const [theirs] = await listAuditEvents(db(), host.organisation.id, 1);
    assert.deepEqual([theirs?.action, theirs?.target], ["roaming.ended", id]);
    const kept = JSON.stringify(said);
    for (const word of [email, "acme.example", "Uma"]) assert.ok(!kept.includes(word), word);
  });

  test("of two administrators deleted concurrently, one stays; the last can't be deleted", async () => {
    const [one, other] = [await person(), await person()];
    for (const { user } of [one, other]) await makeAdministrator(user.id);
    const both = await Promise.allSettled([remove(one.user.id), remove(other.user.id)]);
    const refused = both.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 1);
    assert.ok(refused[0]?.status === "rejected" && refused[0].reason instanceof LastAdministrator);
    const left = both[0]?.status === "rejected" ? one : other;
    assert.ok(await findUser(db(), orgId(), left.user.id));
    await assert.rejects(remove(left.user.id), LastAdministrator);
    // Nobody who cannot come in is an administrator to count on.
    const third = await person();
    await makeAdministrator(third.user.id);
    await db().updateTable("user_account").set({ disabled_at: 1 }).where("id", "=", third.user.id).execute();
    await assert.rejects(remove(left.user.id), LastAdministrator);
    assert.equal(await remove(third.user.id), true);
    // Nor is somebody who was invited and has not come.
    const invited = await person();
    await makeAdministrator(invited.user.id);
    await db()
      .updateTable("user_account")
      .set({ password_hash: null })
      .where("id", "=", invited.user.id)
      .execute();
    await assert.rejects(remove(left.user.id), LastAdministrator);
    assert.equal(await remove(invited.user.id), true);
  });

  test("a visited organisation can't block a deletion, and keeps only the id in its audit log", async () => {
    const own = await person();
    const { id, email } = own.user;
    await roams(id, "Administrator");
    assert.equal(await remove(id), true);
    assert.equal(await findUser(db(), orgId(), id), undefined);
    assert.equal(await findUser(db(), host.organisation.id, id), undefined);
    const dump = (await dumpWholeDatabase(db())).split("\n");
    const kept = dump.filter((line) => line.includes(host.organisation.id) && line.includes(id));
    assert.ok(kept.length > 0 && kept.every((line) => line.startsWith("audit_event ")), kept.join("\n"));
    assert.ok(!dump.some((line) => line.includes(host.organisation.id) && line.includes(email)));
  });

  test("a guest who is the last administrator can leave, but isn't removed by somebody else", async () => {
    const own = await person();
    const { id } = own.user;
    await roams(id, "Administrator");
    const leave = (actor: string) =>
      leaveOrganisation(running.service, { orgId: host.organisation.id, id, actor });
    await assert.rejects(leave("operator"), LastAdministrator);
    assert.equal(await leave(`user:${id}`), true);
    assert.ok(await findUser(db(), orgId(), id));
  });

  test("a guest can leave and keeps the account; home users can't leave, and guests can't be deleted", async () => {
    const own = await person();
    const { id } = own.user;
    await roams(id);
    const leave = (where: TestOrganisation) =>
      leaveOrganisation(running.service, { orgId: where.organisation.id, id, actor: `user:${id}` });
    assert.equal(
      await deleteUser(running.service, { orgId: host.organisation.id, id, actor: "operator" }),
      false,
    );
    assert.equal(await leave(org), false);
    assert.equal(await leave(host), true);
    assert.equal(await leave(host), false);
    assert.equal(await findUser(db(), host.organisation.id, id), undefined);
    assert.ok(await findUser(db(), orgId(), id));
  });

  test("other users and other organisations lose nothing", async () => {
    const own = await person();
    const neighbour = await person();
    const { id } = own.user;
    const { baseUrl } = running.service.config;
    for (const each of [own, neighbour]) {
      await roams(each.user.id);
      await codeSource(each).tokens();
      for (const where of [orgId(), host.organisation.id])
        await recordBrowserUse(db(), { orgId: where, userId: each.user.id, browserHash: "hash", now: 1 });
      const user = await findUser(db(), orgId(), each.user.id);
      assert.ok(user);
      const newEmail = `new-${each.user.email}`;
      await requestNewEmail({ ...running.service, baseUrl }, user, { newEmail, actor: "test" });
      await sendNotice(db(), running.service, user, { template: "AccountDeleted" }, { address: "192.0.2.1" });
    }
    const lines = async () => (await dumpWholeDatabase(db())).split("\n");
    /** Rows that are not any more what they were. */
    const goneBy = async (act: () => Promise<boolean>) => {
      const before = await lines();
      assert.equal(await act(), true);
      const after = new Set(await lines());
      return before.filter((line) => !after.has(line));
    };
    const left = await goneBy(() =>
      leaveOrganisation(running.service, { orgId: host.organisation.id, id, actor: `user:${id}` }),
    );
    // The account is held meanwhile, which its row notes.
    const kinds = left.map((line) => line.split(" ")[0]);
    assert.deepEqual(kinds.sort(), ["known_browser", "membership", "user_account"]);
    for (const line of left) {
      assert.ok(line.includes(id), line);
      if (!line.startsWith("user_account ")) assert.ok(line.includes(host.organisation.id), line);
    }
    const sessions = db().selectFrom("browser_session").select("id").where("user_id", "=", id);
    const theirs = [id, own.user.email, ...(await sessions.execute()).map((session) => session.id)];
    const gone = await goneBy(() => remove(id));
    for (const table of ["user_account", "known_browser", "browser_session", "consent", "user_action"])
      assert.ok(
        gone.some((line) => line.startsWith(`${table} `)),
        table,
      );
    for (const line of gone)
      assert.ok(
        theirs.some((word) => line.includes(word)),
        line,
      );
  });
});
