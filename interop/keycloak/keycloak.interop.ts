/** Keycloak as identity provider, by OpenID Connect and by SAML, and as a client that brokers Signet's sign-ins. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../packages/server/src/core/audit/audit.store.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import {
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { type ApiClient, makeApiClient } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { refresh } from "../../packages/server/src/testing/fixtures/client.ts";
import {
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
} from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { type Keycloak, type KeycloakRealm, missingKeycloak, startKeycloak } from "./keycloak.ts";
import { type Credentials, goThrough } from "./sign-in.ts";

const skip = missingKeycloak();
const BYE = "https://app.example/bye";
/** A person for each protocol: of one address there is one account here. */
const people = {
  oidc: { username: "ada", password: "ada's own" },
  saml: { username: "uma", password: "uma's own" },
};
const user = ({ username, password }: Credentials, firstName: string) => ({
  ...{ username, enabled: true, email: `${username}@there.example`, emailVerified: true },
  ...{ firstName, lastName: "Byron", groups: ["/staff", "/others"] },
  credentials: [{ type: "password", value: password, temporary: false }],
});
const realmContent = {
  sslRequired: "none",
  groups: [{ name: "staff" }, { name: "others" }],
  users: [user(people.oidc, "Ada"), user(people.saml, "Uma")],
};

interface Connected {
  readonly id: string;
  readonly person: Credentials;
  readonly members: Readonly<Record<string, unknown>>;
}

