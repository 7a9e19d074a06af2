/** `renew --daemon`: looks at the certificate every day, renews it from two thirds of its life on, and ends when it is no use to go on. */
import { backoff } from "./backoff.ts";
import { Ended, exitCodes } from "./exit-codes.ts";
import { type Log, reasonOf } from "./log.ts";
import { renew } from "./renewal.ts";
import { type DeviceService, ServiceRefusal } from "./service/device-service.ts";
import { CallFailed } from "./service/http-call.ts";
import { askStanding, noteRevoked, revocationText } from "./standing.ts";
import { daysLeft, type EnrolledDevice, readEnrolledDevice, validityOf } from "./state/enrolled-device.ts";
import { StateBusy } from "./state/lock.ts";

export interface Keeping {
  readonly state: string;
  /** Made anew for each look: the roots that it trusts are read from their file. */
  readonly serviceOf: (device: EnrolledDevice) => Promise<DeviceService>;
  readonly withNewKey: boolean;
  readonly hook: string | undefined;
  readonly log: Log;
  readonly clock: () => number;
  readonly random: () => number;
  /** Ends early, without an error, when the program is to stop. */
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly stopped: () => boolean;
}

const DAY_MS = 86_400_000;
/** Devices that were enrolled together must not come back together. */
const FIRST_LOOK_MS = 300_000;

/** Until told to stop. @throws Ended when the device is revoked, its certificate expired, or nothing is enrolled */
export async function keepRenewed(keeping: Keeping): Promise<void> {
  const { log, wait, stopped, random } = keeping;
  const failures = backoff(random);
  const device = await readEnrolledDevice(keeping.state);
  log("info", "renewal watched", factsOf(device, keeping));
  await wait(random() * FIRST_LOOK_MS);
  while (!stopped()) {
    let pause = DAY_MS * (0.75 + random() / 2);
    try {
      await look(keeping);
      failures.reset();
    } catch (error) {
      if (error instanceof Ended) throw error;
      const isPassing = isPassingTrouble(error);
      const asked = error instanceof ServiceRefusal ? error.retryAfter : undefined;
      if (isPassing) pause = Math.min(pause, failures.next(asked));
      const seconds = Math.round(pause / 1000);
      log(isPassing ? "warn" : "error", "not renewed", { reason: reasonOf(error), nextTrySeconds: seconds });
    }
    await wait(pause);
  }
}

/** What another try may mend, without anybody doing something. */
export const isPassingTrouble = (error: unknown): boolean =>
  error instanceof CallFailed ||
  error instanceof StateBusy ||
  (error instanceof ServiceRefusal && error.isPassing);

/** One look: renews when it is time. @throws Ended when there is no use in going on */
export async function look(keeping: Keeping): Promise<void> {
  const device = await readEnrolledDevice(keeping.state);
  const now = keeping.clock();
  const validity = validityOf(device.certificate);
  const service = await keeping.serviceOf(device);
  await endWhenRevoked(keeping, device, service);
  if (validity.notAfter <= now)
    throw new Ended(
      exitCodes.expired,
      "the certificate has expired: enrol this device anew, with a new code",
    );
  if (validity.renewFrom > now) return;
  const { state, withNewKey, log } = keeping;
  const renewed = await renew({ state, service, withNewKey });
  log("info", "renewed", factsOf(renewed, keeping));
}

/** Once a day, whether or not it is time to renew: a device that was taken out of service should know. */
async function endWhenRevoked(
  keeping: Keeping,
  device: EnrolledDevice,
  service: DeviceService,
): Promise<void> {
  const { log, hook, clock } = keeping;
  const tell = (line: string) => log("info", line);
  const { revokedAt } = device.record;
  if (revokedAt !== undefined) {
    await noteRevoked(device, { revokedAt, hook, tell });
    throw new Ended(exitCodes.revoked, `the device was revoked at ${revokedAt}`);
  }
  const standing = await askStanding(device, service, clock()).catch((error: unknown) => {
    // The renewal itself, when it is due, asks again by its own means.
    log("warn", "the certificate's standing is not known", { reason: reasonOf(error) });
  });
  if (standing?.kind !== "revoked") return;
  await noteRevoked(device, { revokedAt: standing.at, hook, tell });
  throw new Ended(exitCodes.revoked, revocationText(standing));
}

function factsOf(
  { deviceId, certificate }: EnrolledDevice,
  { clock }: Keeping,
): Readonly<Record<string, unknown>> {
  const validity = validityOf(certificate);
  return {
    device: deviceId,
    notAfter: new Date(validity.notAfter).toISOString(),
    daysLeft: daysLeft(validity, clock()),
    renewFrom: new Date(validity.renewFrom).toISOString(),
  };
}
