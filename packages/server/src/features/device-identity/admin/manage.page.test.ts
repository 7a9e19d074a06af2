import assert from "node:assert/strict";
import { test } from "node:test";
import { type Html, html, render } from "../../../html/html.ts";
import type { ListFrame } from "../../../page-kit/list/list.ts";
import { testAccountFrame } from "../../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../../testing/probes/page-checks.ts";
import { type DeviceRow, deviceList } from "./device-list.ts";
import { type DevicePolicyView, devicePolicyPage } from "./device-policy.page.ts";
import { type ManageView, managePage } from "./manage.page.ts";
import { emptyRegisterInput } from "./register-input.ts";

const frame = testAccountFrame("devices");
const manageUri = (rest = "") => `/manage${rest}`;
const DAY = 86_400_000;

const device: DeviceRow = {
  orgId: "o1",
  id: "d1",
  name: "Till 4",
  state: "active",
  attestation: "tpm",
  ekHash: null,
  akPublic: null,
  enrolledAt: 0,
  revokedAt: null,
  revokedReason: null,
  certificate: { serial: "0b", notAfter: 90 * DAY },
  lastSeenAt: 2 * DAY,
  nameOrder: "till 4",
};

const code: ManageView["codes"][number] = {
  orgId: "o1",
  id: "c1",
  name: "Kiosk",
  attestation: "required",
  replaces: "d5",
  replacedName: "Till 4",
  createdAt: 0,
  createdBy: "user:u1",
  author: { email: "ada@acme.example" },
  expiresAt: DAY,
  usedAt: null,
  deviceId: null,
  withdrawnAt: null,
};

const form = { csrf: "token", failure: undefined };

const view: ManageView = {
  ...frame,
  ...form,
  manageUri,
  rangeUri: (query) => manageUri(`${query}#devices-by-state`),
  done: "revoked",
  devices: { section: html`<p>devices</p>`, isEmpty: false },
  codes: [
    code,
    { ...code, id: "c2", name: null, attestation: "none", replacedName: undefined, author: "operator" },
  ],
  charts: {
    ...{ range: "30d", from: 0, points: ["Monday", "Tuesday"], ticks: ["Mon"] },
    devices: {
      now: { active: 2, expired: 0, revoked: 1 },
      overTime: { active: [1, 2], expired: [0, 0], revoked: [0, 1] },
    },
  },
  hasMoreCodes: true,
  action: "/manage/register",
  once: "o",
  policy: "optional",
  input: { name: "Kiosk", attestation: "required", expiresIn: "3600", replaces: "x" },
  state: {
    faults: { replaces: "This device doesn’t exist or is already revoked. Copy the ID from the list." },
  },
};

const policy: DevicePolicyView = {
  ...frame,
  ...form,
  manageUri,
  isSaved: true,
  version: "seen",
  lastChange: { who: "ada@acme.example", at: DAY },
  action: "/manage/policy",
  input: { attestation: "required", ekTrust: "both" },
  state: {},
  roots: {
    items: [{ name: "CN=Vendor", fingerprint: "00ff", at: DAY }],
    hasMore: true,
    addCommand: "signet device-roots import",
    listCommand: "signet device-roots list",
  },
  eks: {
    items: [],
    hasMore: false,
    addCommand: "signet ek-allow add",
    listCommand: "signet ek-allow list",
  },
};

const text = (page: Html): string => render(page).replace(/\s+/g, " ");

test("pages are well-formed and escape their values", () => {
  assertEscapes(managePage, view);
  assertEscapes(devicePolicyPage, policy);
  for (const page of [managePage(view), devicePolicyPage(policy)]) assertWellMade(page);
});

test("each device row has status, attestation, times and actions", () => {
  const rows = [
    device,
    { ...device, id: "d2", name: "d2", attestation: "none" as const, lastSeenAt: null },
    { ...device, id: "d3", name: "Camera", state: "revoked" as const, revokedAt: DAY },
    { ...device, id: "d4", name: "Laptop", state: "expired" as const, certificate: null },
  ];
  const cells = { ...frame, organisation: { id: "o1" }, reader: {} } as unknown as ListFrame;
  const page = text(
    html`${rows.map((row) => [deviceList.columns.map(({ cell }) => cell(row, cells)), deviceList.rowActions(row, cells)])}`,
  );
  assert.match(page, /Till 4<\/bdi><\/a><span class="quiet item-note"><code>d1<\/code><\/span>/);
  assert.match(page, /class="state good">Active</);
  assert.match(page, /class="state bad">Revoked<\/span> <span class="quiet item-note">on 2 Jan 1970/);
  assert.match(page, /class="state warn">Expired</);
  assert.match(page, /datetime="1970-04-01T00:00:00.000Z" data-relative>1 Apr 1970</);
  assert.match(page, /3 Jan 1970, 00:00 UTC/);
  assert.equal(page.match(/<code>d2<\/code>/), null, "what is named by its id is named once");
  assert.deepEqual(page.match(/id="device-revoke-\w+"/g), [
    'id="device-revoke-d1"',
    'id="device-revoke-d2"',
    'id="device-revoke-d4"',
  ]);
  assert.match(text(managePage({ ...view, state: {} })), /Device revoked\./);
});

