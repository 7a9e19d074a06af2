/** `renew --daemon`: when it checks, how long it pauses, and when it exits, against a stubbed service. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { backoff } from "@signet/cli-runtime/backoff";
import { CallFailed } from "@signet/cli-runtime/http";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import {
  readRequest,
  trustAuthorities,
  writeCertificate,
  writeRequest,
} from "../enrolment/issued-certificate.ts";
import { exitCodes } from "../exit-codes.ts";
import { createDeviceKey, openDeviceKey } from "../keys/open-device-key.ts";
import { type DeviceService, mtlsEndpoints, ServiceRefusal } from "../service/device-service.ts";
import { lockState, makeStateFolder, writeRecord } from "../state/device-record.ts";
import { currentGeneration, newGeneration, useGeneration } from "../state/generations.ts";
import { RENEWAL_BACKOFF, type RenewalOptions, runRenewalDaemon } from "./renewal-daemon.ts";

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

describe("the renewal daemon", () => {
  let folder: string;
  let state: string;
  let count = 0;
  let now = 0;
  let pauses: number[] = [];
  let logged: Array<readonly [string, string]> = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-keep-"));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    count += 1;
    state = path.join(folder, String(count));
    pauses = [];
    logged = [];
    // Certificates have whole seconds.
    now = Math.floor(Date.now() / 1000) * 1000;
    await makeStateFolder(state);
    await trustAuthorities(state, ca.pem);
    await writeRecord(state, record);
    const generation = await newGeneration(state, async (folder) => {
      await createDeviceKey(record.key, folder);
      await writeRequest(folder, await openDeviceKey(record.key, folder));
    });
    await writeCertificate(generation, await issueFor(generation, now, 90));
    await useGeneration(state, generation);
  });

  /** A certificate for the key of a generation. */
  async function issueFor(generation: string, from: number, days: number): Promise<X509Certificate> {
    const { privateKey } = await openDeviceKey(record.key, generation);
    assert.ok(privateKey);
    const validity = { validFrom: new Date(from), validTo: new Date(from + days * DAY_MS) };
    return new X509Certificate(
      testCertificate({ subject: "device", issuer: ca, privateKey, ...validity }).der,
    );
  }

  /** A service that renews as told and answers no OCSP request. */
  function service(renew: () => Promise<void> | void): DeviceService {
    const none = async (): Promise<never> => {
      throw refusal(404, "not_found");
    };
    return {
      ...{
        enroll: none,
        beginEnrolment: none,
        completeEnrolment: none,
        caPem: none,
        ocsp: none,
        token: none,
      },
      metadata: async () => {
        const issuer = `${record.server}/oauth/${record.organisation}`;
        return { issuer, mtls_endpoint_aliases: { token_endpoint: `${issuer}/token` } };
      },
      renew: async (url) => {
        assert.match(url, /\/devices\/renew$/);
        await renew();
        const last = path.join(state, "generations", "2");
        const certificate = (await issueFor(last, now, 90)).toString();
        return { deviceId: "device", certificate, ca: ca.pem, attestation: "none" };
      },
    };
  }

  /** Each pause advances the clock; the daemon stops after so many. */
  const daemonOptions = (renew: () => Promise<void> | void, maxPauses: number): RenewalOptions => ({
    state,
    openService: async () => service(renew),
    withNewKey: false,
    hook: undefined,
    log: (level, message) => void logged.push([level, message]),
    clock: () => now,
    random: () => 0.5,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      now += milliseconds;
    },
    isStopped: () => pauses.length >= maxPauses,
  });
  const renewals = () => logged.filter(([, message]) => message === "renewed").length;

  test("checks every day, and renews after two thirds of the certificate's lifetime", async () => {
    let asked = 0;
    const renew = () => {
      asked += 1;
    };
    await runRenewalDaemon(daemonOptions(renew, 60));
    assert.deepEqual([asked, renewals()], [0, 0]);
    assert.deepEqual([...new Set(pauses.slice(1))], [DAY_MS]);
    pauses = [];
    await runRenewalDaemon(daemonOptions(renew, 5));
    assert.deepEqual([asked, renewals()], [1, 1]);
    assert.match((await currentGeneration(state)) ?? "", /generations\/2$/);
  });

  test("spreads its checks over time", async () => {
    const spread = async (random: number) => {
      pauses = [];
      await runRenewalDaemon({ ...daemonOptions(() => {}, 3), random: () => random });
      return pauses;
    };
    assert.deepEqual(await spread(0), [0, 0.75 * DAY_MS, 0.75 * DAY_MS]);
    assert.deepEqual(await spread(1), [300_000, 1.25 * DAY_MS, 1.25 * DAY_MS]);
  });

  test("after a transient failure it tries again sooner, with growing pauses, and honours Retry-After", async () => {
    now += 61 * DAY_MS;
    const troubles = [
      new CallFailed("no answer"),
      refusal(503, ""),
      refusal(500, ""),
      refusal(429, "", 7200),
    ];
    await runRenewalDaemon(
      daemonOptions(() => {
        const trouble = troubles.shift();
        if (trouble) throw trouble;
      }, 6),
    );
    const minutes = pauses.slice(1).map((milliseconds) => milliseconds / 60_000);
    assert.deepEqual(minutes, [1, 1.5, 2.5, 120.5, 1440]);
    assert.equal(renewals(), 1);
    assert.equal(logged.filter(([level]) => level === "error").length, 0);
  });

  test("after a permanent refusal it pauses a day, and logs an error", async () => {
    now += 61 * DAY_MS;
    await runRenewalDaemon(
      daemonOptions(() => {
        throw refusal(403, "attestation_required");
      }, 3),
    );
    assert.deepEqual(pauses.slice(1), [DAY_MS, DAY_MS]);
    assert.equal(logged.filter(([level]) => level === "error").length, 2);
  });

  test("an interrupted renewal continues with the same request", async () => {
    now += 61 * DAY_MS;
    const requests = new Set<string>();
    let tries = 0;
    await runRenewalDaemon(
      daemonOptions(async () => {
        requests.add((await readRequest(path.join(state, "generations", "2"))).pem);
        tries += 1;
        if (tries < 3) throw new CallFailed("no answer");
      }, 5),
    );
    assert.deepEqual([tries, requests.size, renewals()], [3, 1, 1]);
  });

  test("a key that the service has enrolled before is replaced", async () => {
    now += 61 * DAY_MS;
    const requests: string[] = [];
    await runRenewalDaemon({
      ...daemonOptions(async () => {
        requests.push((await readRequest(path.join(state, "generations", "2"))).pem);
        if (requests.length < 2) throw refusal(409, "key_already_enrolled");
      }, 4),
      withNewKey: true,
    });
    assert.deepEqual([new Set(requests).size, renewals()], [2, 1]);
  });

  test("pauses while another process has the lock", async () => {
    now += 61 * DAY_MS;
    await lockState(state, () => runRenewalDaemon(daemonOptions(() => {}, 3)));
    assert.ok(logged.some(([level, message]) => level === "warn" && message === "not renewed"));
    assert.equal(renewals(), 0);
  });

  test("exits when the certificate has expired", async () => {
    now += 91 * DAY_MS;
    await assert.rejects(runRenewalDaemon(daemonOptions(() => {}, 3)), { exitCode: exitCodes.expired });
  });

  test("a certificate for another key, from another CA or for another device is not used", async () => {
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
      const openService = async () => ({
        ...base,
        renew: async (...call: Parameters<DeviceService["renew"]>) => ({
          ...(await base.renew(...call)),
          ...change,
        }),
      });
      pauses = [];
      await runRenewalDaemon({ ...daemonOptions(() => {}, 2), openService });
      assert.equal(await currentGeneration(state), before, JSON.stringify(Object.keys(change)));
    }
    assert.equal(renewals(), 0);
  });
});

