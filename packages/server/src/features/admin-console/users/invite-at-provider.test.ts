// A user is invited to accept at an identity provider: one of the organisation's own that signs people in.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeConnection } from "../../../core/connections/connections.ts";
import { createSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { findInvitationOfUser } from "../../../core/users/invitations/invitation-records.store.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const oidc = {
  issuer: "https://keycloak.example",
  clientId: "signet",
  tokenEndpointAuthMethod: "none",
} as const;
const person = { firstname: "Fed", surname: "Erated", role: "Standard" };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let other: AdministeredOrganisation;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
    other = await administeredOrganisation(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const connect = ({ organisation }: AdministeredOrganisation, name: string, enabled: boolean) =>
    createSignInConnection(running.service, {
      ...{ orgId: organisation.id, actor: "operator" },
      asked: { kind: "oidc", name, enabled, settings: { oidc }, clientSecret: undefined },
    });

  test("which the form offers once there is one, and the invitation is accepted there", async () => {
    assert.doesNotMatch((await here.get("/users/new")).body, /id="connectionId"/);
    const { id: connectionId } = await connect(org, "Keycloak", true);
    assert.match((await here.get("/users/new")).body, new RegExp(`<option value="${connectionId}">Keycloak`));
    const email = "fed@acme.example";
    assert.equal((await here.send("/users/new", { ...person, email, connectionId })).status, 303);
    const userId = (await findUserByEmail(db(), org.organisation.id, email))?.user.id ?? "";
    const invitation = await findInvitationOfUser(db(), { orgId: org.organisation.id, userId });
    assert.equal(invitation?.connectionId, connectionId);
  });

  test("and not another organisation's, nor one that is disabled", async () => {
    const { id: theirs } = await connect(other, "Keycloak", true);
    const { id: disabled } = await connect(org, "Okta", true);
    const change = { enabled: false };
    await changeConnection(running.service, {
      orgId: org.organisation.id,
      actor: "operator",
      id: disabled,
      change,
    });
    for (const connectionId of [theirs, disabled, "nonsense"]) {
      const refused = await here.send("/users/new", { ...person, email: "eve@acme.example", connectionId });
      assert.equal(refused.status, 400);
      assert.match(refused.body, /id="connectionId-fault"/);
    }
    assert.equal(await findUserByEmail(db(), org.organisation.id, "eve@acme.example"), undefined);
  });
});
