/** What is wrong with a development document is one sentence with the line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileOf, parseDevelopmentDocument } from "./development-document.ts";
import { sampleDocument } from "./sample-document.ts";

const parse = (text: string) => parseDevelopmentDocument(text, "signet.dev.yaml");

test("the example is a document, and an application's address fills in what depends on it", () => {
  const { organisations } = parse(sampleDocument);
  const [acme] = organisations;
  assert.ok(acme);
  const { applications = [] } = fileOf(acme);
  const [web, spa] = applications;
  assert.deepEqual(web?.redirectUris, ["http://localhost:3000/signet/callback"]);
  assert.deepEqual(web?.postLogoutRedirectUris, ["http://localhost:3000/"]);
  assert.deepEqual(spa?.redirectUris, ["http://localhost:5173/", "http://localhost:5173/callback"]);
  assert.deepEqual([web?.externalKey, spa?.externalKey], ["web", "single-page"]);
});

const faults: readonly (readonly [text: string, sentence: string])[] = [
  ["organisations:\n  - name: [", "signet.dev.yaml, line 2: Flow sequence in block collection must be "],
  ["organisations:\n  - name: A\n    name: B\n", "signet.dev.yaml, line 3: Map keys must be unique."],
  ["", "signet.dev.yaml, line 1: the document must be "],
  ["organisations: 1\n", "signet.dev.yaml, line 1: organisations must be "],
  ["organisation: []\n", "signet.dev.yaml, line 1: organisation"],
  ["organisations:\n  - users: []\n", "signet.dev.yaml, line 2: organisations.0.name"],
  [
    "organisations:\n  - name: A\n    users:\n      - email: a@b.example\n        role: King\n",
    "signet.dev.yaml, line 5: organisations.0.users.0.role must be ",
  ],
  [
    "organisations:\n  - name: A\n    users:\n      - email: a@b.example\n        roles: [king]\n",
    "signet.dev.yaml, line 5: organisations.0.users.0.roles.0 names no role of the organisation.",
  ],
  [
    "organisations:\n  - name: A\n    roles:\n      - key: x\n        application: shop\n",
    "signet.dev.yaml, line 5: organisations.0.roles.0.application names no application of the organisation.",
  ],
  [
    "organisations:\n  - name: A\n    applications:\n      - name: Shop\n        redirectUris:\n          - javascript:alert(1)\n",
    "signet.dev.yaml, line 6: organisations.0.applications.0.redirectUris.0 ",
  ],
  [
    "organisations:\n  - name: A\n    policies:\n      passwordMinLength: 1\n",
    "signet.dev.yaml, line 4: organisations.0.policies.passwordMinLength ",
  ],
];

for (const [text, sentence] of faults)
  test(`one sentence with the line: ${sentence}`, () => {
    assert.throws(
      () => parse(text),
      ({ name, message }: Error) => {
        assert.equal(name, "InvalidDocument");
        assert.ok(message.startsWith(sentence), message);
        assert.match(message, /^[^\n]+\.$/);
        return true;
      },
    );
  });

test("aliases cannot make a small file a large one", () => {
  const lines = Array.from(
    { length: 12 },
    (_, at) => `a${at}: &a${at} [${Array(9).fill(at === 0 ? "x" : `*a${at - 1}`)}]`,
  );
  assert.throws(() => parse(lines.join("\n")), /alias/i);
});
