/** Asks the CA for the certificate's status, and acts on a revocation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { ExitError } from "@signet/cli-runtime/command";
import { describeError } from "@signet/cli-runtime/redact";
import { exitCodes } from "../exit-codes.ts";
import type { DeviceService } from "../service/device-service.ts";
import { type CertificateStatus, ocspRequest, readOcspResponse } from "../service/ocsp.ts";
import { lockState, readRecord, writeRecord } from "../state/device-record.ts";
import { type EnrolledDevice, issuerOf } from "../state/enrolled-device.ts";

/** @param now milliseconds. @throws ServiceRefusal, CallFailed, OcspFault */
export async function queryStatus(
  { certificate, authorities }: Pick<EnrolledDevice, "certificate" | "authorities">,
  service: DeviceService,
  now: number,
): Promise<CertificateStatus> {
  const issuer = issuerOf(certificate, authorities);
  if (!issuer) throw new Error("the certificate's CA is not in ca.pem");
  const response = await service.ocsp(ocspRequest(certificate, issuer));
  return readOcspResponse(response, { certificate, issuer, now });
}

/** CRLReason (RFC 5280 §5.3.1). */
const reasons: Readonly<Record<number, string>> = {
  1: "key compromise",
  4: "superseded",
  5: "cessation of operation",
};

export const describeRevocation = ({ at, reason = 0 }: { at: string; reason: number | undefined }): string =>
  `the device was revoked at ${at}${reasons[reason] ? `: ${reasons[reason]}` : ""}`;

interface RevocationHook {
  /** A program to notify. */
  readonly hook: string | undefined;
  readonly report: (line: string) => void;
}

/** Nothing for any other status. @throws ExitError once the revocation is recorded */
export async function exitIfRevoked(
  status: CertificateStatus | undefined,
  device: EnrolledDevice,
  hook: RevocationHook,
  cause?: unknown,
): Promise<void> {
  if (status?.kind !== "revoked") return;
  await recordRevocation(device, { revokedAt: status.at, ...hook });
  throw new ExitError(exitCodes.revoked, describeRevocation(status), { cause });
}

/**
 * Marks the state folder and runs the hook until it has succeeded once. Only a status signed by the CA leads here.
 * @param revocation.revokedAt ISO 8601
 */
export async function recordRevocation(
  { state, deviceId }: EnrolledDevice,
  { revokedAt, hook, report }: RevocationHook & { readonly revokedAt: string },
): Promise<void> {
  await lockState(state, async () => {
    const record = await readRecord(state);
    if (!record || record.isRevocationTold) return;
    const marked = { ...record, revokedAt: record.revokedAt ?? revokedAt };
    await writeRecord(state, marked);
    if (hook === undefined) return;
    const environment = {
      SIGNET_DEVICE_ID: deviceId,
      SIGNET_ORGANISATION: record.organisation,
      SIGNET_DEVICE_STATE: state,
      SIGNET_REVOKED_AT: marked.revokedAt,
    };
    try {
      await runHook(hook, environment);
      await writeRecord(state, { ...marked, isRevocationTold: true });
      report(`${hook} was notified of the revocation`);
    } catch (error) {
      report(`${hook} could not be notified of the revocation: ${describeError(error)}`);
    }
  });
}

const HOOK_TIMEOUT_MS = 60_000;

/** Without a shell: nothing that a service sent is ever read as a command. */
async function runHook(program: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(program, [], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: HOOK_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code !== 0) throw new Error(code === null ? `ended by ${signal}` : `exit code ${code}`);
}
