/** What devices themselves call, and what anybody may read of the device CA. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { revokeDevice } from "../../core/devices/revoke-device.ts";
import { importRoots } from "../../features/device-identity/ek-trust/roots.ts";
import { readTrustFile } from "../../features/device-identity/ek-trust/trust-file.ts";
import {
  activated,
  beginBody,
  completeBody,
  type SoftTpmDevice,
  softTpmDevice,
  softVendor,
} from "../fakes/soft-tpm-device.ts";
import { type Answer, postJson } from "../fixtures/client.ts";
import { csrOf, enrolledByCode, newCode, type TestEnrolment } from "../fixtures/enrolments.ts";
import type { TestOrganisation } from "../test-service.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

const DAY_MS = 86_400_000;

function refused({ status, body, headers }: Answer, expected: number, error: string): void {
  assert.deepEqual([status, body["error"]], [expected, error], JSON.stringify(body));
  assert.equal(typeof body["error_description"], "string");
  assert.equal(headers.get("cache-control"), "no-store");
}

function made({ status, body }: Answer, expected = 201): void {
  assert.equal(status, expected, JSON.stringify(body));
}

const send = ({ a }: ApiWorld, path: string, body: unknown, headers: Record<string, string> = {}) =>
  postJson(`${a.issuer}/devices/${path}`, body, headers);

const codeOf = ({ service }: ApiWorld, { organisation }: TestOrganisation, more = {}) =>
  newCode(service, organisation.id, more);

/** Bodies that no schema takes, beside those of the call itself. */
async function malformed(world: ApiWorld, path: string, bodies: readonly unknown[], headers = {}) {
  for (const body of [{}, [], null, ...bodies])
    refused(await send(world, path, body, headers), 400, "invalid_request");
}

const csr = () => csrOf(newEcKey());

const enroll: ApiCase = {
  happy: async (world) =>
    made(await send(world, "enroll", { code: await codeOf(world, world.a), csr: await csr() })),
  unauthenticated: async (world) => {
    for (const code of ["", "x", "00000-00000-00000-00000-00000"])
      refused(await send(world, "enroll", { code, csr: await csr() }), 401, "invalid_code");
  },
  foreign: async (world) =>
    refused(
      await send(world, "enroll", { code: await codeOf(world, world.b), csr: await csr() }),
      401,
      "invalid_code",
    ),
  forbidden: async (world) => {
    const code = await codeOf(world, world.a, { attestation: "required" });
    refused(await send(world, "enroll", { code, csr: await csr() }), 403, "attestation_required");
  },
  malformed: async (world) => {
    const code = await codeOf(world, world.a);
    await malformed(world, "enroll", [{ code }, { code: 1, csr: "x" }, { code, csr: "x", more: 1 }]);
    refused(await send(world, "enroll", { code, csr: "x" }), 400, "csr_malformed");
  },
};

/** A device whose TPM's vendor is believed at both. */
async function tpmDevice({ service, a, b }: ApiWorld): Promise<SoftTpmDevice> {
  const vendor = softVendor();
  const files = [readTrustFile("root", Buffer.from(vendor.root.pem))];
  for (const { organisation } of [a, b])
    await importRoots(service, { orgId: organisation.id, actor: "test" }, files);
  return softTpmDevice(vendor);
}

const begin: ApiCase = {
  happy: async (world) =>
    made(
      await send(world, "enroll/begin", beginBody(await tpmDevice(world), await codeOf(world, world.a))),
      200,
    ),
  unauthenticated: async (world) =>
    refused(await send(world, "enroll/begin", beginBody(await tpmDevice(world), "x")), 401, "invalid_code"),
  foreign: async (world) => {
    const body = beginBody(await tpmDevice(world), await codeOf(world, world.b));
    refused(await send(world, "enroll/begin", body), 401, "invalid_code");
  },
  forbidden: async (world) => {
    const unknown = softTpmDevice(softVendor());
    const body = beginBody(unknown, await codeOf(world, world.a));
    refused(await send(world, "enroll/begin", body), 403, "ek_untrusted");
  },
  malformed: async (world) => {
    const body = beginBody(await tpmDevice(world), await codeOf(world, world.a));
    await malformed(world, "enroll/begin", [
      { ...body, more: 1 },
      { ...body, ak_public: 1 },
    ]);
    refused(await send(world, "enroll/begin", { ...body, ek_certificate: "AAAA" }), 400, "ek_malformed");
  },
};

/** The body that completes what was begun at an organisation. */
async function completion(world: ApiWorld, at: TestOrganisation) {
  const device = await tpmDevice(world);
  const url = `${at.issuer}/devices/enroll/begin`;
  const { body } = await postJson(url, beginBody(device, await codeOf(world, at)));
  return completeBody(device, at.organisation.id, activated(device, body));
}

