/** Calls that succeed of people and applications: OAuth, and the legacy API's sign-in, session keys and links of mails. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createAction } from "../../packages/server/src/core/actions/actions.ts";
import type { ActionType } from "../../packages/server/src/core/actions/user-action.ts";
import { authorizationRequest, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { codeSource } from "../../packages/server/src/testing/fakes/code-source.ts";
import { newestApiLink } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { makeCibaClient } from "../../packages/server/src/testing/fixtures/ciba.ts";
import { credentials, postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { makeDeviceApp } from "../../packages/server/src/testing/fixtures/device.ts";
import { makeSessionKey } from "../../packages/server/src/testing/fixtures/session-key.ts";
import { callApi, type TestAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import { tokensOf, withUser } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  REDIRECT_URI,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { grantApplication } from "./management-calls.ts";
import { bearer, type RealCalls } from "./real-calls.ts";
import { registrationCalls } from "./registration-calls.ts";

const NEW_PASSWORD = "walnut orbit seventeen";
const json = { headers: { Accept: "application/json" } };
const withPassword = { body: { NewPassword: NEW_PASSWORD } };

const newPerson = ({ service }: TestService, org: TestOrganisation) =>
  withUser(service, org, `real-${randomUUID()}@acme.example`);

export async function oauthCalls(running: TestService, org: TestOrganisation): Promise<RealCalls> {
  const { service } = running;
  const client = await makeClient(service, org.organisation, {
    grantTypes: ["client_credentials"],
    allowedScopes: ["jobs:run"],
  });
  const television = await makeDeviceApp(service, org);
  const form = { grant_type: "client_credentials", ...credentials(client) };
  const token = async () => {
    const { body } = await postForm(`${org.issuer}/token`, form);
    return { body: { token: String(body["access_token"]), ...credentials(client) } };
  };
  const names = ["roles", "groups", "permissions"] as const;
  const asking = await makeCibaClient(service, org);
  const portal = await makeClient(service, org.organisation, {
    redirectUris: [REDIRECT_URI],
    allowedScopes: ["openid", ...names],
  });
  const entitled = async () => {
    const source = codeSource(await newPerson(running, org));
    return bearer((await source.tokens({ scope: `openid ${names.join(" ")}` }, portal)).accessToken);
  };
  return {
    ...Object.fromEntries(names.map((name) => [`GET /oauth/{org}/userinfo/${name}`, entitled])),
    ...registrationCalls(running, org),
    "POST /oauth/{org}/token": async () => ({ body: form }),
    "POST /oauth/{org}/revoke": token,
    "POST /oauth/{org}/introspect": token,
    "POST /oauth/{org}/par": async () => ({
      body: {
        ...authorizationRequest(portal.application.id, REDIRECT_URI, { scope: "openid" }).parameters,
        ...credentials(portal),
      },
    }),
    "POST /oauth/{org}/bc-authorize": async () => ({
      body: {
        ...credentials(asking),
        scope: "openid",
        login_hint: (await newPerson(running, org)).user.email,
      },
    }),
    "POST /oauth/{org}/device": async () => ({ body: { client_id: television.id, scope: "openid" } }),
    "POST /oauth/{org}/user/consents/{id}/revoke": async () => {
      const { accessToken } = await tokensOf(testBrowser(), await newPerson(running, org));
      const answer = await fetch(`${org.issuer}/user/consents`, {
        headers: { ...json.headers, authorization: `Bearer ${accessToken}` },
      });
      const { items } = (await answer.json()) as { items: { id: string }[] };
      return { path: { id: items[0]?.id ?? "" }, ...bearer(accessToken) };
    },
  };
}

/** @param account signs the calls that schemathesis makes */
export async function signInCalls(
  running: TestService,
  org: TestOrganisation,
  account: TestAccount,
): Promise<RealCalls> {
  const { service } = running;
  const { application } = await makeClient(service, org.organisation, { allowPermanentKeys: true });
  await grantApplication(running, account, { id: account.id, applicationId: application.id });
  const elsewhere = await makeOrganisation(service, "Elsewhere");
  const email = async () => (await newPerson(running, org)).user.email;
  const login = async () => ({ body: { Email: await email(), Password: PASSWORD } });
  const key = async (of = org.web.application) =>
    makeSessionKey(service, await newPerson(running, org), { id: of.id });
  const inPath = async () => ({ path: { key: await key() } });
  const profile = async () => ({ path: { key: await key(), extendSetting: "true" } });
  const settings = { body: { Settings: { theme: "dark" } } };
  return {
    "POST /legacy/api/users/get": async () => ({ body: { email: await email() } }),
    "POST /legacy/api/Authentication/User/Login": login,
    "POST /legacy/api/Authentication/User/Login/{appId}": login,
    "POST /legacy/api/Authentication/User/Logout": async () => ({ body: { Key: await key() } }),
    "POST /legacy/api/Authentication/User/Logout/{everywhere}": async () => ({
      path: { everywhere: "everywhere" },
      body: { Key: await key() },
    }),
    "POST /legacy/api/Authentication/User/Roaming/Register": async () => ({
      body: { Email: elsewhere.user.email, HomeOrganisationId: elsewhere.organisation.id },
    }),
    // A key of its own: that of all other calls may have ended meanwhile.
    "GET /legacy/api/Authentication/Account/VerifyIdentity": async () => ({ sessionKey: await key() }),
    "GET /legacy/api/Authentication/Account/VerifyIdentity/{key}": inPath,
    "GET /legacy/api/User/Profile/{appId}/{key}": inPath,
    "PUT /legacy/api/User/Profile/{appId}/{key}": async () => ({ ...(await inPath()), ...settings }),
    "GET /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": profile,
    "PUT /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": async () => ({
      ...(await profile()),
      ...settings,
    }),
    "GET /legacy/api/auth/validate": async () => ({ sessionKey: await key() }),
    "GET /legacy/api/Keys/User/{key}": inPath,
    "POST /legacy/api/Keys/User/{key}/Convert/To/UserPerm": async () => ({
      path: { key: await key(application) },
    }),
  };
}

