import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ScimFault } from "./attribute.ts";
import { parseFilter } from "./filter.ts";
import { matcherOf } from "./match.ts";
import { readResource } from "./read-resource.ts";
import { ENTERPRISE_SCHEMA, USER_SCHEMA, userType } from "./user-schema.ts";

const matcher = (text: string) => matcherOf(userType, parseFilter(text, 2000));
const uma = {
  ...readResource(userType, {
    userName: "Uma@Acme.example",
    externalId: "Ab",
    name: { familyName: "O'Malley" },
    active: true,
    emails: [
      { value: "uma@acme.example", type: "work" },
      { value: "uma@home.example", type: "home" },
    ],
    [ENTERPRISE_SCHEMA]: { department: "Sales" },
  }),
  id: "1",
  schemas: [USER_SCHEMA],
  meta: { lastModified: "2026-05-13T04:42:34.000Z" },
};

describe("a filter", () => {
  for (const [text, expected] of [
    ['userName eq "uma@acme.EXAMPLE"', true],
    ['externalId eq "ab"', false],
    ['externalId eq "Ab"', true],
    [`name.familyName co "o'm"`, true],
    ['name.familyName sw "x"', false],
    ['name.familyName ew "LEY"', true],
    ["title pr", false],
    ["emails pr", true],
    ["title eq null", true],
    ["userName ne null", true],
    ['title ne "x"', true],
    ['userName ne "uma@acme.example"', false],
    ['meta.lastModified gt "2026-05-13T00:00:00Z"', true],
    ['meta.lastModified le "2026-05-13T06:42:34+02:00"', true],
    ['meta.lastModified lt "2026-05-13T06:42:34+02:00"', false],
    [`schemas eq "${USER_SCHEMA}"`, true],
    ['emails co "@home"', true],
    ['emails.type eq "WORK"', true],
    ['emails[type eq "work" and value co "@home"]', false],
    ['emails[type eq "work" and value co "@acme"]', true],
    ['emails[type eq "home"].value eq "uma@home.example"', true],
    ['emails[type eq "work"].value eq "uma@home.example"', false],
    ["active eq True", true],
    ['active eq "False"', false],
    ["not (active eq false)", true],
    [`${ENTERPRISE_SCHEMA}:department eq "sales"`, true],
    [`${USER_SCHEMA}:userName sw "uma"`, true],
    ['active eq false or title pr or id eq "1"', true],
  ] as const)
    test(text, () => assert.equal(matcher(text)(uma), expected));

  test("about what there is not, or by an operator of another type, is refused", () => {
    for (const text of [
      ...['nothing eq "x"', "name.nothing pr", 'urn:x:y:userName eq "x"', "active gt true", 'active co "t"'],
      ...[
        "userName eq 1",
        'meta.lastModified gt "yesterday"',
        "title gt null",
        'name eq "x"',
        'password eq "x"',
      ],
      ...['emails[nothing eq "x"]', 'title[value eq "x"]'],
    ])
      assert.throws(
        () => matcher(text),
        (error) => error instanceof ScimFault && error.scimType === "invalidFilter",
        text,
      );
  });
});
