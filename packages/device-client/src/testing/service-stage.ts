/** A real service on loopback, with a listener for certificates, whose administrator hands out codes. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { revokeDevice } from "@signet/server/core/devices/revoke-device";
import { registerDevice } from "@signet/server/features/device-identity/admin/register-device";
import {
  type CertificateScene,
  certificateScene,
  serviceSettings,
} from "@signet/server/testing/fixtures/certificate-fixture";
import { type TestIo, testIo } from "./test-io.ts";

export interface ServiceStage extends CertificateScene {
  /** A folder that is removed with the stage. */
  readonly folder: string;
  readonly serverCa: string;
  /** The client, by the service's clock. */
  readonly io: TestIo;
  /** Of the application that devices speak for. */
  readonly clientId: string;
  newCode(more?: { replaces?: string; attestation?: string }): Promise<string>;
  revoke(deviceId: string): Promise<void>;
  /** Enrols in a folder of that name. @returns the exit code */
  enroll(name: string, code: string, ...more: string[]): Promise<number>;
  state(name: string): string;
}

export async function serviceStage(): Promise<ServiceStage> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-device-"));
  const scene = await certificateScene(`sqlite:${path.join(folder, "service.db")}`);
  const { running, org, listeners, clock } = scene;
  const serverCa = path.join(folder, "server-ca.pem");
  await writeFile(serverCa, listeners.own.cert);
  const { application } = await scene.application({
    ...serviceSettings,
    tlsClientCertificateBoundAccessTokens: true,
  });
  const orgId = org.organisation.id;
  const io = testIo({ clock });
  const state = (name: string) => path.join(folder, name);
  return {
    ...scene,
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
      await scene.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
