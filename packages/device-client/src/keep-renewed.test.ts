/** `renew --daemon`: when it looks, how long it waits, and when it gives up; the service is made of functions. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { backoff } from "./backoff.ts";
import { exitCodes } from "./exit-codes.ts";
import { takeAuthorities, writeCertificate } from "./issued.ts";
import { type Keeping, keepRenewed } from "./keep-renewed.ts";
import { createDeviceKey, openDeviceKey } from "./keys/open-device-key.ts";
import { readRequest, writeRequest } from "./request-file.ts";
import { type DeviceService, ServiceRefusal } from "./service/device-service.ts";
import { CallFailed } from "./service/http-call.ts";
import { mtlsEndpoints } from "./service/mtls-endpoints.ts";
import { makeStateFolder, writeRecord } from "./state/device-record.ts";
import { currentGeneration, newGeneration, useGeneration } from "./state/generations.ts";
import { withLock } from "./state/lock.ts";

const DAY_MS = 86_400_000;
const ca = testCertificate({ subject: "ca", isCa: true });
const record = {
  server: "https://id.example",
  organisation: "33333333-3333-4333-8333-333333333333",
  key: { kind: "file" },
  deviceId: "device",
} as const;

const refusal = (status: number, error: string, retryAfter?: number) =>
  new ServiceRefusal({ status, retryAfter, body: Buffer.from(JSON.stringify({ error })) });

describe("renewal that is watched", () => {
  let folder: string;
  let state: string;
  let count = 0;
  let now = 0;
  let waits: number[] = [];
  let logged: Array<readonly [string, string]> = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-keep-"));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    count += 1;
    state = path.join(folder, String(count));
    waits = [];
    logged = [];
    // To the second, as certificates have it.
    now = Math.floor(Date.now() / 1000) * 1000;
    await makeStateFolder(state);
    await takeAuthorities(state, ca.pem);
    await writeRecord(state, record);
    const generation = await newGeneration(state, async (place) => {
      await createDeviceKey(record.key, place);
      await writeRequest(place, await openDeviceKey(record.key, place));
    });
    await writeCertificate(generation, await certified(generation, now, 90));
    await useGeneration(state, generation);
  });

  /** For the key of a generation. */
  async function certified(generation: string, from: number, days: number): Promise<X509Certificate> {
    const { privateKey } = await openDeviceKey(record.key, generation);
    assert.ok(privateKey);
    const validity = { validFrom: new Date(from), validTo: new Date(from + days * DAY_MS) };
    return new X509Certificate(
      testCertificate({ subject: "device", issuer: ca, privateKey, ...validity }).der,
    );
  }

  /** A service that renews as it is told, and is silent about revocation. */
  function service(renew: () => Promise<void> | void): DeviceService {
    const none = async (): Promise<never> => {
      throw refusal(404, "not_found");
    };
    return {
      ...{ enroll: none, begin: none, complete: none, caPem: none, ocsp: none, token: none },
      metadata: async () => {
        const issuer = `${record.server}/oauth/${record.organisation}`;
        return { issuer, mtls_endpoint_aliases: { token_endpoint: `${issuer}/token` } };
      },
      renew: async (url) => {
        assert.match(url, /\/devices\/renew$/);
        await renew();
        const last = path.join(state, "generations", "2");
        const certificate = (await certified(last, now, 90)).toString();
        return { deviceId: "device", certificate, ca: ca.pem, attestation: "none" };
      },
    };
  }

  /** Each wait takes its time on the clock; told to stop after so many. */
  const keeping = (renew: () => Promise<void> | void, mostWaits: number): Keeping => ({
    state,
    serviceOf: async () => service(renew),
    withNewKey: false,
    hook: undefined,
    log: (level, message) => void logged.push([level, message]),
    clock: () => now,
    random: () => 0.5,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
    stopped: () => waits.length >= mostWaits,
  });
  const renewals = () => logged.filter(([, message]) => message === "renewed").length;

  test("looks every day, and renews when two thirds of the certificate's life are over", async () => {
    let asked = 0;
    const renew = () => {
      asked += 1;
    };
    await keepRenewed(keeping(renew, 60));
    assert.deepEqual([asked, renewals()], [0, 0]);
    assert.deepEqual([...new Set(waits.slice(1))], [DAY_MS]);
    waits = [];
    await keepRenewed(keeping(renew, 5));
    assert.deepEqual([asked, renewals()], [1, 1]);
    assert.match((await currentGeneration(state)) ?? "", /generations\/2$/);
  });

  test("does not come back with all the other devices at once", async () => {
    const spread = async (random: number) => {
      waits = [];
      await keepRenewed({ ...keeping(() => {}, 3), random: () => random });
      return waits;
    };
    assert.deepEqual(await spread(0), [0, 0.75 * DAY_MS, 0.75 * DAY_MS]);
    assert.deepEqual(await spread(1), [300_000, 1.25 * DAY_MS, 1.25 * DAY_MS]);
  });

  test("comes back sooner after a failure that will pass, later each time, and as late as it is told", async () => {
    now += 61 * DAY_MS;
    const troubles = [
      new CallFailed("no answer"),
      refusal(503, ""),
      refusal(500, ""),
      refusal(429, "", 7200),
    ];
    await keepRenewed(
      keeping(() => {
        const trouble = troubles.shift();
        if (trouble) throw trouble;
      }, 6),
    );
    const minutes = waits.slice(1).map((milliseconds) => milliseconds / 60_000);
    assert.deepEqual(minutes, [1, 1.5, 2.5, 120.5, 1440]);
    assert.equal(renewals(), 1);
    assert.equal(logged.filter(([level]) => level === "error").length, 0);
  });

  test("waits a day after a refusal that nobody's waiting mends, and says so as an error", async () => {
    now += 61 * DAY_MS;
    await keepRenewed(
      keeping(() => {
        throw refusal(403, "attestation_required");
      }, 3),
    );
    assert.deepEqual(waits.slice(1), [DAY_MS, DAY_MS]);
    assert.equal(logged.filter(([level]) => level === "error").length, 2);
  });

  test("a renewal that was cut off goes on with the same request", async () => {
    now += 61 * DAY_MS;
    const requests = new Set<string>();
    let tries = 0;
    await keepRenewed(
      keeping(async () => {
        requests.add((await readRequest(path.join(state, "generations", "2"))).pem);
        tries += 1;
        if (tries < 3) throw new CallFailed("no answer");
      }, 5),
    );
    assert.deepEqual([tries, requests.size, renewals()], [3, 1, 1]);
  });

  test("a key that the service has seen elsewhere is not sent again", async () => {
    now += 61 * DAY_MS;
    const requests: string[] = [];
    await keepRenewed({
      ...keeping(async () => {
        requests.push((await readRequest(path.join(state, "generations", "2"))).pem);
        if (requests.length < 2) throw refusal(409, "key_already_enrolled");
      }, 4),
      withNewKey: true,
    });
    assert.deepEqual([new Set(requests).size, renewals()], [2, 1]);
  });

  test("waits for another process that works with the folder", async () => {
    now += 61 * DAY_MS;
    await withLock(state, () => keepRenewed(keeping(() => {}, 3)));
    assert.ok(logged.some(([level, message]) => level === "warn" && message === "not renewed"));
    assert.equal(renewals(), 0);
  });

  test("ends when the certificate has expired", async () => {
    now += 91 * DAY_MS;
    await assert.rejects(keepRenewed(keeping(() => {}, 3)), { exitCode: exitCodes.expired });
  });

  test("a certificate for another key, of another CA, or for another device is not taken into use", async () => {
    now += 61 * DAY_MS;
    const before = await currentGeneration(state);
    const stranger = testCertificate({ subject: "device", issuer: ca });
    const otherCa = testCertificate({ subject: "other", isCa: true });
    const answers = [
      { certificate: stranger.pem },
      { ca: otherCa.pem },
      { deviceId: "another" },
      { certificate: "", ca: "" },
    ];
    for (const change of answers) {
      const base = service(() => {});
      const serviceOf = async () => ({
        ...base,
        renew: async (...call: Parameters<DeviceService["renew"]>) => ({
          ...(await base.renew(...call)),
          ...change,
        }),
      });
      waits = [];
      await keepRenewed({ ...keeping(() => {}, 2), serviceOf });
      assert.equal(await currentGeneration(state), before, JSON.stringify(Object.keys(change)));
    }
    assert.equal(renewals(), 0);
  });
});

