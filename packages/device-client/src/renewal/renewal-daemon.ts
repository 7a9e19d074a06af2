/** `renew --daemon`: checks the certificate every day, renews it when due, and ends when the device cannot be renewed any more. */
import { backoff } from "@signet/cli-runtime/backoff";
import { ExitError } from "@signet/cli-runtime/command";
import { Locked } from "@signet/cli-runtime/exclusive-lock";
import { CallFailed } from "@signet/cli-runtime/http";
import type { Log, LogFields } from "@signet/cli-runtime/log";
import { describeError } from "@signet/cli-runtime/redact";
import { exitCodes } from "../exit-codes.ts";
import { type DeviceService, ServiceRefusal } from "../service/device-service.ts";
import { daysLeft, type EnrolledDevice, readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import { exitIfRevoked, queryStatus, recordRevocation } from "./certificate-status.ts";
import { renew } from "./renew.ts";

export interface RenewalOptions {
  readonly state: string;
  /** Called for each check: the file of trusted roots may change. */
  readonly openService: (device: EnrolledDevice) => Promise<DeviceService>;
  readonly withNewKey: boolean;
  readonly hook: string | undefined;
  readonly log: Log;
  readonly clock: () => number;
  readonly random: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly isStopped: () => boolean;
}

const DAY_MS = 86_400_000;
/** Spreads out devices that start together. */
const MAX_FIRST_PAUSE_MS = 300_000;
export const RENEWAL_BACKOFF = { firstMs: 60_000, maxMs: 6 * 3_600_000, maxRetryAfterMs: DAY_MS };

/** Runs until stopped. @throws ExitError when the device is revoked, expired or not enrolled */
export async function runRenewalDaemon(options: RenewalOptions): Promise<void> {
  const { log, pause, isStopped, random } = options;
  const failures = backoff(RENEWAL_BACKOFF, random);
  const device = await readEnrolledDevice(options.state);
  log("info", "renewal daemon started", describeCertificate(device, options));
  await pause(random() * MAX_FIRST_PAUSE_MS);
  while (!isStopped()) {
    let nextPause = DAY_MS * (0.75 + random() / 2);
    try {
      await renewIfDue(options);
      failures.reset();
    } catch (error) {
      if (error instanceof ExitError) throw error;
      const isPassing = isTransient(error);
      const retryAfter = error instanceof ServiceRefusal ? error.retryAfter : undefined;
      if (isPassing) nextPause = Math.min(nextPause, failures.next(retryAfter));
      const nextTrySeconds = Math.round(nextPause / 1000);
      log(isPassing ? "warn" : "error", "not renewed", { reason: describeError(error), nextTrySeconds });
    }
    await pause(nextPause);
  }
}

/** Another attempt may succeed without anybody's help. */
export const isTransient = (error: unknown): boolean =>
  error instanceof CallFailed ||
  error instanceof Locked ||
  (error instanceof ServiceRefusal && error.isTransient);

/** @throws ExitError when the device is revoked or its certificate has expired */
export async function renewIfDue(options: RenewalOptions): Promise<void> {
  const { state, withNewKey, log, clock } = options;
  const device = await readEnrolledDevice(state);
  const now = clock();
  const { notAfter, renewFrom } = validityOf(device.certificate);
  const service = await options.openService(device);
  await checkRevocation(options, device, service);
  if (notAfter <= now)
    throw new ExitError(
      exitCodes.expired,
      "the certificate has expired: enrol this device again, with a new code",
    );
  if (renewFrom > now) return;
  const renewed = await renew({ state, service, withNewKey });
  log("info", "renewed", describeCertificate(renewed, options));
}

/** On every check, due or not: a device that was taken out of service should know. */
async function checkRevocation(
  { log, hook, clock }: RenewalOptions,
  device: EnrolledDevice,
  service: DeviceService,
): Promise<void> {
  const report = (line: string) => log("info", line);
  const { revokedAt } = device.record;
  if (revokedAt !== undefined) {
    await recordRevocation(device, { revokedAt, hook, report });
    throw new ExitError(exitCodes.revoked, `the device was revoked at ${revokedAt}`);
  }
  const status = await queryStatus(device, service, clock()).catch((error: unknown) => {
    // When a renewal is due, the service itself refuses a revoked device.
    log("warn", "certificate status not known", { reason: describeError(error) });
    return undefined;
  });
  await exitIfRevoked(status, device, { hook, report });
}

function describeCertificate(device: EnrolledDevice, { clock }: RenewalOptions): LogFields {
  const validity = validityOf(device.certificate);
  const [notAfter, renewFrom] = [validity.notAfter, validity.renewFrom].map((time) =>
    new Date(time).toISOString(),
  );
  return { device: device.deviceId, notAfter, daysLeft: daysLeft(validity, clock()), renewFrom };
}
