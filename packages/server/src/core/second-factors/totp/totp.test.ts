import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { giveAuthenticator, ownerIn } from "../../../testing/fixtures/factors.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { createEncryption } from "../../encryption/encryption.ts";
import { keyRing } from "../../encryption/key-ring.ts";
import { findTotp } from "../second-factors.store.ts";
import {
  beginTotpEnrolment,
  checkTotp,
  matchingStep,
  newTotpSecret,
  openTotpEnrolment,
  readTotpCode,
  totpUri,
} from "./totp.ts";

/** RFC 6238, Appendix B: "12345678901234567890" in base32, and the last six digits of its SHA-1 column. */
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const vectors: ReadonlyArray<readonly [seconds: number, code: string]> = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
];

test("codes are those of RFC 6238", async () => {
  for (const [seconds, code] of vectors)
    assert.equal(await matchingStep(RFC_SECRET, code, seconds * 1000), Math.floor(seconds / 30), code);
});

test("a code is valid for its own time step and one on either side, and returns its step", async () => {
  const [seconds, code] = [1_111_111_111, "050471"];
  const own = Math.floor(seconds / 30);
  for (const [offset, step] of [
    [-2, undefined],
    [-1, own],
    [0, own],
    [1, own],
    [2, undefined],
  ] as const)
    assert.equal(await matchingStep(RFC_SECRET, code, (own + offset) * 30_000 + 15_000), step, `${offset}`);
});

test("digits are accepted in groups, everything else is rejected", () => {
  for (const typed of ["123456", " 123 456 ", "123-456", "12 34 56"])
    assert.equal(readTotpCode(typed), "123456");
  for (const typed of ["", "12345", "1234567", "12345a", "１２３４５６", "123456\u0000"])
    assert.equal(readTotpCode(typed), undefined, typed);
});

test("a secret is random with 160 bits, in a standard otpauth URI", async () => {
  const [one, other] = [await newTotpSecret(), await newTotpSecret()];
  assert.match(one, /^[A-Z2-7]{32}$/);
  assert.notEqual(one, other);
  const uri = new URL(await totpUri({ issuer: "Käse & Co: <x>", label: "ada@acme.example", secret: one }));
  assert.equal(uri.protocol, "otpauth:");
  assert.equal(uri.searchParams.get("secret"), one);
  assert.equal(uri.searchParams.get("issuer"), "Käse & Co: <x>");
});

test("an enrolment opens unaltered for its own user and browser, for half an hour", async () => {
  const seals = createEncryption(keyRing(randomBytes(32)));
  const binding = { owner: { homeOrgId: "org", userId: "uma" }, browser: "browser", now: 1_000 };
  const { secret, sealed } = await beginTotpEnrolment(seals, binding);
  assert.ok(!sealed.includes(secret));
  assert.equal(openTotpEnrolment(seals, sealed, binding)?.secret, secret);
  const others = [
    { ...binding, owner: { homeOrgId: "org", userId: "otto" } },
    { ...binding, owner: { homeOrgId: "other", userId: "uma" } },
    { ...binding, browser: "other" },
    { ...binding, now: 1_000 + 30 * 60_000 },
  ];
  for (const other of others) assert.equal(openTotpEnrolment(seals, sealed, other), undefined);
  for (const text of [undefined, "", "v1.", `${sealed}AA`, "v1.AAAA"])
    assert.equal(openTotpEnrolment(seals, text, binding), undefined);
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  test("the secret is encrypted, and bound to its user's row", async () => {
    const { service } = running;
    const db = service.database.query;
    const app = await giveAuthenticator(service, org);
    const row = await findTotp(db, ownerIn(org));
    assert.ok(row && !row.secret.includes(app.secret));
    const now = service.clock();
    const shown = { code: app.code(now), now };
    assert.ok(await checkTotp(service, db, ownerIn(org), shown));
    const otto = await withUser(service, org, "otto@acme.example");
    await db
      .updateTable("totp_credential")
      .set({ user_id: otto.user.id })
      .where("user_id", "=", org.user.id)
      .execute();
    await assert.rejects(checkTotp(service, db, ownerIn(otto), shown));
  });

  test("a time step is consumed once, and no earlier one after it", async () => {
    const { service } = running;
    const db = service.database.query;
    const uma = await withUser(service, org, "uma2@acme.example");
    const app = await giveAuthenticator(service, uma);
    const now = service.clock();
    const uses = await Promise.all(
      [0, 0, 0].map((offset) => checkTotp(service, db, ownerIn(uma), { code: app.code(now + offset), now })),
    );
    assert.deepEqual(
      uses.map((use) => use !== undefined),
      [true, true, true],
    );
    const taken = [];
    for (const use of uses) taken.push(await use?.(db));
    assert.deepEqual(taken, [true, false, false]);
    assert.equal(
      await checkTotp(service, db, ownerIn(uma), { code: app.code(now - 30_000), now }),
      undefined,
    );
  });
});
