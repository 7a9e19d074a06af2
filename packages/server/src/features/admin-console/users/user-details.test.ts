// The optional details of a user in the console: edited by an administrator of the home organisation, shown as text.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findUser, insertMembership } from "../../../core/users/users.store.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { fullProfile, giveFullProfile } from "../../../testing/fixtures/full-profile.ts";
import { type ConsoleBrowser, consoleBrowser, textOf } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

let running: TestService;
let org: AdministeredOrganisation;
let other: AdministeredOrganisation;
let here: ConsoleBrowser;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await administeredOrganisation(running.service, "Acme");
  other = await administeredOrganisation(running.service, "Beta");
  here = await consoleBrowser(running, org);
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});

const db = () => running.service.database.query;
const details = async () => (await findUser(db(), org.organisation.id, org.user.id))?.details;
const edit = () => `/users/${org.user.id}/edit`;

test("an administrator changes the details, and the audit log names them without their values", async () => {
  const answer = await here.send(edit(), { ...fullProfile.details });
  assert.match(answer.location ?? "", /\?done=saved$/);
  assert.deepEqual(await details(), fullProfile.details);
  const events = await listAuditEvents(db(), org.organisation.id, 10);
  const changed = events.find(({ action }) => action === "user.profile-changed");
  assert.deepEqual(changed?.details, { changed: Object.keys(fullProfile.details) });
  assert.doesNotMatch(JSON.stringify(events), /Umi|Havnegade|0000-02-29/);
  const without = { picture: "", region: "Hovedstaden" };
  await here.send(edit(), without);
  const { picture: _, ...rest } = fullProfile.details;
  assert.deepEqual(await details(), { ...rest, region: "Hovedstaden" });
});

test("faults are shown at their fields, and nothing is saved", async () => {
  const before = await details();
  const refused = await here.send(edit(), { birthdate: "1990-02-30", website: "javascript:alert(1)" });
  assert.equal(refused.status, 400);
  for (const name of ["birthdate", "website"]) assert.ok(textOf(refused, `${name}-fault`), name);
  assert.deepEqual(await details(), before);
});

test("attributes that can't be stored as they were typed are refused", async () => {
  for (const attributes of ['{"a": "\\ud800"}', '{"a": [1e999]}', '{"__proto__": {"a": 1}}']) {
    const refused = await here.send(edit(), { attributes });
    assert.ok(textOf(refused, "attributes-fault"), attributes);
  }
});

test("the record shows them as text, never as a link or a picture", async () => {
  await giveFullProfile(running.service, org);
  const page = await here.get(`/users/${org.user.id}`);
  assert.ok(page.body.includes("Havnegade 12\n2. tv.\n1058 København\nDanmark"));
  for (const uri of ["https://uma.example/", "https://people.example/uma", "https://uma.example/uma.png"]) {
    assert.ok(page.body.includes(`>${uri}</bdi>`), uri);
    assert.ok(!page.body.includes(`="${uri}"`), uri);
  }
});

test("a guest's details are neither shown in the form nor changed by it", async () => {
  await giveFullProfile(running.service, other);
  await insertMembership(db(), {
    orgId: org.organisation.id,
    userId: other.user.id,
    homeOrgId: other.organisation.id,
    role: "Standard",
    now: 1,
  });
  const guest = `/users/${other.user.id}/edit`;
  assert.ok(!(await here.get(guest)).body.includes("more-details"));
  await here.send(guest, { nickname: "Mine", groups: "staff" });
  const stored = await findUser(db(), other.organisation.id, other.user.id);
  assert.equal(stored?.details.nickname, "Umi");
});