test("mTLS endpoints come from the organisation's own metadata, over https only", async () => {
  const address = { server: "http://localhost:8080", organisation: record.organisation };
  const issuer = `${address.server}/oauth/${address.organisation}`;
  const of = (metadata: object) =>
    mtlsEndpoints({ metadata: async () => metadata } as Pick<DeviceService, "metadata">, address);
  const alias = `https://localhost:8443/oauth/${address.organisation}`;
  const aliases = (token: string) => ({ mtls_endpoint_aliases: { token_endpoint: token } });
  assert.deepEqual(await of({ issuer, ...aliases(`${alias}/token`) }), {
    token: `${alias}/token`,
    renew: `${alias}/devices/renew`,
  });
  const noEndpoint = /no endpoint for client certificates/;
  await assert.rejects(of({ issuer, token_endpoint: `${issuer}/token` }), noEndpoint);
  await assert.rejects(of({ issuer, ...aliases("http://localhost/token") }), noEndpoint);
  await assert.rejects(of({ issuer: `${issuer}0`, ...aliases(`${alias}/token`) }), /issuer is/);
});

test("the pause after a failure doubles up to six hours, and is never zero", () => {
  const least = backoff(RENEWAL_BACKOFF, () => 0);
  assert.deepEqual([least.next(), least.next(3600)], [30_000, 3_600_000]);
  const most = backoff(RENEWAL_BACKOFF, () => 1);
  const pauses = Array.from({ length: 12 }, () => most.next() / 60_000);
  assert.deepEqual(pauses.slice(0, 3), [1.5, 2.5, 4.5]);
  assert.equal(pauses.at(-1), 360.5);
  assert.equal(most.next(10 * 86_400) / 60_000, 1441);
});
