/** What the program ends with; service managers and monitoring act on these (docs/device-client.md). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  revoked: 3,
  expired: 4,
  notEnrolled: 5,
  /** Nothing is wrong with the device: the service does not answer, or is too busy. */
  tryLater: 6,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with this code and message. */
export class Ended extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Ended";
    this.exitCode = exitCode;
  }
}
