// An enforced domain closes recovery, by page, by the legacy API and by API v1, and the links too that were sent before.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeDomain } from "../../../core/domains/domains.ts";
import { findSignInAccount, findUserByEmail } from "../../../core/users/users.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { breakGlass, provenDomain, signInConnection } from "../../../testing/fixtures/routed-domain.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import { follow } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let connectionId: string;
  let api: TestAccount;
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      env: MAIL_ENV,
    });
    const { service } = running;
    org = await makeOrganisation(service);
    const orgId = org.organisation.id;
    connectionId = (await signInConnection(service, orgId)).id;
    await breakGlass(service, org.organisation);
    api = await makeSystemAccount(service, org);
    const domain = org.user.email.split("@").at(-1) ?? "";
    await enforce((await provenDomain(service, orgId, { domain, connectionId })).id);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const enforce = (id: string, enforced = true) =>
    changeDomain(running.service, {
      ...{ orgId: org.organisation.id, actor: "test", id, change: { enforced } },
    });
  const make = (email: string) =>
    createUser(running.service, {
      ...{ organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test", email },
      ...{ emailVerified: true, password: PASSWORD, role: "Standard" },
    });
  const inDomain = (name: string) => org.user.email.replace(/^[^@]*/, name);
  const passwordOf = async (email: string) =>
    (await findSignInAccount(running.service.database.query, org.organisation.id, email))?.passwordHash;
  const told = async (email: string) =>
    (await mailsTo(running.service, email)).map(({ mail }) => mail.template);

  test("User/{email}/PasswordReset mails nobody of the domain, and answers as for others", async () => {
    await make("resets@elsewhere.example");
    const reset = (email: string) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/${email}/PasswordReset`, api, { body: {} });
    const answers = await Promise.all(
      [org.user.email, inDomain("nobody"), "resets@elsewhere.example"].map(reset),
    );
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body]),
      answers.map(() => [202, answers[0]?.body]),
    );
    assert.deepEqual(await told(org.user.email), []);
    assert.deepEqual(await told("resets@elsewhere.example"), ["ResetPassword"]);
  });

  test("a link that was sent before the domain was enforced sets no password, by page and by API, and makes no account", async () => {
    const { service, baseUrl } = running;
    const orgId = org.organisation.id;
    const { id } = await provenDomain(service, orgId, {
      domain: "later.example",
      connectionId,
    });
    const emails = ["page@later.example", "api@later.example"] as const;
    const legacy = `${baseUrl}/legacy/api/Authentication`;
    for (const email of emails) {
      await make(email);
      await callApi(`${legacy}/User/${email}/PasswordReset`, api, { body: {} });
    }
    const person = { Password: "amber kettle forty", Firstname: "Nina", Surname: "New" };
    await callApi(`${legacy}/User/Register`, api, { body: { Email: "new@later.example", ...person } });
    const linkTo = async (email: string) => {
      const mail = (await mailsTo(service, email)).at(-1)?.mail;
      return mail?.template === "ResetPassword" || mail?.template === "VerifyEmail" ? mail.data.link : "";
    };
    const browser = testBrowser();
    const page = await follow(browser, await browser.get(await linkTo(emails[0])));
    assert.match(page.body, /name="password"/);
    await enforce(id);
    const before = await Promise.all(emails.map(passwordOf));

    const path = `${org.issuer}/recovery/${(await linkTo(emails[0])).split("/").at(-1)}`;
    const password = "plum tractor ninety";
    assert.equal((await browser.post(path, { ...page.hidden, password })).status, 404);
    assert.equal((await browser.get(path)).status, 404);
    for (const [email, type] of [
      [emails[1], "ResetPassword"],
      ["new@later.example", "VerifyEmail"],
    ] as const) {
      const key = (await linkTo(email)).split("/").at(-1);
      const body = { NewPassword: password };
      assert.equal((await callApi(`${legacy}/Action/${key}/${type}`, api, { body })).status, 404, email);
    }
    assert.equal(await findUserByEmail(service.database.query, orgId, "new@later.example"), undefined);
    assert.deepEqual(await Promise.all(emails.map(passwordOf)), before);
  });

  test("an administrator sets a password, and sends nobody of the domain a link that would set none", async () => {
    const client = await makeApiClient(running.service, org, ["signet:users:write"]);
    const email = inDomain("by-api");
    const path = `/users/${await make(email)}/reset-password`;
    const refused = await client.call("POST", path, { body: {} });
    assert.deepEqual([refused.status, refused.body["type"]], [409, "urn:signet:error:conflict"]);
    assert.deepEqual(await told(email), []);
    const set = await client.call("POST", path, { body: { password: "plum tractor ninety" } });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    const other = await make("by-api@elsewhere.example");
    assert.equal((await client.call("POST", `/users/${other}/reset-password`, { body: {} })).status, 200);
    assert.deepEqual(await told("by-api@elsewhere.example"), ["ResetPassword"]);
  });
});
