// While a domain is enforced, the last break-glass administrator keeps a second factor, whoever would remove it and how.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../testing/fixtures/administered-organisation.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import { breakGlass, provenDomain, signInConnection } from "../../testing/fixtures/routed-domain.ts";
import { consoleBrowser } from "../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";
import { changeDomain } from "../domains/domains.ts";
import { removeTotp, resetFactors } from "../second-factors/changes.ts";
import { findFactorSummary } from "../second-factors/second-factors.store.ts";
import { LastBreakGlassAdministrator } from "../users/leaving/last-administrator.ts";
import { findUser } from "../users/users.store.ts";
import { createUser } from "../users/users.ts";
import { withdrawBreakGlass } from "./break-glass.ts";

const MESSAGE = "The organisation would have no break-glass administrator for its enforced domains.";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let api: ApiClient;
  let last: string;
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      env: MAIL_ENV,
    });
  });
  beforeEach(async () => {
    const { service } = running;
    org = await administeredOrganisation(service, "Acme");
    last = await breakGlass(service, org.organisation);
    api = await makeApiClient(service, org, ["signet:users:write", "signet:organisation:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const orgId = () => org.organisation.id;
  const enforce = async () => {
    const { id: connectionId } = await signInConnection(running.service, orgId());
    const { id } = await provenDomain(running.service, orgId(), { domain: "corp.example", connectionId });
    await changeDomain(running.service, { orgId: orgId(), actor: "test", id, change: { enforced: true } });
  };
  const changeOf = async (id: string) => {
    const user = await findUser(running.service.database.query, orgId(), id);
    assert.ok(user);
    return { organisation: org.organisation, user, actor: "test" };
  };
  const hasTotp = async (userId: string) =>
    (await findFactorSummary(running.service.database.query, { homeOrgId: orgId(), userId })).hasTotp;
  const reset = (id: string) => api.call("POST", `/users/${id}/reset-factors`);

  test("reset by API v1 is refused, and goes on once somebody else can come in past the connection", async () => {
    await enforce();
    const refused = await reset(last);
    assert.deepEqual(
      [refused.status, refused.body["type"], refused.body["detail"]],
      [409, "urn:signet:error:conflict", MESSAGE],
    );
    assert.ok(await hasTotp(last));
    const other = await breakGlass(running.service, org.organisation);
    assert.equal((await reset(last)).status, 200);
    assert.ok(!(await hasTotp(last)));
    assert.equal((await reset(last)).status, 200, "repeatable");
    assert.equal((await reset(other)).status, 409, "the first has no second factor any more");
    for (const act of ["disable", "reset-factors"])
      assert.equal((await api.call("POST", `/users/${other}/${act}`)).status, 409, act);
    assert.equal((await api.call("DELETE", `/users/${other}`)).status, 409);
    await assert.rejects(
      withdrawBreakGlass(running.service, { orgId: orgId(), actor: "test", userId: other }),
      { code: "last" },
    );
  });

  test("without an enforced domain, and of others, factors are reset", async () => {
    assert.equal((await reset(last)).status, 200);
    last = await breakGlass(running.service, org.organisation);
    await enforce();
    const { id } = org.administrator;
    assert.equal((await reset(id)).status, 200);
  });

  test("its owner removes it no more than an operator does", async () => {
    await enforce();
    for (const act of [removeTotp, resetFactors])
      await assert.rejects(act(running.service, await changeOf(last)), LastBreakGlassAdministrator);
    assert.ok(await hasTotp(last));
  });

  test("the console says why, and offers nobody of an enforced domain a link for a new password", async () => {
    const here = await consoleBrowser(running, org);
    const person = { organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test" };
    const id = await createUser(running.service, {
      ...{ ...person, email: "uma@corp.example", emailVerified: true, role: "Standard" },
      password: "plum tractor ninety",
    });
    assert.match((await here.get(`/users/${id}/security`)).body, /id="password-reset"/);
    await enforce();
    assert.doesNotMatch((await here.get(`/users/${id}/security`)).body, /id="password-reset"/);
    assert.equal((await here.get(`/users/${id}/password-reset`)).status, 404);
    const page = await here.send(`/users/${last}/reset-factors`);
    assert.match(page.body, /The last break-glass administrator keeps a second factor/);
    assert.ok(await hasTotp(last));
  });
});
