/** A real service on loopback, with an mTLS listener and an administrator who hands out codes. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { revokeDevice } from "@signet/server/core/devices/revoke-device";
import { registerDevice } from "@signet/server/features/device-identity/admin/register-device";
import {
  type CertificateFixture,
  certificateFixture,
  serviceSettings,
} from "@signet/server/testing/fixtures/certificate-fixture";
import { type TestIo, testIo } from "./test-io.ts";

export interface ServiceHarness extends CertificateFixture {
  /** Removed when the harness is closed. */
  readonly folder: string;
  readonly serverCa: string;
  /** The client, on the service's clock. */
  readonly io: TestIo;
  /** The application that devices act for. */
  readonly clientId: string;
  newCode(more?: { replaces?: string; attestation?: string }): Promise<string>;
  revoke(deviceId: string): Promise<void>;
  /** Enrols with a state folder of that name. @returns the exit code */
  enroll(name: string, code: string, ...more: string[]): Promise<number>;
  state(name: string): string;
}

export async function serviceHarness(): Promise<ServiceHarness> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-device-"));
  const fixture = await certificateFixture(`sqlite:${path.join(folder, "service.db")}`);
  const { running, org, listeners, clock } = fixture;
  const serverCa = path.join(folder, "server-ca.pem");
  await writeFile(serverCa, listeners.own.cert);
  const { application } = await fixture.application({
    ...serviceSettings,
    tlsClientCertificateBoundAccessTokens: true,
  });
  const orgId = org.organisation.id;
  const io = testIo({ clock });
  const state = (name: string) => path.join(folder, name);
  return {
    ...fixture,
    ...{ folder, serverCa, io, state, clientId: application.id },
    newCode: async (more = {}) =>
      (await registerDevice(running.service, { orgId, actor: "test", ...more })).code,
    revoke: async (deviceId) =>
      void (await revokeDevice(running.service, { orgId, deviceId, reason: "keyCompromise", actor: "test" })),
    enroll: async (name, code, ...more) => {
      const place = ["--server", running.baseUrl, "--org", orgId, "--server-ca", serverCa];
      return await io.run("enroll", ...place, "--code", code, "--state", state(name), ...more);
    },
    close: async () => {
      await fixture.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
