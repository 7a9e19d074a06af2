/** Whom an ID token is for, and what of it an application sees. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { base64url } from "./base64url.ts";
import { checkIdToken, sessionOf, userOf } from "./session.ts";

const ISSUER = "https://id.example/oauth/0197aaaa-0000-7000-8000-000000000001";
const CLIENT = "0197aaaa-0000-7000-8000-0000000000c1";
const now = () => Math.floor(Date.now() / 1000);
const claims = () => ({
  iss: ISSUER,
  aud: CLIENT,
  azp: CLIENT,
  sub: "ada",
  nonce: "n",
  iat: now(),
  exp: now() + 600,
});
const tokenOf = (members: object): string => `e30.${base64url(JSON.stringify(members))}.sig`;
const expected = { issuer: ISSUER, clientId: CLIENT, nonce: "n", sub: "ada" };

describe("an ID token", () => {
  test("of this sign-in is accepted", () => {
    checkIdToken(tokenOf(claims()), expected);
    checkIdToken(tokenOf({ ...claims(), aud: [CLIENT] }), expected);
  });

  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ iss: `${ISSUER}/` }, /another issuer/],
    [{ aud: "somebody-else" }, /another client/],
    [{ azp: "somebody-else" }, /another client/],
    [{ nonce: "other" }, /another sign-in/],
    [{ nonce: undefined }, /another sign-in/],
    [{ sub: "eve" }, /another user/],
    [{ exp: 1 }, /clock/],
    [{ exp: undefined }, /clock/],
    [{ iat: Date.now() }, /clock/],
  ];
  for (const [change, message] of wrong)
    test(`with ${JSON.stringify(change)} is refused`, () => {
      assert.throws(() => checkIdToken(tokenOf({ ...claims(), ...change }), expected), {
        code: "answer",
        message,
      });
    });
});

test("a session keeps the refresh and ID token that an answer does not replace", () => {
  const answer = { access_token: "at", token_type: "DPoP", expires_in: 60 };
  const first = sessionOf({ ...answer, id_token: tokenOf(claims()), refresh_token: "rt" });
  const second = sessionOf({ ...answer, access_token: "at-2" }, first);
  assert.deepEqual([second.refreshToken, second.idToken, second.accessToken], ["rt", first.idToken, "at-2"]);
  assert.throws(() => sessionOf(answer), /scope must include openid/);
});

test("a user has the specification's properties and the claims", () => {
  const told = {
    ...claims(),
    email: "ada@acme.example",
    given_name: "Ada",
    family_name: "Lovelace",
    roles: ["editor"],
  };
  const { claims: all, ...user } = userOf({ claims: told });
  assert.deepEqual(user, {
    ...{ sub: "ada", permId: "ada", email: "ada@acme.example", firstname: "Ada", surname: "Lovelace" },
    ...{ organisationId: "0197aaaa-0000-7000-8000-000000000001", roles: ["editor"] },
  });
  assert.equal(all["nonce"], "n");
});
