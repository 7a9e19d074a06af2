import assert from "node:assert/strict";
import { test } from "node:test";
import { keepSchemas } from "./check-details.ts";
import { isPartOf } from "./details.ts";
import { readPattern } from "./pattern-rules.ts";
import { schemaFaults } from "./schema-rules.ts";
import { fillTemplate, templateFault } from "./template.ts";

const patternFault = (pattern: string) => {
  const read = readPattern(pattern);
  return "fault" in read ? read.fault : undefined;
};
const faultOf = (schema: unknown) => schemaFaults(schema)[0];

test("a schema of 2020-12 with its own definitions is accepted", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Payment",
    type: "object",
    required: ["amount"],
    properties: {
      amount: { $ref: "#/$defs/amount" },
      fee: { $ref: "#/$defs/amount" },
      tags: { type: "array", prefixItems: [{ type: "string" }], items: false, uniqueItems: true },
      at: { type: "string", format: "date-time" },
    },
    patternProperties: { "^x-[a-z]+$": { type: ["string", "null"] } },
    dependentRequired: { fee: ["amount"] },
    if: { required: ["fee"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { fee: { not: { const: "0" } } } },
    unevaluatedProperties: false,
    $defs: { amount: { type: "string", pattern: "^[0-9]+$" } },
  };
  assert.deepEqual(schemaFaults(schema), []);
});

