import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import { keyRing } from "../../../core/encryption/key-ring.ts";
import { macs } from "../../../core/encryption/macs.ts";
import {
  CONFIRMATION,
  createFlow,
  type Flow,
  flowForm,
  flows,
  withAnotherAccount,
  withPrompts,
} from "./flow.ts";

const ORG = "0190a1b2-0000-7000-8000-000000000001";
const OTHER_ORG = "0190a1b2-0000-7000-8000-000000000002";
const STARTED_AT = 1_800_000_000_000;
const DAY_MS = 86_400_000;

const ours = flows(macs(keyRing(Buffer.alloc(32, 1))));
const flow: Flow = {
  orgId: ORG,
  parameters: [
    ["client_id", "app"],
    ["state", 'odd ✓ & = % + " \\ \n'],
  ],
  startedAt: STARTED_AT,
};

test("a sealed flow opens to the same request, on any node with the same key", () => {
  const sealed = ours.seal(flow);
  assert.match(sealed, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, "fits into an address and a field as it is");
  assert.deepEqual(flows(macs(keyRing(Buffer.alloc(32, 1)))).open(sealed, ORG, STARTED_AT), flow);
});

test("a flow with one altered character is rejected", () => {
  const sealed = ours.seal(flow);
  for (let at = 0; at < sealed.length; at++) {
    const altered = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
    assert.equal(ours.open(altered, ORG, STARTED_AT), undefined, `at ${at}`);
  }
});

test("a flow of another organisation or key is rejected", () => {
  assert.equal(ours.open(ours.seal(flow), OTHER_ORG, STARTED_AT), undefined);
  assert.equal(flows(macs(keyRing(Buffer.alloc(32, 2)))).open(ours.seal(flow), ORG, STARTED_AT), undefined);
  const [body] = ours.seal(flow).split(".");
  const [, foreign] = ours.seal({ ...flow, orgId: OTHER_ORG }).split(".");
  assert.equal(ours.open(`${body}.${foreign}`, ORG, STARTED_AT), undefined);
});

test("malformed text is rejected as a flow", () => {
  const sealed = ours.seal(flow);
  for (const text of [
    undefined,
    "",
    ".",
    "..",
    "a.b",
    sealed.split(".")[0],
    `.${sealed}`,
    `${sealed}.`,
    `${sealed}.x`,
  ])
    assert.equal(ours.open(text, ORG, STARTED_AT), undefined, String(text));
});

test("a flow expires after exactly a day", () => {
  const sealed = ours.seal(flow);
  assert.ok(ours.open(sealed, ORG, STARTED_AT + DAY_MS - 1));
  assert.equal(ours.open(sealed, ORG, STARTED_AT + DAY_MS), undefined);
});

test("a pushed request ends after a day, however often another account is chosen", () => {
  const pushed = { ...flow, origin: { pushed: "x".repeat(43), until: STARTED_AT + DAY_MS } };
  const later = STARTED_AT + DAY_MS - 1;
  const again = ours.seal(withAnotherAccount(pushed, [], later));
  assert.deepEqual(ours.open(again, ORG, later)?.origin, pushed.origin);
  assert.equal(ours.open(again, ORG, later + 1), undefined);
});

test("a flow keeps repeated parameters", () => {
  const form = parseForm("client_id=app&resource=a&state=1&resource=b&state=2&nonce=&resource=c");
  const kept = flowForm(createFlow(ORG, form, STARTED_AT));
  assert.deepEqual(Object.fromEntries(kept.values), { client_id: "app", resource: "a", state: "1" });
  assert.deepEqual([...kept.repeated].sort(), ["resource", "state"]);
  assert.deepEqual(kept.allValues.get("resource"), ["a", "b", "c"]);
});

test("new prompts replace all others", () => {
  const form = parseForm("prompt=consent&client_id=app&prompt=none");
  const changed = withPrompts(createFlow(ORG, form, STARTED_AT), ["login", "consent"]);
  assert.equal(flowForm(changed).values.get("prompt"), "login consent");
  assert.equal(flowForm(changed).repeated.size, 0);
  assert.equal(flowForm(withPrompts(changed, [])).values.has("prompt"), false);
  assert.equal(changed.startedAt, STARTED_AT);
});

test("another account restarts the flow with a sign-in and keeps its other parameters", () => {
  const changed = withAnotherAccount(flow, ["consent", "login"], STARTED_AT + 5);
  assert.equal(flowForm(changed).values.get("prompt"), "login consent");
  assert.equal(changed.startedAt, STARTED_AT + 5);
  assert.deepEqual(changed.parameters.slice(0, 2), flow.parameters);
});

test("another account drops the confirmation", () => {
  const confirming = { ...flow, parameters: [...flow.parameters, [CONFIRMATION, "true"] as const] };
  assert.equal(flowForm(withAnotherAccount(confirming, [], STARTED_AT)).values.has(CONFIRMATION), false);
});

test("unknown parameters are not carried", () => {
  const form = parseForm("client_id=app&utm_source=mail&constructor=x&state=1");
  assert.deepEqual(createFlow(ORG, form, STARTED_AT).parameters, [
    ["client_id", "app"],
    ["state", "1"],
  ]);
});
