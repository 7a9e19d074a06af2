import assert from "node:assert/strict";
import { test } from "node:test";
import { acrValues, assurance } from "../../../../core/sessions/session.ts";
import {
  noRequestedAcr,
  preferredAssurances,
  readRequestedAcr,
  reportedAcr,
  requiredAssurance,
} from "./requested-acr.ts";
import { parseRequestedClaims } from "./requested-claims.ts";

const { password: PWD, multiFactor: MFA, phishingResistant: PHR } = acrValues;
const read = (acrValuesText: string | undefined, acr?: unknown, requiredAcr?: string) =>
  readRequestedAcr(
    acrValuesText,
    parseRequestedClaims(acr === undefined ? undefined : JSON.stringify({ id_token: { acr } })),
    requiredAcr === undefined ? {} : { requiredAcr },
  );

test("acr_values and a voluntary claim are preferences, in the client's order", () => {
  assert.deepEqual(read(`${PHR}  ${MFA} x`).preferred, [PHR, MFA, "x"]);
  assert.deepEqual(read(MFA, { values: [PHR] }).preferred, [MFA, PHR]);
  assert.deepEqual(preferredAssurances(read(`x ${PHR} ${PWD}`)), [
    assurance.phishingResistant,
    assurance.password,
  ]);
  assert.equal(requiredAssurance(read(PHR, { values: [PHR] })), assurance.none);
});

test("an essential claim and the application's setting are requirements", () => {
  assert.equal(requiredAssurance(read(undefined, { essential: true, value: MFA })), assurance.multiFactor);
  assert.equal(
    requiredAssurance(read(undefined, { essential: true, values: [PHR, MFA] })),
    assurance.multiFactor,
  );
  assert.equal(requiredAssurance(read(undefined, undefined, PHR)), assurance.phishingResistant);
  assert.equal(
    requiredAssurance(read(undefined, { essential: true, value: PWD }, MFA)),
    assurance.multiFactor,
  );
  assert.deepEqual(read(undefined, { essential: true, value: MFA }).preferred, []);
});

test("an unsupported required acr can't be met", () => {
  for (const acr of [{ value: "x" }, { values: ["x", 5] }, { value: 5 }, { value: null }])
    assert.equal(
      requiredAssurance(read(undefined, { essential: true, ...acr })),
      undefined,
      JSON.stringify(acr),
    );
  assert.equal(requiredAssurance(read(undefined, undefined, "x")), undefined);
});

test("an essential acr without values only requests the claim", () => {
  for (const acr of [{ essential: true }, { essential: true, values: [] }, null])
    assert.deepEqual(read(undefined, acr), { ...noRequestedAcr });
});

test("the token's acr is the first requested value that is reached, and never exceeds the session", () => {
  assert.equal(reportedAcr(noRequestedAcr, PHR), PHR);
  assert.equal(reportedAcr(read(MFA), PHR), MFA);
  assert.equal(reportedAcr(read(`${PHR} ${MFA}`), MFA), MFA);
  assert.equal(reportedAcr(read(PHR), PWD), PWD);
  assert.equal(reportedAcr(read("x"), MFA), MFA);
  assert.equal(reportedAcr(read(undefined, { essential: true, values: ["x", MFA, PHR] }), PHR), MFA);
  assert.equal(reportedAcr(read(PWD, undefined, MFA), PHR), PHR, "not less than the application demands");
});
