/** Devices that come to be enrolled and renewed in a test, with keys in memory, over real HTTP. */
import type { KeyObject } from "node:crypto";
import { csrPem, makeKeyCsr } from "@signet/protocol/make-csr";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { type DeviceRegistration, registerDevice } from "../features/device-identity/register-device.ts";
import type { Service } from "../open-service.ts";
import { clientCertHeader } from "./enrolled-device.ts";
import { type Answer, postJson } from "./test-client.ts";

/** A code of the organisation, as its administrator sees it once. */
export const newCode = async (
  service: Service,
  orgId: string,
  more: Partial<DeviceRegistration> = {},
): Promise<string> => (await registerDevice(service, { orgId, actor: "test", ...more })).code;

/** PEM. */
export const csrOf = async (key: KeyObject): Promise<string> => csrPem(await makeKeyCsr(key));

/** POST enroll. @param issuer of the organisation */
export const enrol = async (issuer: string, code: string, key: KeyObject = newEcKey()): Promise<Answer> =>
  postJson(`${issuer}/devices/enroll`, { code, csr: await csrOf(key) });

export interface TestEnrolment {
  readonly deviceId: string;
  readonly key: KeyObject;
  /** PEM. */
  readonly certificate: string;
  readonly der: Buffer;
}

/** From the code to the certificate. */
export async function enrolledByCode(
  service: Service,
  issuer: string,
  more: Partial<DeviceRegistration> = {},
): Promise<TestEnrolment> {
  const key = newEcKey();
  const orgId = issuer.slice(issuer.lastIndexOf("/") + 1);
  const answer = await enrol(issuer, await newCode(service, orgId, more), key);
  if (answer.status !== 201) throw new Error(`not enrolled: ${answer.status} ${JSON.stringify(answer.body)}`);
  return enrolmentOf(answer, key);
}

export function enrolmentOf({ body }: Answer, key: KeyObject): TestEnrolment {
  const certificate = String(body["certificate"]);
  return { deviceId: String(body["device_id"]), key, certificate, der: derOf(certificate) };
}

export const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");

/** POST renew by the listener of proxies. @param devices its address with the path of the organisation's devices */
export const renew = (
  devices: string,
  shown: Buffer | undefined,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> =>
  postJson(`${devices}/renew`, body, shown ? { "client-cert": clientCertHeader(shown) } : {});
