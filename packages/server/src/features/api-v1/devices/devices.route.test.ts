import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { enrolledDevice, renewedDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { enrol } from "../../../testing/fixtures/enrolments.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const HOUR_MS = 3_600_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:devices:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const items = async (path: string, by = api) => {
    const { status, body } = await by.call("GET", path);
    assert.equal(status, 200, JSON.stringify(body));
    return body["items"] as Array<Record<string, unknown>>;
  };
  const newCode = async (more: object = {}) => {
    const { status, body, headers } = await api.call("POST", "/enrollment-codes", { body: more });
    assert.equal(status, 201, JSON.stringify(body));
    return { path: `/enrollment-codes/${body["id"]}`, code: String(body["code"]), body, headers };
  };

  test("nobody enrols a device that could be a client with more scopes than the caller has", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const client = (more: object) =>
      makeClient(running.service, other.organisation, {
        grantTypes: ["client_credentials"],
        allowedScopes: ["signet:users:write"],
        tokenEndpointAuthMethod: "tls_client_auth",
        ...more,
      });
    await client({ tlsClientAuthSanUri: "urn:uuid:01998d6e-0000-7000-8000-000000000000" });
    const devices = await makeApiClient(running.service, other, ["signet:devices:write"]);
    const create = (by: ApiClient) => by.call("POST", "/enrollment-codes", { body: {} });
    assert.equal((await create(devices)).status, 201, "another device's client is out of reach");
    await client({});
    const { status, body } = await create(devices);
    assert.deepEqual([status, body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const more = await makeApiClient(running.service, other, ["signet:devices:write", "signet:users:write"]);
    assert.equal((await create(more)).status, 201);
  });

  test("a code enrols one device, which is then shown, and revoked with its certificate", async () => {
    const { path, code, body, headers } = await newCode({ name: "Till 4" });
    assert.match(code, /^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
    assert.ok(headers.get("location")?.endsWith(path));
    assert.deepEqual([body["state"], body["deviceId"], body["attestation"]], ["open", null, "none"]);
    const unused = await api.call("GET", path);
    const enrolled = await enrol(org.issuer, code);
    assert.equal(enrolled.status, 201);
    const id = String(enrolled.body["device_id"]);
    const used = await api.call("GET", path);
    assert.deepEqual([used.body["state"], used.body["deviceId"]], ["used", id]);
    assert.notEqual(used.headers.get("etag"), unused.headers.get("etag"));
    assert.ok(!JSON.stringify(used.body).includes(code.slice(0, 11)));
    assert.equal((await enrol(org.issuer, code)).status, 401);

    const device = await api.call("GET", `/devices/${id}`);
    const latest = device.body["certificate"] as Record<string, unknown>;
    assert.deepEqual([device.body["name"], device.body["state"]], ["Till 4", "active"]);
    const [certificate] = await items(`/devices/${id}/certificates`);
    assert.deepEqual([certificate?.["id"], certificate?.["status"]], [latest["id"], "good"]);
    assert.deepEqual(await items(`/devices?filter=${encodeURIComponent(`id eq "${id}"`)}`), [device.body]);

    const revoke = (reason: string, ifMatch = device.headers.get("etag") ?? "") =>
      api.call("POST", `/devices/${id}/revoke`, { body: { reason }, headers: { "if-match": ifMatch } });
    assert.equal((await revoke("superseded", '"other"')).status, 412);
    const revoked = await revoke("keyCompromise");
    assert.deepEqual(
      [revoked.status, revoked.body["state"], revoked.body["revokedReason"]],
      [200, "revoked", "keyCompromise"],
    );
    assert.equal((await items(`/devices/${id}/certificates`))[0]?.["status"], "revoked");
    const again = await revoke("superseded", revoked.headers.get("etag") ?? "");
    assert.deepEqual([again.status, again.body["revokedReason"]], [200, "keyCompromise"], "the first one");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 10);
    const revocations = events.filter(({ action, target }) => action === "device.revoked" && target === id);
    assert.deepEqual(
      revocations.map(({ actor }) => actor),
      [`client:${api.application.id}`],
    );
  });

  test("a replaced device is revoked when the other one is enrolled", async () => {
    const { id } = await enrolledDevice(running.service, org.organisation.id);
    const { code } = await newCode({ replaces: id.toUpperCase() });
    assert.equal((await enrol(org.issuer, code)).status, 201);
    const { body } = await api.call("GET", `/devices/${id}`);
    assert.deepEqual([body["state"], body["revokedReason"]], ["revoked", "superseded"]);
    const other = await makeOrganisation(running.service, "Beta");
    const foreign = await enrolledDevice(running.service, other.organisation.id);
    const refused = await api.call("POST", "/enrollment-codes", { body: { replaces: foreign.id } });
    assert.deepEqual(
      [refused.status, (refused.body["errors"] as Array<{ path: string }>)[0]?.path],
      [422, "/replaces"],
    );
  });

  test("a withdrawn code enrols nothing, however often it is withdrawn; a used one cannot be", async () => {
    const { path, code } = await newCode();
    for (let time = 0; time < 2; time++) {
      const { status, body } = await api.call("POST", `${path}/withdraw`);
      assert.deepEqual([status, body["state"]], [200, "withdrawn"]);
    }
    assert.equal((await enrol(org.issuer, code)).status, 401);
    const used = await newCode();
    assert.equal((await enrol(org.issuer, used.code)).status, 201);
    const refused = await api.call("POST", `${used.path}/withdraw`);
    assert.deepEqual([refused.status, refused.body["type"]], [409, "urn:signet:error:conflict"]);
  });

  test("a fault names its member", async () => {
    for (const [body, path] of [
      [{ name: "\u0001" }, "/name"],
      [{ attestation: "perhaps" }, "/attestation"],
      [{ expiresInSeconds: 1 }, "/expiresInSeconds"],
    ] as const) {
      const refused = await api.call("POST", "/enrollment-codes", { body });
      const [fault] = refused.body["errors"] as Array<{ path: string }>;
      assert.deepEqual([refused.status, fault?.path], [422, path], JSON.stringify(refused.body));
    }
  });

  test("a repeated request makes one code and shows it once", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const ask = () => api.call("POST", "/enrollment-codes", { body: { name: "Once" }, headers });
    const [first, again] = [await ask(), await ask()];
    assert.deepEqual([again.status, again.body["id"], again.body["code"]], [201, first.body["id"], null]);
    assert.equal((await items(`/enrollment-codes?filter=${encodeURIComponent('name eq "Once"')}`)).length, 1);
  });

  test("states follow the clock, in records and filters alike, and change no tag", async () => {
    const later = await makeOrganisation(running.service, "Gamma");
    const reader = await makeApiClient(running.service, later, ["signet:devices:write"]);
    const device = await enrolledDevice(running.service, later.organisation.id);
    await renewedDevice(running.service, device);
    const made = await reader.call("POST", "/enrollment-codes", { body: { expiresInSeconds: 600 } });
    const [code, shown] = [`/enrollment-codes/${made.body["id"]}`, `/devices/${device.id}`];
    const read = async (path: string) => {
      const { body, headers } = await reader.call("GET", path, { accessToken: await fresher() });
      return { state: body["state"], etag: headers.get("etag") };
    };
    const fresher = async () =>
      (await makeApiClient(running.service, later, ["signet:devices:read"])).accessToken;
    const found = async (list: string, state: string) => {
      const filter = encodeURIComponent(`state eq "${state}"`);
      const { body } = await reader.call("GET", `${list}?filter=${filter}&total=true`, {
        accessToken: await fresher(),
      });
      return body["total"];
    };
    const before = [await read(code), await read(shown)];
    assert.deepEqual(
      before.map(({ state }) => state),
      ["open", "active"],
    );
    assert.deepEqual([await found("/enrollment-codes", "open"), await found("/devices", "active")], [1, 1]);
    clock.advance(24 * 366 * HOUR_MS);
    const after = [await read(code), await read(shown)];
    assert.deepEqual(
      after.map(({ state }) => state),
      ["expired", "expired"],
    );
    assert.deepEqual(
      after.map(({ etag }) => etag),
      before.map(({ etag }) => etag),
    );
    assert.deepEqual([await found("/enrollment-codes", "open"), await found("/devices", "active")], [0, 0]);
    assert.deepEqual(
      [await found("/enrollment-codes", "expired"), await found("/devices", "expired")],
      [1, 1],
    );
  });

  test("lists go on where a page ended", async () => {
    const many = await makeOrganisation(running.service, "Delta");
    const reader = await makeApiClient(running.service, many, ["signet:devices:read"]);
    const ids: string[] = [];
    for (let count = 0; count < 5; count++)
      ids.push((await enrolledDevice(running.service, many.organisation.id)).id);
    const walked: unknown[] = [];
    let cursor = "";
    do {
      const { body } = await reader.call("GET", `/devices?limit=2&sort=-createdAt&cursor=${cursor}`);
      walked.push(...(body["items"] as Array<{ id: string }>).map(({ id }) => id));
      cursor = String(body["nextCursor"] ?? "");
    } while (cursor !== "");
    assert.deepEqual(walked, ids.reverse());
  });

  test("of acts that name one state of a record at once, one is done and the others are refused", async () => {
    const few = await makeOrganisation(running.service, "Epsilon");
    const writer = await makeApiClient(running.service, few, ["signet:devices:write"]);
    for (let count = 0; count < 4; count++) {
      const device = await enrolledDevice(running.service, few.organisation.id);
      const code = await writer.call("POST", "/enrollment-codes", { body: {} });
      for (const [path, act] of [
        [`/devices/${device.id}`, "revoke"],
        [`/enrollment-codes/${code.body["id"]}`, "withdraw"],
      ] as const) {
        const etag = (await writer.call("GET", path)).headers.get("etag") ?? "";
        clock.advance(1_000);
        const headers = { "if-match": etag };
        const answers = await Promise.all(
          Array.from({ length: 6 }, () => writer.call("POST", `${path}/${act}`, { body: {}, headers })),
        );
        const statuses = answers.map(({ status }) => status).toSorted();
        assert.deepEqual(statuses, [200, 412, 412, 412, 412, 412], act);
      }
    }
  });
});
