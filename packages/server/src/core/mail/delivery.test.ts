import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { countFailedMails } from "../../features/admin-console/overview/overview.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { setOrganisationStatus } from "../organisations/organisations.ts";
import { deliverDueMails, type MailLine, startMailDelivery } from "./delivery.ts";
import { findReadableMail, listReadableMails } from "./mail.store.ts";
import type { Mail } from "./mail.ts";
import { outbox } from "./outbox.ts";
import { type DeliverableMail, MailFailure, type MailTransport } from "./transport.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LINK = "https://id.example/oauth/1/recovery/sgn_ua_the-secret";

/** A transport that a test lets fail. */
function testTransport() {
  const sent: DeliverableMail[] = [];
  const state = { failure: undefined as MailFailure | undefined };
  const transport: MailTransport = {
    kind: "smtp",
    send: async (mail) => {
      if (state.failure) throw state.failure;
      sent.push(mail);
    },
    close: () => {},
  };
  return { sent, state, transport };
}

describe("email delivery", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(running.service);
    });
    after(() => running.close());

    /** One node: a transport of its own, the same database. */
    function node() {
      const { sent, state, transport } = testTransport();
      const lines: MailLine[] = [];
      const { database, encryption } = running.service;
      const box = outbox({ encryption, clock, isOpen: true });
      const compose = async () => ({ senderName: "Acme", locale: "en", subject: "s", text: "t", html: "h" });
      const deps = {
        database,
        clock,
        encryption,
        compose,
        transport,
        note: (line: MailLine) => lines.push(line),
      };
      const put = (mail: Mail = notice(), more: { isDecoy?: boolean } = {}) =>
        database.transaction((tx) =>
          box.put(tx, { orgId: org.organisation.id, recipient: org.user.email, locale: "en", mail, ...more }),
        );
      return { deps, sent, state, lines, put, round: () => deliverDueMails(deps) };
    }
    const notice = (): Mail => ({ template: "NewSignIn", data: { at: clock(), address: "192.0.2.1" } });
    const reset = (): Mail => ({
      template: "ResetPassword",
      data: { link: LINK, expiresAt: clock() + 60 * MINUTE },
    });
    const rows = () => running.service.database.query.selectFrom("outgoing_mail").selectAll().execute();
    const lastRow = async () => (await rows()).sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1);

    test("sends an email once and erases its content", async () => {
      const { put, round, sent, lines } = node();
      await put();
      assert.equal(await round(), 1);
      assert.equal(await round(), 0);
      assert.deepEqual(
        sent.map(({ recipient, template }) => [recipient, template]),
        [[org.user.email, "NewSignIn"]],
      );
      assert.deepEqual(lines, [{ template: "NewSignIn", attempts: 1, outcome: "sent" }]);
      const row = await lastRow();
      assert.equal(row?.data, "");
      assert.equal(row?.sent_at, clock());
    });

    test("an email of a transaction that takes long is sent after it, and without an error", async () => {
      const { deps, sent } = node();
      const box = outbox({ ...deps, isOpen: true });
      const errors: unknown[] = [];
      const stop = startMailDelivery({ ...deps, outbox: box, onError: (error) => errors.push(error) });
      await deps.database.transaction(async (tx) => {
        const recipient = org.user.email;
        await box.put(tx, { orgId: org.organisation.id, recipient, locale: "en", mail: notice() });
        // Longer than the delivery waits before it looks.
        await new Promise((resolve) => setTimeout(resolve, 300));
        assert.deepEqual([errors, sent], [[], []]);
      });
      await eventually("it is sent", () => sent.length === 1);
      await stop();
      assert.deepEqual(errors, []);
    });

    test("a rolled-back transaction leaves no email", async () => {
      const { deps, round, sent } = node();
      const box = outbox({ ...deps, isOpen: true });
      const act = deps.database.transaction(async (tx) => {
        await box.put(tx, {
          orgId: org.organisation.id,
          recipient: "a@b.example",
          locale: "en",
          mail: notice(),
        });
        throw new Error("the act failed");
      });
      await assert.rejects(act, /the act failed/);
      await round();
      assert.deepEqual(sent, []);
    });

    test("stores links encrypted", async () => {
      const { put, round } = node();
      await put(reset());
      assert.doesNotMatch(JSON.stringify(await lastRow()), /sgn_ua|recovery|id\.example/);
      await round();
    });

    test("several nodes share the work and send each email once", async () => {
      const [one, two] = [node(), node()];
      for (let count = 0; count < 12; count += 1) await one.put();
      await eventually("every email is sent", async () => {
        await Promise.all([one.round(), two.round(), one.round(), two.round()]);
        const unsent = await one.deps.database.query
          .selectFrom("outgoing_mail")
          .select("id")
          .where("sent_at", "is", null)
          .where("failed_at", "is", null)
          .execute();
        return unsent.length === 0;
      });
      const ids = [...one.sent, ...two.sent].map(({ id }) => id);
      assert.equal(ids.length, 12);
      assert.equal(new Set(ids).size, 12);
    });

    test("retries failed emails with increasing delays", async () => {
      const { put, round, sent, state, lines } = node();
      state.failure = new MailFailure("ECONNECTION CONN");
      await put();
      for (const wait of [10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE]) {
        assert.equal(await round(), 1);
        clock.advance(wait - 1);
        assert.equal(await round(), 0, `waits ${wait} ms`);
        clock.advance(1);
      }
      state.failure = undefined;
      assert.equal(await round(), 1);
      assert.equal(sent.length, 1);
      assert.equal(sent[0]?.id, (await lastRow())?.id);
      assert.deepEqual(lines.at(-1), { template: "NewSignIn", attempts: 6, outcome: "sent" });
      assert.deepEqual(lines.at(0), {
        template: "NewSignIn",
        attempts: 1,
        outcome: "will be tried again",
        reason: "ECONNECTION CONN",
      });
    });

    test("gives an email up after a day, and audits it", async () => {
      const { put, round, state, lines, sent } = node();
      const began = clock();
      state.failure = new MailFailure("ETIMEDOUT CONN");
      await put();
      while (lines.at(-1)?.outcome !== "given up") {
        await round();
        clock.advance(MINUTE);
        assert.ok(clock() < began + DAY + 2 * MINUTE, "it is given up");
      }
      assert.ok(clock() > began + DAY - 61 * MINUTE, "not before");
      state.failure = undefined;
      clock.advance(DAY);
      assert.equal(await round(), 0);
      assert.deepEqual(sent, []);
      const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
      assert.equal(event?.action, "mail.failed");
      assert.equal(event?.details?.["reason"], "ETIMEDOUT CONN");
      assert.doesNotMatch(JSON.stringify(event), /user@acme/);
    });

    test("doesn't send an expired link", async () => {
      const { put, round, lines, sent } = node();
      await put(reset());
      clock.advance(60 * MINUTE);
      await round();
      assert.deepEqual(sent, []);
      assert.equal(lines.at(-1)?.outcome, "given up");
    });

    test("doesn't retry a permanent failure", async () => {
      const { put, round, state, lines } = node();
      state.failure = new MailFailure("EENVELOPE RCPT TO 550", true);
      await put();
      await round();
      assert.equal(lines.at(-1)?.outcome, "given up");
      clock.advance(DAY / 2);
      assert.equal(await round(), 0);
    });

    test("another node sends the emails of a node that died", async () => {
      const [dying, living] = [node(), node()];
      await dying.put();
      const never: MailTransport = { ...dying.deps.transport, send: () => new Promise(() => {}) };
      void deliverDueMails({ ...dying.deps, transport: never });
      await eventually("the dying node has taken the email", async () => (await lastRow())?.attempts === 1);
      assert.equal(await living.round(), 0, "it is the other's for now");
      clock.advance(5 * MINUTE);
      assert.equal(await living.round(), 1);
      assert.equal(living.sent.length, 1);
    });

    test("a decoy is never sent and leaves no failure in counts, audit log, mailbox or log lines", async () => {
      const { put, round, sent, lines, deps } = node();
      const db = deps.database.query;
      const orgId = org.organisation.id;
      const [newest] = await listAuditEvents(db, orgId, 1);
      const failed = () => countFailedMails(db, orgId, { since: 0, limit: 100 });
      const before = await failed();
      await put(reset(), { isDecoy: true });
      assert.equal(await round(), 0);
      assert.deepEqual([sent, lines], [[], []]);
      const decoy = await lastRow();
      assert.deepEqual([decoy?.recipient, decoy?.failed_at, decoy?.last_error], ["", null, null]);
      assert.equal(await failed(), before);
      assert.ok(!(await listReadableMails(db, 100)).some(({ id }) => id === decoy?.id));
      assert.equal(await findReadableMail(db, decoy?.id ?? ""), undefined);
      assert.deepEqual((await listAuditEvents(db, orgId, 1))[0], newest);
    });

    test("an invitation that can't reach another organisation's user fails without a trace for the inviter", async () => {
      const { put, round, state, lines, deps } = node();
      const db = deps.database.query;
      const orgId = org.organisation.id;
      const [newest] = await listAuditEvents(db, orgId, 1);
      const before = await countFailedMails(db, orgId, { since: 0, limit: 100 });
      state.failure = new MailFailure("EENVELOPE RCPT TO 550", true);
      const roaming: Mail = {
        template: "AcceptRoaming",
        data: { link: LINK, expiresAt: clock() + 60 * MINUTE },
      };
      await put(roaming);
      await round();
      assert.equal(lines.at(-1)?.outcome, "given up");
      assert.equal(await countFailedMails(db, orgId, { since: 0, limit: 100 }), before);
      assert.deepEqual((await listAuditEvents(db, orgId, 1))[0], newest);
    });

    test("an email moved to another row doesn't decrypt", async () => {
      const { put, round, lines, sent, deps } = node();
      await put();
      const row = await lastRow();
      await deps.database.query
        .updateTable("outgoing_mail")
        .set({ id: "00000000-0000-7000-8000-000000000000" })
        .where("id", "=", row?.id ?? "")
        .execute();
      await round();
      assert.deepEqual(sent, []);
      assert.equal(lines.at(-1)?.reason, "it can't be decrypted with this master key");
    });

    test("a disabled organisation sends nothing", async () => {
      const { put, round, lines, sent, deps } = node();
      await put();
      await setOrganisationStatus(running.service, {
        orgId: org.organisation.id,
        disabled: true,
        actor: "test",
      });
      const compose = async ({ orgId }: { orgId: string }) =>
        (await running.service.organisations.find(orgId)) && {
          senderName: "",
          locale: "en",
          subject: "",
          text: "",
          html: "",
        };
      await deliverDueMails({ ...deps, compose });
      await round();
      assert.deepEqual(sent, []);
      assert.equal(lines.at(-1)?.reason, "the organisation is disabled or deleted");
      await setOrganisationStatus(running.service, {
        orgId: org.organisation.id,
        disabled: false,
        actor: "test",
      });
    });

    test("rejects emails without SMTP", async () => {
      const closed = outbox({ ...node().deps, isOpen: false });
      const mail = { orgId: org.organisation.id, recipient: "a@b.example", locale: "en", mail: notice() };
      await assert.rejects(closed.put(running.service.database.query, mail), /email is not configured/);
    });
  });
});
