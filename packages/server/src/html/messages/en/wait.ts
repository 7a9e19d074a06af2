/** Waiting for the organisation's own agent to sign (sovereign-signing.md §5). */
import { formatDuration } from "../format.ts";

const LOCALE = "en";

export const wait = {
  heading: (organisation: string) => `Waiting for ${organisation} to confirm`,
  explanation: (organisation: string, application: string) =>
    `${organisation} confirms each sign-in to ${application} with its own keys. This takes a moment; then this page goes on by itself.`,
  noAgent: (organisation: string) => `${organisation} cannot confirm right now`,
  noAgentText: (organisation: string, seconds: number) =>
    `Its signing system is not connected. This page keeps trying for ${formatDuration(LOCALE, seconds)}. If nothing happens, tell an administrator of ${organisation}.`,
  withdrawn: "You need not answer any more",
  withdrawnText: "The last question was taken back. If there is another one, it appears here.",
  answered: "Checking your answer",
  answeredText: (organisation: string) => `${organisation} looks at it. This takes a moment.`,
  look: "See whether there is news",
  cancel: "Cancel",
  message: (organisation: string) => `Message from ${organisation}`,
  timeLeft: "Time left",
  offline: "The connection is interrupted. This page tries again by itself.",
  number: {
    heading: "Confirm with this number",
    explanation: (organisation: string) =>
      `Enter it where ${organisation} asks you for it, for example in its app.`,
    label: "Number",
    submit: "I have entered it",
  },
  passkey: {
    heading: "Confirm with your passkey",
    explanation: "Your browser asks for your fingerprint, face, PIN or security key.",
    submit: "Use passkey",
    failed: "Your browser got no passkey. Try again, or cancel.",
    needsScript: "Passkeys need scripts, which are off in this browser.",
  },
  pin: {
    heading: (organisation: string) => `Enter the code from ${organisation}`,
    explanation: "It reaches you in another way, never on this page.",
    label: "Code",
    submit: "Continue",
  },
  question: (organisation: string) => `${organisation} asks you something`,
  confirm: {
    heading: "Do you confirm this?",
    explanation: "Confirm only what you started yourself.",
    submit: "Confirm",
  },
  stale: "Your answer was not used",
  staleText: "The question had changed meanwhile. What counts now is below.",
  pageTooOld: "Your answer was not used",
  pageTooOldText: "This page was too old. Answer again here.",
  signed: (application: string) => `Taking you to ${application}`,
  signedText: (organisation: string) => `${organisation} has confirmed.`,
  goOn: (application: string) => `Continue to ${application}`,
  gone: "There is nothing more to do here",
  goneText: (application: string) =>
    `This browser has gone on to ${application} already. If you do not see it, start again from there.`,
  back: (application: string) => `Go back to ${application}`,
  backOnDevice: "You can close this page. To try again, let your device show a new code.",
  expired: "This took too long",
  expiredText: (organisation: string) =>
    `${organisation} did not confirm in time, and nobody was signed in. Try again in a moment.`,
  refused: (organisation: string) => `${organisation} did not allow this`,
  refusedText: (organisation: string) =>
    `Its own rules decide who is signed in to what. If you think this is a mistake, ask an administrator of ${organisation}.`,
  cancelled: "The sign-in was cancelled",
  cancelledText: (organisation: string) =>
    `Nobody was signed in. If it was not you who cancelled it, tell an administrator of ${organisation}.`,
  wrongAnswer: "The answer was not right",
  wrongAnswerText: "Nobody was signed in. Try again, and answer anew.",
  noAnswer: "There was no answer in time",
  noAnswerText: "Nobody was signed in. Try again when you have at hand what the answer needs.",
  stepUp: (organisation: string) => `${organisation} wants a stronger sign-in`,
  stepUpText: "Nobody was signed in. Try again, and show your second factor when you are asked for it.",
  technical: (organisation: string) => `${organisation} could not confirm`,
  technicalText: (organisation: string) =>
    `Its signing system had a problem. Try again in a moment; if it stays, tell an administrator of ${organisation} the reference below.`,
};