test("certificates are shown where the organisation's own metadata says, and over https alone", async () => {
  const place = { server: "http://localhost:8080", organisation: record.organisation };
  const issuer = `${place.server}/oauth/${place.organisation}`;
  const of = (metadata: object) =>
    mtlsEndpoints({ metadata: async () => metadata } as Pick<DeviceService, "metadata">, place);
  const alias = `https://localhost:8443/oauth/${place.organisation}`;
  const aliases = (token: string) => ({ mtls_endpoint_aliases: { token_endpoint: token } });
  assert.deepEqual(await of({ issuer, ...aliases(`${alias}/token`) }), {
    token: `${alias}/token`,
    renew: `${alias}/devices/renew`,
  });
  const noPlace = /no address where a device can show its certificate/;
  await assert.rejects(of({ issuer, token_endpoint: `${issuer}/token` }), noPlace);
  await assert.rejects(of({ issuer, ...aliases("http://localhost/token") }), noPlace);
  await assert.rejects(of({ issuer: `${issuer}0`, ...aliases(`${alias}/token`) }), /calls itself/);
});

test("the pause after a failure doubles up to six hours, and never is none", () => {
  const least = backoff(() => 0);
  assert.deepEqual([least.next(), least.next(3600)], [30_000, 3_600_000]);
  const most = backoff(() => 1);
  const pauses = Array.from({ length: 12 }, () => most.next() / 60_000);
  assert.deepEqual(pauses.slice(0, 3), [1.5, 2.5, 4.5]);
  assert.equal(pauses.at(-1), 360.5);
  assert.equal(most.next(10 * 86_400) / 60_000, 1441);
});