test("a page without devices offers the first one in the list alone", () => {
  const section = html`<a id="device-add" href="#register">Register device</a>`;
  const empty = { ...view, devices: { section, isEmpty: true }, codes: [], input: emptyRegisterInput };
  const page = text(managePage({ ...empty, done: undefined, state: {} }));
  assert.equal(page.match(/id="device-add"/g)?.length, 1);
  assert.doesNotMatch(page, /id="codes-title"|form-notice/);
});

test("an open code shows its policy, creator and replaced device", () => {
  const page = text(managePage(view));
  assert.match(page, /Kiosk<\/bdi> <span class="tag">TPM required<\/span>/);
  assert.match(
    page,
    /Until <time [^>]*>2 Jan 1970, 00:00 UTC<\/time>, created by ada@acme\.example on 1 Jan 1970/,
  );
  assert.match(page, /Replaces Till 4/);
  assert.match(page, /Unnamed device/);
  assert.match(page, /created by the operator/);
  assert.match(page, /id="codes-all" href="\/manage\/codes"/);
  assert.match(page, /href="\/manage\/codes\/c1\/withdraw" aria-label="Withdraw the code for Kiosk"/);
});

test("the form keeps its input, shows errors at fields, and offers stricter policies only", () => {
  const page = text(managePage(view));
  assert.match(page, /id="form-notice" role="alert"/);
  assert.match(
    page,
    /value="x" [^>]*aria-describedby="replaces-hint replaces-fault" aria-invalid="true" autofocus/,
  );
  assert.match(page, /id="replaces-fault">This device doesn’t exist/);
  assert.match(page, /value="Kiosk"/);
  assert.match(page, /<option value="3600" selected>1 hour</);
  assert.match(page, /<option value="required" selected>Required</);
  assert.match(page, /<option value="604800">7 days</);
  const optionsWith = (one: ManageView["policy"]) => {
    const [, select = ""] =
      /name="attestation"[^>]*>(.*?)<\/select>/.exec(text(managePage({ ...view, policy: one }))) ?? [];
    return [...select.matchAll(/value="(\w+)"/g)].map(([, value]) => value);
  };
  assert.deepEqual(optionsWith("none"), ["none", "optional", "required"]);
  assert.deepEqual(optionsWith("optional"), ["none", "required"]);
  assert.deepEqual(optionsWith("required"), ["none"]);
});

test("the policy page shows the policy, the trust lists and their commands", () => {
  const page = text(devicePolicyPage(policy));
  assert.match(page, /id="attestation-required" name="attestation" value="required" checked/);
  assert.match(page, /id="ekTrust-both" name="ekTrust" value="both" checked/);
  assert.equal(page.match(/ checked/g)?.length, 2);
  assert.match(page, /CN=Vendor<\/bdi><\/span> <code>00ff<\/code>/);
  assert.match(page, /The first 1 are shown\./);
  assert.match(page, /signet device-roots list/);
  assert.match(page, /No key added yet: no TPM is trusted by its key\./);
  assert.match(page, /Policy saved\./);
  assert.match(page, /Last changed by ada@acme\.example/);
  const late = text(devicePolicyPage({ ...policy, isSaved: false, failure: { kind: "expired" } }));
  assert.match(late, /id="form-notice" role="alert"/);
});

test("devices over time, with their ranges, the table behind the chart, and how many there are now", () => {
  const body = render(managePage(view));
  const [, chart = ""] = /id="devices-by-state"([\s\S]*?)<\/figure>/.exec(body) ?? [];
  assert.match(body, /id="range-90d" href="\/manage\?range=90d#devices-by-state"/);
  assert.deepEqual(
    [...chart.matchAll(/<tr><th scope="row">([^<]*)<\/th><td>(\d)<\/td><td>(\d)<\/td><td>(\d)<\/td>/g)].map(
      ([, ...cells]) => cells,
    ),
    [
      ["Monday", "1", "0", "0"],
      ["Tuesday", "2", "0", "1"],
    ],
  );
  assert.deepEqual(
    [...chart.matchAll(/<dd>(\d)/g)].map(([, count]) => count),
    ["2", "0", "1"],
  );
  const none = render(managePage({ ...view, devices: { section: html``, isEmpty: true } }));
  assert.doesNotMatch(none, /id="devices-by-state"/);
});
