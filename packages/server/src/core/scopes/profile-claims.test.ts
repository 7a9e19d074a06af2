import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProfileDetails } from "../users/profile/details.ts";
import type { User } from "../users/user.ts";
import { addressClaim, claimsOfProfile } from "./profile-claims.ts";
import { claimsOfScopes } from "./scopes.ts";

const formatted = (details: ProfileDetails) => addressClaim({ details } as User)?.["formatted"];

test("an address is written as on an envelope, from the parts that are there", () => {
  const street = { streetAddress: "12 Main Street\nFlat 3" };
  const denmark = { ...street, postalCode: "1000", locality: "Copenhagen", country: "Denmark" };
  assert.equal(formatted(denmark), "12 Main Street\nFlat 3\n1000 Copenhagen\nDenmark");
  const illinois = { ...denmark, postalCode: "62701", locality: "Springfield", region: "IL", country: "USA" };
  assert.equal(formatted(illinois), "12 Main Street\nFlat 3\nSpringfield, IL 62701\nUSA");
  assert.equal(formatted({ region: "Bavaria" }), "Bavaria");
  assert.equal(formatted({ postalCode: "1000" }), "1000");
  assert.equal(formatted({ country: "Denmark" }), "Denmark");
  assert.equal(addressClaim({ details: { nickname: "Ada" } } as unknown as User), undefined);
});

test("a guest's organisation and role are those of the membership, not of home", () => {
  const guest = { orgId: "visited", homeOrgId: "home", role: "Standard", details: {} } as unknown as User;
  const { org_id, role } = claimsOfProfile(guest);
  assert.deepEqual([org_id, role], ["visited", "Standard"]);
});

test("whether a phone number is verified is said of a number only", () => {
  for (const phone of [null, ""]) assert.deepEqual(claimsOfScopes({ phone } as User, ["phone"]), {});
  assert.deepEqual(claimsOfScopes({ phone: "+4512345678" } as User, ["phone"]), {
    phone_number: "+4512345678",
    phone_number_verified: false,
  });
});