/** @param account registers people */
export function linkCalls(running: TestService, org: TestOrganisation, account: TestAccount): RealCalls {
  const { service, baseUrl } = running;
  const link = async (type: ActionType) => {
    const { user } = await newPerson(running, org);
    const { id } = await createAction(service.database.query, service, {
      orgId: org.organisation.id,
      userId: user.id,
      type,
      data: { email: user.email },
    });
    return { path: { id, key: id, type } };
  };
  /** Only the link of somebody who registers takes a password with the address. */
  const registration = async () => {
    const body = { Email: `new-${randomUUID()}@acme.example`, Firstname: "Nina", Surname: "New" };
    const url = `${baseUrl}/legacy/api/Authentication/User/Register`;
    const answer = await callApi(url, account, { body: { ...body, Password: NEW_PASSWORD } });
    assert.equal(answer.status, 202, answer.text);
    const address = await newestApiLink(service, body.Email);
    return { path: { key: address.slice(address.lastIndexOf("/") + 1) } };
  };
  const verified = async () => ({ ...json, ...(await link("VerifyEmail")) });
  return {
    "GET /legacy/api/Authentication/Action/{id}/{type}": verified,
    "POST /legacy/api/Authentication/Action/{id}/{type}": async () => ({
      ...(await link("ResetPassword")),
      ...withPassword,
    }),
    "GET /legacy/api/Authentication/Action/{id}/{type}/Requirement": () => link("ResetPassword"),
    "GET /legacy/api/Authentication/User/Register/Complete/{key}": verified,
    "POST /legacy/api/Authentication/User/Register/Complete/{key}": async () => ({
      ...(await registration()),
      ...withPassword,
    }),
  };
}