const complete: ApiCase = {
  happy: async (world) => made(await send(world, "enroll/complete", await completion(world, world.a))),
  unauthenticated: async (world) => {
    const body = { ...(await completion(world, world.a)), challenge_id: randomUUID() };
    refused(await send(world, "enroll/complete", body), 404, "challenge_not_found");
  },
  foreign: async (world) =>
    refused(
      await send(world, "enroll/complete", await completion(world, world.b)),
      404,
      "challenge_not_found",
    ),
  forbidden: async (world) => {
    const body = { ...(await completion(world, world.a)), secret: "AAAA" };
    refused(await send(world, "enroll/complete", body), 403, "secret_mismatch");
  },
  malformed: async (world) => {
    const body = await completion(world, world.a);
    await malformed(world, "enroll/complete", [
      { ...body, more: 1 },
      { ...body, attest: 1 },
    ]);
  },
};

const shownBy = ({ der }: TestEnrolment) => ({ "x-test-certificate": der.toString("base64") });

async function dueDevice({ service, clock }: ApiWorld, at: TestOrganisation): Promise<TestEnrolment> {
  const device = await enrolledByCode(service, at.issuer);
  clock.advance(61 * DAY_MS);
  return device;
}

const renew: ApiCase = {
  happy: async (world) => {
    const device = await dueDevice(world, world.a);
    made(await send(world, "renew", { csr: await csrOf(device.key) }, shownBy(device)));
  },
  unauthenticated: async (world) => {
    const device = await dueDevice(world, world.a);
    const body = { csr: await csrOf(device.key) };
    for (const headers of [{}, { "x-test-certificate": "AAAA" }])
      assert.equal((await send(world, "renew", body, headers)).status, 401);
  },
  foreign: async (world) => {
    const device = await dueDevice(world, world.b);
    const answer = await send(world, "renew", { csr: await csrOf(device.key) }, shownBy(device));
    assert.equal(answer.status, 401);
  },
  forbidden: async (world) => {
    const device = await dueDevice(world, world.a);
    const { service, a } = world;
    const ending = { orgId: a.organisation.id, deviceId: device.deviceId, reason: "unspecified" } as const;
    await revokeDevice(service, { ...ending, actor: "test" });
    const answer = await send(world, "renew", { csr: await csrOf(device.key) }, shownBy(device));
    assert.equal(answer.status, 401, "revoked");
  },
  malformed: async (world) => {
    const device = await dueDevice(world, world.a);
    await malformed(world, "renew", [{ csr: "x", more: 1 }, { csr: 1 }], shownBy(device));
    refused(await send(world, "renew", { csr: "x" }, shownBy(device)), 400, "csr_malformed");
  },
};

const NO_ORGANISATION = "00000000-0000-7000-8000-000000000000";
const anybody = { none: "anybody may ask" } as const;
const ofAll = { none: "nothing is named but the organisation" } as const;

/** A document for everybody. */
function published(method: "GET" | "POST", path: string, wrong: readonly [string, number][]): ApiCase {
  const ask = ({ a, baseUrl }: ApiWorld, org = a.organisation.id, query = "") =>
    fetch(`${baseUrl}/oauth/${org}/devices/${path}${query}`, {
      method,
      ...(method === "POST"
        ? { headers: { "content-type": "application/ocsp-request" }, body: new Uint8Array([0x30, 0]) }
        : {}),
    });
  return {
    happy: async (world) => assert.equal((await ask(world)).status, 200),
    unauthenticated: anybody,
    foreign: async (world) => assert.equal((await ask(world, NO_ORGANISATION)).status, 404),
    forbidden: anybody,
    malformed:
      wrong.length === 0
        ? ofAll
        : async (world) => {
            for (const [query, status] of wrong)
              assert.equal((await ask(world, undefined, query)).status, status, query);
          },
  };
}

export const deviceCases: ApiCases = {
  "POST /oauth/:org/devices/enroll": enroll,
  "POST /oauth/:org/devices/enroll/begin": begin,
  "POST /oauth/:org/devices/enroll/complete": complete,
  "POST /oauth/:org/devices/renew": renew,
  "GET /oauth/:org/devices/ca.pem": published("GET", "ca.pem", []),
  "GET /oauth/:org/devices/ca.crl": published("GET", "ca.crl", [
    ["?generation=0", 400],
    ["?generation=x", 400],
    ["?generation=1&generation=1", 400],
    ["?generation=999", 404],
  ]),
  "POST /oauth/:org/devices/ocsp": published("POST", "ocsp", []),
  "GET /oauth/:org/devices/ocsp/*": published("GET", "ocsp/MAA%3D", []),
};
