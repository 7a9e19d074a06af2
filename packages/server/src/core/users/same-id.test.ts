// Identifiers are random, and every statement names the organisation all the same: with a user of the same id in two
// organisations, and with two users in one, what is done to one is done to nobody else, and what is read is theirs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { findActorNames } from "../audit/actor-names.ts";
import { lastChange, lastChanges, recordAuditEvent } from "../audit/audit.store.ts";
import { chainOrganisation } from "../audit/chain/chaining.ts";
import { chainKey } from "../audit/chain/link.ts";
import { readChained, readEvents, readUnchainedIds } from "../audit/search/search.store.ts";
import { lockIfWithoutPassword, setProfile, setUserDisabled } from "./account.store.ts";
import { findInvitationMail } from "./invitations/invitations.store.ts";
import {
  deleteAccount,
  deleteGuestMembership,
  deletePendingMails,
  isAdministrator,
} from "./leaving/leaving.store.ts";
import { listActiveAdministrators } from "./members/administrators.store.ts";
import { setRole, updateSearchKey } from "./members/members.store.ts";
import { insertMembership } from "./users.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  /** In both organisations. */
  let id: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service, "Acme");
    other = await makeOrganisation(running.service, "Beta");
    id = org.user.id;
    const account = db().selectFrom("user_account").selectAll();
    const row = await account.where("org_id", "=", orgId()).where("id", "=", id).executeTakeFirstOrThrow();
    const twin = { email: "twin@beta.example", email_key: "twin@beta.example", username: null };
    await db()
      .insertInto("user_account")
      .values({ ...row, ...twin, org_id: beta() })
      .execute();
    await insertMembership(db(), { orgId: beta(), userId: id, homeOrgId: beta(), role: "Standard", now: 1 });
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;
  const beta = () => other.organisation.id;
  const key = () => ({ orgId: orgId(), id });
  const home = () => ({ homeOrgId: orgId(), id });

  /** Every account and member, but for the one. */
  async function others(): Promise<unknown[]> {
    const accounts = await db()
      .selectFrom("user_account")
      .selectAll()
      .orderBy("org_id")
      .orderBy("id")
      .execute();
    const members = await db()
      .selectFrom("membership")
      .selectAll()
      .orderBy("org_id")
      .orderBy("user_id")
      .execute();
    return [
      ...accounts.filter((row) => row.org_id !== orgId() || row.id !== id),
      ...members.filter((row) => row.org_id !== orgId() || row.user_id !== id),
    ];
  }

  test("changes one user of one organisation only", async () => {
    await withUser(running.service, org, "neighbour@acme.example");
    const before = await others();
    const profile = { firstname: "New", surname: "Name", phone: "+45 1", locale: "da", details: {} };
    assert.ok(await setProfile(db(), key(), profile, 5));
    assert.ok(await setRole(db(), { orgId: orgId(), userId: id }, "Administrator"));
    assert.ok(await setUserDisabled(db(), key(), 5, 5));
    assert.deepEqual(await others(), before);
    await updateSearchKey(db(), { homeOrgId: beta(), id });
    const keyAt = async (where: string) => {
      const members = db().selectFrom("membership").select("search_key").where("user_id", "=", id);
      return (await members.where("org_id", "=", where).executeTakeFirstOrThrow()).search_key ?? "";
    };
    assert.ok((await keyAt(orgId())).startsWith(`${org.user.email} new name`));
    assert.ok((await keyAt(beta())).startsWith("twin@beta.example"));
    assert.equal(await setUserDisabled(db(), key(), 6, 6), false, "it was so already");
    assert.ok(await setUserDisabled(db(), key(), null, 7));
    assert.equal(await setUserDisabled(db(), key(), null, 8), false);
  });

  test("counts administrators of this organisation with an active home organisation only", async () => {
    const { user } = await withUser(running.service, org, "second@acme.example");
    const member = { orgId: orgId(), userId: user.id };
    await setRole(db(), { orgId: beta(), userId: id }, "Standard");
    await setRole(db(), { orgId: orgId(), userId: id }, "Administrator");
    assert.equal(await isAdministrator(db(), { orgId: beta(), userId: id }), false);
    assert.equal(await isAdministrator(db(), { orgId: orgId(), userId: id }), true);
    assert.equal(await isAdministrator(db(), member), false);
    const guest = {
      orgId: beta(),
      userId: user.id,
      homeOrgId: orgId(),
      role: "Administrator",
      now: 1,
    } as const;
    await insertMembership(db(), guest);
    const others = async () =>
      (await listActiveAdministrators(db(), beta(), { limit: 9, except: id })).length > 0;
    assert.equal(await others(), true);
    const close = (at: number | null) =>
      db().updateTable("organisation").set({ disabled_at: at }).where("id", "=", orgId()).execute();
    await close(1);
    assert.equal(await others(), false);
    await close(null);
  });

  test("reads the newest invitation email of this organisation to this address", async () => {
    const times = { next_attempt_at: 0, give_up_at: 0, created_at: 0, last_error: null, attempts: 0 };
    const recipient = "ivy@acme.example";
    const put = (mail: { id: string; org_id?: string; recipient?: string; template?: string }) =>
      db()
        .insertInto("outgoing_mail")
        .values({
          ...times,
          ...{ org_id: orgId(), recipient, template: "AcceptInvitation", locale: "en", data: "{}" },
          ...{ sent_at: mail.id === "1" ? 1 : null, failed_at: null, ...mail },
        })
        .execute();
    const state = () => findInvitationMail(db(), { orgId: orgId(), recipient });
    assert.equal(await state(), undefined);
    await put({ id: "1" });
    await put({ id: "2", org_id: beta() });
    await put({ id: "3", recipient: "other@acme.example" });
    await put({ id: "4", template: "Welcome" });
    assert.equal(await state(), "sent");
    await put({ id: "5" });
    assert.equal(await state(), "waiting");
  });

  test("checks the password of this user only", async () => {
    const { user } = await withUser(running.service, org, "invited@acme.example");
    const take = (where: string, whose: string) =>
      db()
        .updateTable("user_account")
        .set({ password_hash: null })
        .where("org_id", "=", where)
        .where("id", "=", whose)
        .execute();
    await take(beta(), id);
    await take(orgId(), user.id);
    assert.equal(await lockIfWithoutPassword(db(), home()), false);
    const invited = { homeOrgId: orgId(), id: user.id };
    assert.equal(await lockIfWithoutPassword(db(), invited), true);
    await setUserDisabled(db(), { orgId: orgId(), id: user.id }, 5, 5);
    assert.equal(await lockIfWithoutPassword(db(), invited), false, "disabled");
  });

  test("reads events, names and last changes of one organisation only", async () => {
    const written = { action: "user.enabled", target: id, details: {} } as const;
    await recordAuditEvent(db(), { ...written, orgId: orgId(), actor: "operator", at: 9_000_000_000_000 });
    await recordAuditEvent(db(), { ...written, orgId: beta(), actor: "system", at: 9_000_000_000_001 });
    const elsewhere = { ...written, target: other.user.id, orgId: orgId(), actor: "agent:x" };
    await recordAuditEvent(db(), { ...elsewhere, at: 9_000_000_000_002 });
    const looked = { ...written, action: "sign-in.failed", orgId: orgId(), actor: "anonymous" } as const;
    await recordAuditEvent(db(), { ...looked, at: 9_000_000_000_003 });
    assert.equal((await lastChange(db(), orgId(), id))?.actor, "operator");
    assert.deepEqual(
      [...(await lastChanges(db(), orgId(), [id])).values()].map(({ actor }) => actor),
      ["operator"],
    );
    const named = async (...actors: string[]) => [...(await findActorNames(db(), orgId(), actors)).entries()];
    assert.deepEqual(await named(`user:${id}`), [[`user:${id}`, org.user.email]]);
    const { web } = org;
    assert.deepEqual(await named(`client:${web.application.id}`), [
      [`client:${web.application.id}`, web.application.name],
    ]);
    const theirs = [`user:${other.user.id}`, `client:${other.web.application.id}`];
    assert.deepEqual(await named(...theirs), []);

    const page = { after: 0, limit: 1_000 };
    const waiting = () => readUnchainedIds(db(), orgId(), { after: "", limit: page.limit });
    const read = async () => [
      ...(await readChained(db(), orgId(), page)),
      ...(await readEvents(db(), orgId(), await waiting())),
    ];
    const all = await read();
    assert.ok(all.length > 1);
    const chaining = { ...running.service, key: chainKey(Buffer.alloc(32)) };
    for (const organisation of [orgId(), beta()]) await chainOrganisation(chaining, organisation);
    const chained = await readChained(db(), orgId(), page);
    assert.equal(chained.length, all.length);
    assert.ok(chained.every((event) => event.orgId === orgId()));
    assert.deepEqual(await waiting(), []);
  });

  test("deletes unsent emails of one address and organisation, and of one template if given", async () => {
    const recipient = "waits@acme.example";
    const times = { next_attempt_at: 0, give_up_at: 0, created_at: 0, last_error: null, attempts: 0 };
    const text = { locale: "en", data: "{}", sent_at: null, failed_at: null };
    const mail = { ...times, ...text, org_id: orgId(), recipient, template: "ChangeEmail" };
    const mails = [
      { ...mail, id: "goes" },
      { ...mail, id: "goes when all go", template: "AcceptInvitation" },
      { ...mail, id: "of Beta", org_id: beta() },
      { ...mail, id: "to another", recipient: "waits@beta.example" },
      { ...mail, id: "was sent", sent_at: 1 },
      { ...mail, id: "was given up", failed_at: 1 },
    ];
    await db().insertInto("outgoing_mail").values(mails).execute();
    const left = async () => {
      const rows = await db().selectFrom("outgoing_mail").select("id").orderBy("id").execute();
      return rows.map((row) => row.id).filter((one) => mails.some((each) => each.id === one));
    };
    const stay = ["of Beta", "to another", "was given up", "was sent"];
    await deletePendingMails(db(), { orgId: orgId(), recipient, template: "ChangeEmail" });
    assert.deepEqual((await left()).sort(), ["goes when all go", ...stay].sort());
    await deletePendingMails(db(), { orgId: orgId(), recipient });
    assert.deepEqual((await left()).sort(), stay);
  });

  test("removes a guest from one organisation, and one of two accounts with the same id", async () => {
    const { user } = await withUser(running.service, org, "roams@acme.example");
    const third = await makeOrganisation(running.service, "Gamma");
    const guest = { userId: user.id, homeOrgId: orgId(), role: "Standard", now: 1 } as const;
    for (const where of [beta(), third.organisation.id])
      await insertMembership(db(), { ...guest, orgId: where });
    const visited = async () => {
      const members = db().selectFrom("membership").select("org_id").where("user_id", "=", user.id);
      return (await members.execute()).map((row) => row.org_id).sort();
    };
    assert.equal(await deleteGuestMembership(db(), { orgId: orgId(), userId: user.id }), false);
    assert.equal(await deleteGuestMembership(db(), { orgId: beta(), userId: user.id }), true);
    assert.deepEqual(await visited(), [orgId(), third.organisation.id].sort());
    const kept = await others();
    assert.equal(await deleteAccount(db(), { orgId: orgId(), userId: id }), true);
    assert.equal(await deleteAccount(db(), { orgId: orgId(), userId: id }), false);
    assert.deepEqual(await others(), kept);
  });
});
