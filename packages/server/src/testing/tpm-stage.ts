/** A server with an organisation that believes one vendor's TPMs, for tests of enrolment with them over HTTP. */
import assert from "node:assert/strict";
import type { OrganisationSettings } from "../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../core/organisations/organisations.ts";
import { importRoots } from "../features/device-identity/ek-trust/roots.ts";
import { readTrustFile } from "../features/device-identity/ek-trust/trust-file.ts";
import { type DeviceRegistration, registerDevice } from "../features/device-identity/register-device.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import {
  activated,
  type Begun,
  beginBody,
  type Crooked,
  completeBody,
  postJson,
  type SoftTpmDevice,
  type SoftVendor,
  softVendor,
  type Told,
} from "./soft-tpm-device.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "./test-service.ts";

export interface TpmStage {
  readonly running: TestService;
  readonly clock: FakeClock;
  readonly org: TestOrganisation;
  readonly orgId: string;
  readonly vendor: SoftVendor;
  /** Another organisation that believes the same vendor. */
  anotherOrganisation(name: string): Promise<TestOrganisation>;
  /** Whose roots, in PEM or DER, the organisation believes as well. */
  believe(root: Buffer): Promise<void>;
  newCode(more?: Partial<DeviceRegistration>): Promise<string>;
  settings(changed: Partial<OrganisationSettings>): Promise<void>;
  call(path: "begin" | "complete", body: unknown, at?: TestOrganisation): Promise<Told>;
  begin(device: SoftTpmDevice, code: string, at?: TestOrganisation): Promise<Told>;
  /** Fails unless a challenge came, and reads it. */
  begun(device: SoftTpmDevice, code: string): Promise<Begun>;
  /** What `complete` is sent once `begin` has been answered. */
  answer(
    device: SoftTpmDevice,
    code: string,
    crooked?: Crooked,
  ): Promise<Awaited<ReturnType<typeof completeBody>>>;
  /** From the beginning to the end. */
  enrol(device: SoftTpmDevice, code: string, crooked?: Crooked): Promise<Told>;
  close(): Promise<void>;
}

export async function tpmStage(databaseUrl: string): Promise<TpmStage> {
  const clock = fakeClock();
  // What counts requests has tests of its own, and these send hundreds.
  const env = { SIGNET_RATE_LIMITS: "enrollment-address=1000000/60,enrollment-code-address=1000/60" };
  const running = await startTestService({ databaseUrl, clock, env });
  const { service } = running;
  const vendor = softVendor();
  const trust = (orgId: string, root: Buffer) =>
    importRoots(service, { orgId, actor: "test" }, [readTrustFile("root", root)]);
  const anotherOrganisation = async (name: string) => {
    const made = await makeOrganisation(service, name);
    await trust(made.organisation.id, Buffer.from(vendor.root.pem));
    return made;
  };
  const org = await anotherOrganisation("Acme");
  const { id: orgId } = org.organisation;
  const call: TpmStage["call"] = (path, body, at = org) =>
    postJson(`${at.issuer}/devices/enroll/${path}`, body);
  const begin: TpmStage["begin"] = (device, code, at) => call("begin", beginBody(device, code), at);
  const begun: TpmStage["begun"] = async (device, code) => {
    const { status, body } = await begin(device, code);
    assert.equal(status, 200, JSON.stringify(body));
    return activated(device, body);
  };
  const answer: TpmStage["answer"] = async (device, code, crooked) =>
    completeBody(device, orgId, await begun(device, code), crooked);
  return {
    running,
    clock,
    org,
    orgId,
    vendor,
    anotherOrganisation,
    believe: async (root) => void (await trust(orgId, root)),
    newCode: async (more = {}) => (await registerDevice(service, { orgId, actor: "test", ...more })).code,
    settings: async (settings) =>
      void (await changeOrganisationSettings(service, { orgId, settings, actor: "test" })),
    call,
    begin,
    begun,
    answer,
    enrol: async (device, code, crooked) => call("complete", await answer(device, code, crooked)),
    close: async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    },
  };
}

export const refused = (told: Told, status: number, error: string, what = error): void =>
  assert.deepEqual([told.status, told.body["error"]], [status, error], what);