test("every schema that could reach out, run in a circle or grow is refused, with its path", () => {
  for (const [schema, path] of [
    [null, ""],
    [[], ""],
    [true, ""],
    [{ $ref: "https://elsewhere.example/schema" }, "/$ref"],
    [{ properties: { a: { $ref: "file:///etc/passwd" } } }, "/properties/a/$ref"],
    [{ $ref: "#" }, "/$ref"],
    [{ $ref: "#/$defs/none" }, ""],
    [{ $ref: "#/$defs/__proto__" }, ""],
    [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, ""],
    [
      {
        $ref: "#/$defs/a",
        $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { not: { $ref: "#/$defs/a" } } },
      },
      "",
    ],
    [{ $defs: { a: { $ref: "#/$defs/a" } } }, ""],
    [{ $id: "https://elsewhere.example/" }, "/$id"],
    [{ $dynamicRef: "#x" }, "/$dynamicRef"],
    [{ $anchor: "x" }, "/$anchor"],
    [{ $schema: "http://json-schema.org/draft-07/schema#" }, "/$schema"],
    [{ requred: ["a"] }, "/requred"],
    [{ constructor: {} }, "/constructor"],
    [{ type: "text" }, "/type"],
    [{ required: "a" }, "/required"],
    [{ maxLength: -1 }, "/maxLength"],
    [{ multipleOf: 0 }, "/multipleOf"],
    [{ allOf: [] }, "/allOf"],
    [{ allOf: [1] }, "/allOf/0"],
    [{ properties: { "a/b": 1 } }, "/properties/a~1b"],
    [{ pattern: "(" }, "/pattern"],
    [{ patternProperties: { "(a+)+": {} } }, "/patternProperties"],
    [{ description: "x".repeat(20_000) }, ""],
    [{ const: JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`) }, ""],
  ] as const)
    assert.equal(faultOf(schema)?.path, path, JSON.stringify(schema)?.slice(0, 80));
});

test("references that double are counted as often as they are followed", () => {
  const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
  const names = Array.from({ length: 30 }, (_, at) => `d${at}`);
  const $defs = Object.fromEntries(names.map((name, at) => [name, at === 29 ? {} : twice(`d${at + 1}`)]));
  assert.match(faultOf({ $ref: "#/$defs/d0", $defs })?.message ?? "", /more than 500 subschemas/);
});

test("the patterns of a schema are counted together, as often as they are referred to", () => {
  const costly = { pattern: "[0-9]+" };
  assert.deepEqual(schemaFaults({ items: costly, contains: costly }), []);
  const message = /too many open repetitions/;
  assert.match(faultOf({ items: { allOf: [costly, costly, costly] } })?.message ?? "", message);
  const $defs = { n: costly };
  const reference = { $ref: "#/$defs/n" };
  assert.match(faultOf({ allOf: [reference, reference, reference], $defs })?.message ?? "", message);
  assert.match(faultOf({ patternProperties: { "a+": {}, "b+": {}, "c+": {} } })?.message ?? "", message);
});

test("patterns that backtrack without end are refused; everyday ones are not", () => {
  for (const pattern of [
    ...["^(a+)+$", "^(a|a)*$", "(a?a?)*b", "^((a+)?)*$", "(?:a|b+){2,9}", "^(a+){10}$", "(.*a){20}"],
    ...[
      "a?".repeat(25),
      `^${"(a|a)".repeat(25)}$`,
      "^a{0,99}a{0,99}a{0,99}a{0,99}$",
      ".*.*.*.*.*x",
      "^a*a*a*$",
      ".*.*x",
      "^x|a*a*a{0,3}b",
      "^a*a*|^b*b*",
      "(a)\\1",
      "(?<x>a)\\k<x>",
    ],
    ...["(?=a)", "(?<!a)b", "(?<n>a)", "[", "a".repeat(201)],
  ])
    assert.ok(patternFault(pattern), pattern);
  for (const pattern of [
    ...[
      "^[0-9]{1,12}(\\.[0-9]{2})?$",
      "^[A-Z]{2}[0-9]{2}([A-Z0-9]{4}){2,7}$",
      "^(?:EUR|USD|GBP|DKK|SEK|NOK|CHF|PLN|CZK|HUF|RON|BGN)$",
    ],
    ...["^[\\p{L}\\p{N} .,'-]{1,70}$", "^[(+*|]+\\)?$", "^https://[^/?#]+/[^?#]*$", "\\u{1F600}", "^a{3}$"],
  ])
    assert.equal(patternFault(pattern), undefined, pattern);
});

test("a pattern that backtracks is interrupted all the same, and the next check is as ever", () => {
  const schema = { properties: { a: { pattern: "^(a+)+$" } } };
  const isUnavailable = { name: "OAuthError", code: "temporarily_unavailable" };
  const keep = (a: string) => keepSchemas([{ schema, detail: { type: "x", a } }]);
  assert.throws(() => keep(`${"a".repeat(60)}b`), isUnavailable);
  assert.equal(keep("aaa"), true);
});

test("patterns are not tried on long texts", () => {
  const schema = { properties: { a: { pattern: "^a" } } };
  const keep = (detail: object) => keepSchemas([{ schema, detail: { type: "x", ...detail } }]);
  assert.equal(keep({ a: "a".repeat(400) }), true);
  assert.equal(keep({ a: "a".repeat(401) }), false);
  assert.equal(keep({ ["b".repeat(401)]: 1 }), false);
});

test("a schema that says nothing of type need not; one that does is held to it", () => {
  const keep = (schema: object, type: string) =>
    keepSchemas([{ schema: schema as Readonly<Record<string, unknown>>, detail: { type } }]);
  assert.equal(keep({ additionalProperties: false }, "x"), true);
  assert.equal(keep({ properties: { type: { const: "y" } } }, "x"), false);
  assert.equal(
    keep({ required: ["type"], properties: { type: true }, additionalProperties: false }, "x"),
    true,
  );
});

test("a part has the same members; lists that RFC 9396 names may be shorter", () => {
  const whole = { type: "a", actions: ["read", "write"], payees: ["x", "y"], n: 1 };
  assert.ok(isPartOf({ ...whole, actions: ["write"] }, whole));
  for (const part of [
    { ...whole, payees: ["x"] },
    { ...whole, actions: ["write", "delete"] },
    { ...whole, actions: [] },
    { ...whole, actions: "read" },
    { ...whole, n: "1" },
    { ...whole, more: 1 },
    { type: "a" },
    { type: "a", actions: ["read"], payees: ["x", "y"], __proto__: { n: 1 } },
  ])
    assert.ok(!isPartOf(part as never, whole), JSON.stringify(part));
});

test("a template is text and paths of members", () => {
  for (const wrong of [
    "",
    " ",
    "Pay {",
    "Pay }",
    "Pay {{a}}",
    "{a b}",
    "{}",
    "{a..b}",
    "a\nb",
    "x".repeat(501),
  ])
    assert.ok(templateFault(wrong), wrong);
  for (const fine of ["Pay", "Pay {amount.value} to {creditor-name}", "{a}{b}"])
    assert.equal(templateFault(fine), undefined, fine);
  const words = (template: string, detail: object) =>
    fillTemplate(template, { type: "t", ...detail })
      .map(({ text }) => text)
      .join("");
  assert.equal(words("{a.b}, {c}", { a: { b: 1 }, c: ["x", true] }), "1, x, true");
  assert.equal(words("{constructor} {a.length} {b}", { a: "xyz", b: null }), "– – –");
  assert.equal(words("{a}", { a: { deep: 1 } }), '{"deep":1}');
});
