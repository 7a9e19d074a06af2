import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { principalOfClaims, principalOfLegacyUser, principalOfSystemAccount } from "./principal.ts";
import { ORGANISATION_ID } from "./testing/configurations.ts";
import { CLIENT_ID, ISSUER, PERM_ID } from "./testing/test-provider.ts";

describe("the principal", () => {
  it("has the specification's user properties from standard claims", () => {
    const claims = {
      sub: PERM_ID,
      iss: ISSUER,
      azp: CLIENT_ID,
      email: "ada@example.com",
      given_name: "Ada",
      family_name: "Lovelace",
      phone_number: "+44 1",
      role: "Administrator",
      scope: "openid notes",
    };
    const principal = principalOfClaims({ authenticatedBy: "OAuthFederated", claims, accessToken: "a" });
    assert.deepEqual(principal, {
      authenticatedBy: "OAuthFederated",
      kind: "user",
      subject: PERM_ID,
      sub: PERM_ID,
      user: {
        permId: PERM_ID,
        email: "ada@example.com",
        firstname: "Ada",
        surname: "Lovelace",
        phone: "+44 1",
        organisationId: ORGANISATION_ID,
        role: "Administrator",
      },
      clientId: CLIENT_ID,
      scopes: new Set(["openid", "notes"]),
      claims,
      accessToken: "a",
      sessionKey: undefined,
    });
  });

  it("leaves out unknown and malformed members", () => {
    const claims = { sub: PERM_ID, email: "", given_name: 7, role: "Owner", iss: "https://other.example" };
    const { user } = principalOfClaims({ authenticatedBy: "OAuthFederated", claims });
    assert.deepEqual(user, { permId: PERM_ID });
  });

  it("shares no scopes or claims with the principal of another request", () => {
    const legacyUser = () =>
      principalOfLegacyUser({ user: { PermId: PERM_ID }, sessionKey: "k", applicationId: "a" });
    for (const create of [legacyUser, () => principalOfSystemAccount("p", "a")]) {
      const [one, other] = [create(), create()];
      assert.notEqual(one.scopes, other.scopes);
      assert.notEqual(one.claims, other.claims);
    }
  });

  it("is a service if a token's subject is the client itself", () => {
    const claims = { sub: CLIENT_ID, client_id: CLIENT_ID, scope: "notes" };
    const service = principalOfClaims({ authenticatedBy: "OAuthUserBearer", claims });
    assert.equal(service.kind, "service");
    assert.equal(service.user, undefined);
    const user = principalOfClaims({
      authenticatedBy: "OAuthUserBearer",
      claims: { ...claims, sub: PERM_ID },
    });
    assert.equal(user.kind, "user");
    const signedIn = principalOfClaims({ authenticatedBy: "OAuthFederated", claims });
    assert.equal(signedIn.kind, "user");
  });

  it("has the organisation of a sovereign pool's tokens, and prefers org_id", () => {
    const organisation = (claims: object) =>
      principalOfClaims({ authenticatedBy: "OAuthUserBearer", claims: { sub: PERM_ID, ...claims } }).user
        ?.organisationId;
    assert.equal(organisation({ iss: `${ISSUER}/sovereign/pools/${CLIENT_ID}` }), ORGANISATION_ID);
    assert.equal(organisation({ iss: ISSUER, org_id: "home" }), "home");
    assert.equal(organisation({ iss: `${ISSUER}/other` }), undefined);
  });

  it("accepts scopes in providers' formats", () => {
    const scopes = (claims: object) => [
      ...principalOfClaims({ authenticatedBy: "OAuthUserBearer", claims: { sub: "s", ...claims } }).scopes,
    ];
    assert.deepEqual(scopes({ scp: ["a", "b", 1] }), ["a", "b"]);
    assert.deepEqual(scopes({ scope: "a  b" }), ["a", "b"]);
    assert.deepEqual(scopes({ scope: { a: true } }), []);
  });

  it("requires a subject", () => {
    for (const sub of [undefined, "", 7])
      assert.throws(() => principalOfClaims({ authenticatedBy: "OAuthUserBearer", claims: { sub } }), {
        code: "token_claim_missing",
      });
    assert.throws(() => principalOfLegacyUser({ user: {}, sessionKey: "k", applicationId: CLIENT_ID }), {
      code: "provider_answer",
    });
  });

  it("has the same properties from the legacy API", () => {
    const user = {
      PermId: PERM_ID,
      Email: "ada@example.com",
      Firstname: "Ada",
      Surname: "Lovelace",
      OrganisationId: ORGANISATION_ID,
      Role: "Standard",
      Phone: null,
    };
    const principal = principalOfLegacyUser({ user, sessionKey: "sgn_sk_x", applicationId: CLIENT_ID });
    assert.deepEqual(principal.user, {
      permId: PERM_ID,
      email: "ada@example.com",
      firstname: "Ada",
      surname: "Lovelace",
      organisationId: ORGANISATION_ID,
      role: "Standard",
    });
    assert.equal(principal.sessionKey, "sgn_sk_x");
    assert.equal(principal.clientId, CLIENT_ID);
    assert.equal(principal.accessToken, undefined);
  });
});
