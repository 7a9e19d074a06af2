import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  giveAuthenticator,
  givePasskey,
  giveRecoveryCodes,
  ownerIn,
} from "../../testing/fixtures/factors.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { findOrganisation } from "../organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../organisations/organisations.ts";
import { findUser } from "../users/users.store.ts";
import {
  addPasskey,
  confirmTotp,
  type FactorChange,
  LastFactor,
  LastPasskey,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
  resetFactors,
} from "./changes.ts";
import { listPasskeys } from "./passkeys/passkeys.store.ts";
import { MAX_PASSKEYS } from "./passkeys/passkeys.ts";
import { findFactorSummary } from "./second-factors.store.ts";
import { newTotpSecret } from "./totp/totp.ts";
import { listTrustedBrowsers, trustBrowser } from "./trusted-browsers/trusted-browsers.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let change: FactorChange;
  let count = 0;
  before(async () => {
    // Nobody listens there: what is looked at is what waits to be sent.
    const env = { SMTP_URL: "smtp://127.0.0.1:9", SIGNET_MAIL_FROM: "no-reply@id.example" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    change = await changeIn("optional");
  });

  async function changeIn(secondFactor: "optional" | "required"): Promise<FactorChange> {
    const { service } = running;
    const orgId = org.organisation.id;
    await changeOrganisationSettings(service, { orgId, settings: { secondFactor }, actor: "test" });
    const organisation = await findOrganisation(service.database.query, orgId);
    const user = await findUser(service.database.query, orgId, org.user.id);
    assert.ok(organisation && user);
    return { organisation, user, actor: "test" };
  }
  const summary = () => findFactorSummary(running.service.database.query, ownerIn(org));
  const devices = () =>
    listTrustedBrowsers(running.service.database.query, change.user, running.service.clock());
  const remember = () =>
    trustBrowser(running.service.database.query, change.user, {
      address: "127.0.0.1",
      userAgent: "x",
      now: running.service.clock(),
    });

  test("removing the last factor removes recovery codes and trusted browsers", async () => {
    await giveAuthenticator(running.service, org);
    await giveRecoveryCodes(running.service, org);
    await givePasskey(running.service, org);
    await remember();
    assert.equal(await removeTotp(running.service, change), true);
    assert.equal((await summary()).recoveryCodes, 10);
    assert.equal((await devices()).length, 1);
    const [passkey] = await listPasskeys(running.service.database.query, ownerIn(org));
    assert.equal(await removePasskey(running.service, change, passkey?.id ?? ""), true);
    assert.deepEqual(await summary(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
    assert.deepEqual(await devices(), []);
    assert.equal(await removeTotp(running.service, change), false);
  });

  test("a required last factor can't be removed, also concurrently", async () => {
    change = await changeIn("required");
    await giveAuthenticator(running.service, org);
    await giveRecoveryCodes(running.service, org);
    const passkey = await givePasskey(running.service, org);
    const outcomes = await Promise.allSettled([
      removeTotp(running.service, change),
      removePasskey(running.service, change, passkey.id),
    ]);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    assert.equal(refused.length, 1);
    assert.ok(refused[0]?.reason instanceof LastFactor);
    const { hasTotp, passkeys, recoveryCodes } = await summary();
    assert.equal(Number(hasTotp) + passkeys, 1);
    assert.equal(recoveryCodes, 10);
  });

  test("the last passkey stays where only passkeys sign in, whatever the policy was when its removal began", async () => {
    const { service } = running;
    const [first, second] = [await givePasskey(service, org), await givePasskey(service, org)];
    await giveAuthenticator(service, org);
    const orgId = org.organisation.id;
    // `change` has read the policy before.
    const settings = { signInMethods: ["passkey"] } as const;
    await changeOrganisationSettings(service, { orgId, settings, actor: "test" });
    const removals = await Promise.allSettled(
      [first, second].map(({ id }) => removePasskey(service, change, id)),
    );
    const refused = removals.filter((removal) => removal.status === "rejected");
    assert.equal(refused.length, 1);
    assert.ok(refused[0]?.reason instanceof LastPasskey);
    assert.equal((await summary()).passkeys, 1);
    assert.equal(await removeTotp(service, change), true, "another factor is no passkey");
    await changeOrganisationSettings(service, {
      orgId,
      settings: { signInMethods: ["password", "passkey"] },
      actor: "test",
    });
  });

  test("an account has at most twenty passkeys, also when two are added concurrently", async () => {
    const { service } = running;
    const made = await givePasskey(service, org);
    const [first] = await listPasskeys(service.database.query, ownerIn(org));
    assert.ok(first && first.id === made.id);
    const add = (name: string) =>
      service.database.transaction((tx) =>
        addPasskey(service, tx, change, { ...first, id: `${count}-${name}` }),
      );
    for (let more = 1; more < MAX_PASSKEYS - 1; more++) assert.ok(await add(`${more}`));
    const both = await Promise.all([add("one"), add("other")]);
    assert.equal(both.filter((codes) => codes === undefined).length, 1);
    assert.equal((await summary()).passkeys, MAX_PASSKEYS);
  });

  test("another user's passkey can't be removed", async () => {
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    const passkey = await givePasskey(running.service, otto);
    assert.equal(await removePasskey(running.service, change, passkey.id), false);
    assert.equal((await listPasskeys(running.service.database.query, ownerIn(otto))).length, 1);
  });

  test("the user is notified of every added and removed factor", async () => {
    const { service } = running;
    const templates = async () =>
      (
        await service.database.query
          .selectFrom("outgoing_mail")
          .select("template")
          .where("recipient", "=", org.user.email)
          .execute()
      )
        .map(({ template }) => template)
        .sort();
    const added = { secret: await newTotpSecret(), step: 1 };
    const codes = await service.database.transaction((tx) => confirmTotp(service, tx, change, added));
    assert.equal(codes?.length, 10);
    assert.deepEqual(await templates(), ["FactorAdded"]);
    await renewRecoveryCodes(service, change);
    await removeTotp(service, change);
    await giveAuthenticator(service, org);
    await givePasskey(service, org);
    await resetFactors(service, change);
    assert.deepEqual(await templates(), [
      "FactorAdded",
      "FactorAdded",
      "FactorRemoved",
      "FactorRemoved",
      "FactorRemoved",
    ]);
  });

  test("a reset removes every factor despite the organisation's policy, and is audited", async () => {
    change = await changeIn("required");
    await giveAuthenticator(running.service, org);
    await givePasskey(running.service, org);
    await giveRecoveryCodes(running.service, org);
    await remember();
    await resetFactors(running.service, change);
    assert.deepEqual(await summary(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
    assert.deepEqual(await devices(), []);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.target],
      ["second-factors.reset", "test", org.user.id],
    );
  });
});
