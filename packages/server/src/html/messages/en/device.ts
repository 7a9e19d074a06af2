/** A device that shows a code (RFC 8628). */
import { formatDuration } from "../format.ts";

const LOCALE = "en";

export const device = {
  heading: "Connect a device",
  signedInAs: "Signed in as",
  otherAccount: "Not you? Use another account",
  explanation: "Enter the code that your device shows.",
  compare: "Compare this code with the one on your device. Continue only if they are the same.",
  code: "Code",
  submit: "Continue",
  failed: "The device is not connected yet",
  wrongCode: "This code is wrong, or too old. Check it, or let your device show a new one.",
  usedCode: "This code was used before. If your device still waits, let it show a new one.",
  rateLimited: (seconds: number) =>
    `There were too many wrong codes. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
  expired: "This page waited too long",
  expiredText: "Nothing was allowed. Continue to try again.",
  question: (application: string) => `Allow ${application} on a device to use your account?`,
  codeOnDevice: "Code on the device",
  device: "It says it is",
  unknownDevice: "It does not say",
  address: "Network address",
  asked: "Asked",
  ago: (seconds: number) =>
    seconds < 60 ? "just now" : `${formatDuration(LOCALE, Math.floor(seconds / 60) * 60)} ago`,
  warning: "Is this device in front of you?",
  warningText:
    "Allow only what you started yourself. If somebody sent you the code or the link, deny: they would get into your account.",
  allow: "Allow",
  deny: "Deny",
  allowedHeading: "Your device is connected",
  allowed: (application: string) => `${application} goes on there in a moment. You can close this page.`,
  deniedHeading: "The device was not let in",
  denied: "It gets nothing of your account. You can close this page.",
};
