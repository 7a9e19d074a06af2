/** What the service says of this device's certificate, and what is done when it says that it is revoked. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { reasonOf } from "./log.ts";
import type { DeviceService } from "./service/device-service.ts";
import { type CertificateStatus, ocspRequest, readOcspResponse } from "./service/ocsp.ts";
import { readRecord, writeRecord } from "./state/device-record.ts";
import { type EnrolledDevice, issuerAmong } from "./state/enrolled-device.ts";
import { withLock } from "./state/lock.ts";

/** @throws ServiceRefusal, CallFailed, OcspFault. @param now milliseconds */
export async function askStanding(
  { certificate, authorities }: Pick<EnrolledDevice, "certificate" | "authorities">,
  service: DeviceService,
  now: number,
): Promise<CertificateStatus> {
  const issuer = issuerAmong({ certificate, authorities });
  if (!issuer) throw new Error("the certificate's CA is not in ca.pem");
  const response = await service.ocsp(ocspRequest(certificate, issuer));
  return readOcspResponse(response, { certificate, issuer, now });
}

export interface Notice {
  /** In ISO 8601. */
  readonly revokedAt: string;
  /** A program that is to hear of it. */
  readonly hook: string | undefined;
  readonly tell: (line: string) => void;
}

/** RFC 5280 §5.3.1. */
const reasons: Readonly<Record<number, string>> = {
  1: "its key was compromised",
  4: "it was superseded",
  5: "it is out of operation",
};

export const revocationText = ({ at, reason }: { at: string; reason: number | undefined }): string =>
  `the device was revoked at ${at}${reason === undefined || !reasons[reason] ? "" : `: ${reasons[reason]}`}`;

/**
 * Marks the state folder, and lets the program hear of it: once, unless it fails. Only what the organisation's CA has signed
 * leads here, so that nobody else can make a device give itself up.
 */
export async function noteRevoked({ state, deviceId }: EnrolledDevice, notice: Notice): Promise<void> {
  await withLock(state, async () => {
    const record = await readRecord(state);
    if (!record || record.isRevocationTold) return;
    const marked = { ...record, revokedAt: record.revokedAt ?? notice.revokedAt };
    await writeRecord(state, marked);
    if (notice.hook === undefined) return;
    const environment = {
      SIGNET_DEVICE_ID: deviceId,
      SIGNET_ORGANISATION: record.organisation,
      SIGNET_DEVICE_STATE: state,
      SIGNET_REVOKED_AT: marked.revokedAt,
    };
    try {
      await runHook(notice.hook, environment);
      await writeRecord(state, { ...marked, isRevocationTold: true });
      notice.tell(`${notice.hook} was told of the revocation`);
    } catch (error) {
      notice.tell(`${notice.hook} was not told of the revocation: ${reasonOf(error)}`);
    }
  });
}

const HOOK_MS = 60_000;

/** A program, not a line for a shell: nothing that a service said is ever read as a command. */
async function runHook(program: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(program, [], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: HOOK_MS,
    killSignal: "SIGKILL",
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code !== 0) throw new Error(code === null ? `it was ended by ${signal}` : `it ended with ${code}`);
}