describe("Keycloak", { skip, timeout: 15 * 60_000 }, () => {
  let keycloak: Keycloak;
  let realm: KeycloakRealm;
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  let groupId: string;
  /** Moved on where something is done once in thirty seconds: tolerances are a minute. */
  let aheadMs = 0;
  before(async () => {
    if (skip !== false) return;
    keycloak = await startKeycloak();
    realm = await keycloak.makeRealm(`realm-${randomUUID().slice(0, 8)}`, realmContent);
    running = await startTestService({
      databaseUrl: "sqlite::memory:",
      clock: () => Date.now() + aheadMs,
      env: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" },
    });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, [
      ...(["signet:connections:write", "signet:groups:write", "signet:users:read"] as const),
    ]);
    groupId = String((await call("POST", "/groups", { displayName: "Staff here" }))["id"]);
  });
  after(async () => {
    await running?.close();
    await keycloak?.stop();
    assert.deepEqual(running?.errors ?? [], []);
  });

  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await api.call(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, unknown>;
  };
  const connect = async (person: Credentials, body: object): Promise<Connected> => {
    const trusting = { enabled: true, emailTrust: "verifiedClaim", linking: "never" };
    const members = await call("POST", "/connections", { ...trusting, ...body });
    return { id: String(members["id"]), person, members };
  };
  /** A page of Signet's, or the way back to the application. */
  const isHere = ({ location, url }: TestPage) =>
    location === undefined ? url.startsWith(running.baseUrl) : location.startsWith(REDIRECT_URI);
  const signIn = async ({ id, person }: Connected, browser: TestBrowser = testBrowser()) => {
    const offered = await visit(browser, org);
    const [link = ""] = new RegExp(`/oauth/[^"]*/connections/${id}/start[^"]*`).exec(offered.body) ?? [];
    assert.notEqual(link, "", offered.body);
    const sent = await browser.get(running.baseUrl + link.replaceAll("&amp;", "&"));
    const page = await goThrough(browser, sent, person, isHere);
    assert.ok(showsConsent(page) || page.location !== undefined, `${page.status} ${page.url} ${page.body}`);
    return { browser, hasAsked: page.hasAsked };
  };
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await visit(browser, org));
  const accountOf = async (of: Connected) => {
    const { items } = (await call("GET", "/users?limit=100")) as { items: Array<Record<string, unknown>> };
    return items.filter(({ identities }) =>
      (identities as Array<{ connectionId: string }>).some(({ connectionId }) => connectionId === of.id),
    );
  };
  const membersOf = async () =>
    ((await call("GET", `/groups/${groupId}/members`)) as { items: Array<Record<string, unknown>> }).items;
  const signOutHere = async ({ person }: Connected, browser: TestBrowser) => {
    const { idToken } = await tokensOf(browser, org);
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s" };
    const sent = await browser.get(`${org.issuer}/end_session?${new URLSearchParams(asked)}`);
    assert.ok(sent.location?.startsWith(realm.issuer), `to Keycloak: ${sent.location}`);
    const page = await goThrough(browser, sent, person, ({ location }) => location?.startsWith(BYE) === true);
    assert.equal(page.location, `${BYE}?state=s`);
    assert.equal(page.hasAsked, false);
  };
  const rotate = () =>
    realm.admin("POST", "/components", {
      ...{
        name: `rsa-${randomUUID()}`,
        providerId: "rsa-generated",
        providerType: "org.keycloak.keys.KeyProvider",
      },
      config: {
        priority: [String(Date.now())],
        enabled: ["true"],
        active: ["true"],
        algorithm: ["RS256"],
        keySize: ["2048"],
      },
    });
  const keysChanged = async (of: Connected) => {
    return (await listAuditEvents(running.service.database.query, org.organisation.id, 200)).filter(
      ({ action, target }) => action === "connection.keys-changed" && target === of.id,
    ).length;
  };

  const kinds: ReadonlyArray<readonly [string, () => Promise<Connected>]> = [
    ["OpenID Connect", connectOidc],
    ["SAML", connectSaml],
  ];
  for (const [kind, connectKind] of kinds)
    describe(`by ${kind}`, () => {
      let connected: Connected;
      before(async () => {
        if (skip === false) connected = await connectKind();
      });

      test("a test sign-in says what would happen, and makes nothing", async () => {
        const begun = await call("POST", `/connections/${connected.id}/test`, {});
        const browser = testBrowser();
        const page = await goThrough(
          browser,
          await browser.get(String(begun["url"])),
          connected.person,
          isHere,
        );
        assert.match(page.body, /id="connection-test-close"/);
        const told = await call("GET", `/connections/${connected.id}/tests/${String(begun["id"])}`);
        assert.deepEqual([told["state"], told["reason"]], ["succeeded", null]);
        assert.equal((told["account"] as { action: string }).action, "create");
        assert.deepEqual((told["mapped"] as { groups: string[] }).groups, [groupId]);
        assert.deepEqual(await accountOf(connected), []);
      });

      test("the first sign-in makes the account with its groups, the second one finds it", async () => {
        await signIn(connected);
        const [account, ...others] = await accountOf(connected);
        assert.deepEqual(others, []);
        assert.deepEqual(
          [account?.["email"], account?.["firstname"], account?.["surname"]],
          [`${connected.person.username}@there.example`, kind === "SAML" ? "Uma" : "Ada", "Byron"],
        );
        assert.ok((await membersOf()).some(({ id }) => id === account?.["id"]));
        const { hasAsked } = await signIn(connected);
        assert.equal(hasAsked, true);
        assert.deepEqual(
          (await accountOf(connected)).map(({ id }) => id),
          [account?.["id"]],
        );
      });

      test("who signs out here is signed out there, and comes back to the application", async () => {
        const { browser } = await signIn(connected);
        await signOutHere(connected, browser);
        assert.equal(await isSignedIn(browser), false);
        assert.equal((await signIn(connected, browser)).hasAsked, true, "Keycloak asks again");
      });

      test("who is signed out there has no session here, and no refresh token", async () => {
        const { browser } = await signIn(connected);
        const { refreshToken } = await tokensOf(browser, org, { scope: "openid offline_access" });
        assert.equal(await isSignedIn(browser), true);
        const at = `/users?exact=true&username=${connected.person.username}`;
        const [there] = (await realm.admin("GET", at)) as Array<{ id: string }>;
        // One by one: of several that end with their user, Keycloak tells a client of the first alone.
        for (const { id } of (await realm.admin("GET", `/users/${there?.id}/sessions`)) as Array<{
          id: string;
        }>)
          await realm.admin("DELETE", `/sessions/${id}`);
        await eventually("the session ends", async () => !(await isSignedIn(browser)));
        assert.equal((await refresh(org, refreshToken)).status, 400);
      });

      test("new keys of Keycloak's are followed, and told", async () => {
        const before = await keysChanged(connected);
        await rotate();
        aheadMs += 30_000;
        await signIn(connected);
        assert.equal(await keysChanged(connected), before + 1);
      });
    });

  async function connectOidc(): Promise<Connected> {
    const [clientId, clientSecret] = ["signet", randomUUID()];
    const connected = await connect(people.oidc, {
      ...{ kind: "oidc", name: "Keycloak by OpenID Connect", preset: "keycloak" },
      oidc: { issuer: realm.issuer, clientId, clientSecret },
      mapping: { groups: { from: "groups", map: { staff: groupId } } },
    });
    const { callbackUri, backchannelLogoutUri, postLogoutRedirectUri } = connected.members;
    await realm.admin("POST", "/clients", {
      ...{ clientId, secret: clientSecret, protocol: "openid-connect", publicClient: false },
      ...{ redirectUris: [callbackUri], frontchannelLogout: false },
      attributes: {
        "backchannel.logout.url": backchannelLogoutUri,
        "backchannel.logout.session.required": "true",
        "post.logout.redirect.uris": postLogoutRedirectUri,
        "pkce.code.challenge.method": "S256",
      },
      protocolMappers: [
        groupsMapper("openid-connect", "oidc-group-membership-mapper", {
          ...{ "claim.name": "groups", "id.token.claim": "true", "userinfo.token.claim": "true" },
        }),
      ],
    });
    return connected;
  }

  /** By what each publishes about itself: nothing is typed but two addresses. */
  async function connectSaml(): Promise<Connected> {
    const connected = await connect(people.saml, {
      ...{ kind: "saml", name: "Keycloak by SAML", preset: "keycloak" },
      saml: { metadataUrl: realm.samlMetadataUrl },
      mapping: { emailVerified: "=true", groups: { from: "groups", map: { staff: groupId } } },
    });
    const metadata = await (await fetch(String(connected.members["spEntityId"]))).text();
    const described = (await realm.admin("POST", "/client-description-converter", metadata)) as {
      attributes: Record<string, string>;
    };
    const attribute = (name: string, as: string) => ({
      ...{ name: as, protocol: "saml", protocolMapper: "saml-user-property-mapper" },
      config: { "user.attribute": name, "attribute.name": as, "attribute.nameformat": "Basic" },
    });
    await realm.admin("POST", "/clients", {
      ...described,
      attributes: {
        ...described.attributes,
        saml_name_id_format: "persistent",
        saml_force_name_id_format: "true",
      },
      frontchannelLogout: false,
      protocolMappers: [
        ...[
          attribute("email", "email"),
          attribute("firstName", "givenName"),
          attribute("lastName", "surname"),
        ],
        groupsMapper("saml", "saml-group-membership-mapper", { "attribute.name": "groups", single: "true" }),
      ],
    });
    return connected;
  }
});

const groupsMapper = (protocol: string, protocolMapper: string, config: Record<string, string>) => ({
  ...{ name: "groups", protocol, protocolMapper },
  config: { "full.path": "false", ...config },
});
