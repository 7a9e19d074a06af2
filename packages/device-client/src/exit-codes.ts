/** Service managers and monitoring act on these (docs/device-client.md). */
import { baseExitCodes } from "@signet/cli-runtime/command";

export const exitCodes = {
  ...baseExitCodes,
  revoked: 3,
  expired: 4,
  notEnrolled: 5,
  /** Nothing is wrong with the device: the service is down or busy, or another process has the lock. */
  tryLater: 6,
} as const;
