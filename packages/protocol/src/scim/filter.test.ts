import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parseFilter, parsePatchPath } from "./filter.ts";
import { InvalidFilter } from "./filter-syntax.ts";

const MAX = 2000;
const parse = (text: string) => parseFilter(text, MAX);
const user = "urn:ietf:params:scim:schemas:core:2.0:User";
const eq = (name: string, value: string) => ({ op: "eq", path: { name }, value }) as const;

describe("a filter", () => {
  test("of RFC 7644's examples is read as the grammar says", () => {
    assert.deepEqual(parse('userName eq "bjensen"'), eq("userName", "bjensen"));
    assert.deepEqual(parse(`name.familyName co "O'Malley"`), {
      ...{ op: "co", path: { name: "name", sub: "familyName" }, value: "O'Malley" },
    });
    assert.deepEqual(parse(`${user}:userName sw "J"`), {
      ...{ op: "sw", path: { urn: user, name: "userName" }, value: "J" },
    });
    assert.deepEqual(parse("title pr"), { op: "pr", path: { name: "title" } });
    assert.deepEqual(parse('meta.lastModified gt "2011-05-13T04:42:34Z"'), {
      ...{ op: "gt", path: { name: "meta", sub: "lastModified" }, value: "2011-05-13T04:42:34Z" },
    });
    assert.deepEqual(parse(`schemas eq "${user}"`), eq("schemas", user));
    assert.deepEqual(parse('userType eq "Employee" and emails[type eq "work" and value co "@example.com"]'), {
      op: "and",
      filters: [
        eq("userType", "Employee"),
        {
          op: "some",
          path: { name: "emails" },
          filter: {
            op: "and",
            filters: [eq("type", "work"), { op: "co", path: { name: "value" }, value: "@example.com" }],
          },
        },
      ],
    });
  });

  test("binds not, and, or in this order", () => {
    const [a, b, c] = [eq("a", "1"), eq("b", "2"), eq("c", "3")];
    const [ta, tb, tc] = ['a eq "1"', 'b eq "2"', 'c eq "3"'];
    assert.deepEqual(parse(`${ta} or ${tb} and ${tc}`), {
      ...{ op: "or", filters: [a, { op: "and", filters: [b, c] }] },
    });
    assert.deepEqual(parse(`(${ta} or ${tb}) and ${tc}`), {
      ...{ op: "and", filters: [{ op: "or", filters: [a, b] }, c] },
    });
    assert.deepEqual(parse(`not (${ta}) and NOT(${tb})`), {
      op: "and",
      filters: [
        { op: "not", filter: a },
        { op: "not", filter: b },
      ],
    });
    assert.deepEqual(parse(`not eq "1"`), eq("not", "1"));
  });

  test("takes operators, true and false in any case, and every JSON value", () => {
    assert.deepEqual(parse("active EQ True"), { op: "eq", path: { name: "active" }, value: true });
    for (const [text, value] of [
      ["false", false],
      ["null", null],
      ["-1.5e2", -150],
      ["0", 0],
      [String.raw`"a\"b\\c\u0041"`, 'a"b\\cA'],
    ] as const)
      assert.deepEqual(parse(`a eq ${text}`), { op: "eq", path: { name: "a" }, value });
    assert.deepEqual(parse('members.$ref eq "x"'), {
      op: "eq",
      path: { name: "members", sub: "$ref" },
      value: "x",
    });
  });

  test("of Entra ID, with a member after a value filter, is about one element", () => {
    assert.deepEqual(parse('emails[type eq "work"].value eq "a"'), {
      op: "some",
      path: { name: "emails" },
      filter: { op: "and", filters: [eq("type", "work"), eq("value", "a")] },
    });
  });

  test("that is malformed is refused with the place", () => {
    for (const text of [
      ...[
        "",
        " ",
        "a",
        "a eq",
        'eq "x"',
        'a eq "x',
        "a eq x",
        "a xx 1",
        "a eq 1 b",
        "a eq 1 and",
        "and a pr",
      ],
      ...["(a pr", "a pr)", "a[b pr", "a[]", "not a pr", "a.b.c pr", "a..b pr", ".a pr", "1 eq 1", "a eq 01"],
      ...["a eq 1.", "a eq 'x'", "a eq [1]", 'a eq "\\x"', 'a eq "\n"', "x:a pr", "a pr; drop", "a pr\u0000"],
      ...["a[b pr].c", "a[b pr] .c.d pr", "a[b pr]. c pr", "ä pr", "a eq -"],
    ])
      assert.throws(() => parse(text), InvalidFilter, text);
    assert.throws(() => parse('a eq "1" or or'), /at character/);
  });

  test("is bounded in length and depth", () => {
    const nested = (levels: number) => `${"(".repeat(levels)}a pr${")".repeat(levels)}`;
    assert.deepEqual(parse(nested(40)), { op: "pr", path: { name: "a" } });
    assert.throws(() => parse(nested(41)), /levels deep/);
    assert.throws(() => parse(`${"not(".repeat(300)}a pr${")".repeat(300)}`), /levels deep/);
    assert.throws(() => parse(`a eq "${"x".repeat(MAX)}"`), /at most 2000 characters/);
  });

  test("of any text is read or refused, and never anything else", () => {
    const piece = fc.constantFrom(
      "a",
      ".",
      "[",
      "]",
      "(",
      ")",
      " ",
      "not",
      "and",
      "eq",
      '"x"',
      "1",
      ":",
      "urn:",
      "$",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((all) => all.join(" ")),
        ),
        (text) => {
          try {
            parse(text);
            parsePatchPath(text, MAX);
          } catch (error) {
            assert.ok(error instanceof InvalidFilter);
          }
        },
      ),
    );
  });
});

describe("the path of a PATCH", () => {
  test("names an attribute, a member, values by a filter, or a member of these", () => {
    const path = (text: string) => parsePatchPath(text, MAX);
    assert.deepEqual(path("members"), { path: { name: "members" } });
    assert.deepEqual(path("name.familyName"), { path: { name: "name", sub: "familyName" } });
    const filter = eq("type", "work");
    assert.deepEqual(path('addresses[type eq "work"]'), { path: { name: "addresses" }, filter });
    assert.deepEqual(path(`${user}:emails[type eq "work"].value`), {
      ...{ path: { urn: user, name: "emails" }, filter, sub: "value" },
    });
    for (const text of ["", "a b", "a[b pr", "a[b pr]c", "a[b pr].", "a pr", "[a pr]", "a[b pr].c.d"])
      assert.throws(() => path(text), InvalidFilter, text);
  });
});
