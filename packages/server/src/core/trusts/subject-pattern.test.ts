import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesPattern, patternFault } from "./subject-pattern.ts";

test("a pattern begins with three literal segments, and * is one whole segment", () => {
  for (const pattern of [
    "repo:acme/site:ref:refs/heads/main",
    "repo:acme/site:ref:refs/heads/*",
    "repo:acme/site:*",
    "project_path:acme/site:ref_type:branch:ref:*",
    "system:serviceaccount:prod:api",
    "system:serviceaccount:prod:*",
    "spiffe://example.org/ns/prod/sa/*",
    "spiffe://example.org/api/*",
    "deploy-robot",
  ])
    assert.equal(patternFault(pattern), undefined, pattern);
});

test("a pattern that others' subjects would match too is refused", () => {
  for (const pattern of [
    ...[
      "",
      "*",
      "**",
      ":",
      "*:*",
      "repo:*",
      "repo:acme/*",
      "repo:*/site:ref",
      "repo:acme/*:ref:main",
      "*:a:b:c",
    ],
    ...[
      "project_path:acme/*",
      "project_path:*/site",
      "system:serviceaccount:*:api",
      "spiffe://*/ns/prod/sa/api",
    ],
    ...["spiffe://example.org/*", "repo:acme/site:ref:refs/heads/**", "repo:acme/site:ref:refs/heads/ma*"],
    ...[
      "repo:acme/site:ref:*main",
      "repo:acme/site:ref:mai?",
      "repo:acme/site:a b",
      "repo:acme/site:\n",
      "a:b:ø",
    ],
    "a".repeat(1_025),
  ])
    assert.notEqual(patternFault(pattern), undefined, pattern);
});

test("a subject has the pattern's segments and the same separators, none empty and none more", () => {
  const pattern = "repo:acme/site:ref:refs/heads/*";
  for (const subject of ["repo:acme/site:ref:refs/heads/main", "repo:acme/site:ref:refs/heads/a.b-c"])
    assert.ok(matchesPattern(pattern, subject), subject);
  for (const subject of [
    "repo:acme/site:ref:refs/heads/",
    "repo:acme/site:ref:refs/heads/a/b",
    "repo:acme/site:ref:refs/heads/a:b",
    "repo:acme/site:ref:refs/tags/main",
    "repo/acme:site:ref:refs/heads/main",
    "xrepo:acme/site:ref:refs/heads/main",
    "repo:acme/site:ref:refs/heads/main/",
    "REPO:acme/site:ref:refs/heads/main",
    "repo:acmexsite:ref:refs/heads/main",
  ])
    assert.ok(!matchesPattern(pattern, subject), subject);
  assert.ok(!matchesPattern("host.name", "hostxname"), "a dot is a dot");
});
