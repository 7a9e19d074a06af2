import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "en";

export const overview = {
  summary: (organisation: string) => `What happens at ${organisation}, and what needs you.`,
  figures: {
    title: "In numbers",
    users: "Users",
    applications: "Applications",
    sessions: "Signed-in browsers",
    devices: "Devices",
    agents: "Agents at work",
    moreThan: (count: number) => `more than ${new Intl.NumberFormat(LOCALE).format(count)}`,
    ofAgents: (count: number) => (count === 1 ? "of 1 agent" : `of ${count} agents`),
  },
  range: {
    label: "Time",
    "24h": "24 hours",
    "7d": "7 days",
    "30d": "30 days",
    "90d": "90 days",
  },
  charts: {
    numbers: "Show the numbers",
    time: "Time (UTC)",
    signIns: "Sign-ins",
    succeeded: "Succeeded",
    failed: "Failed",
    tokens: "Tokens",
    issued: "Issued",
    refused: "Refused",
    agents: "Signing agents",
    agentsAtOnce: "Most at once",
    poolSignatures: "Signatures",
    signed: "Signed",
    from: (milliseconds: number) => `Since ${formatMinute(LOCALE, milliseconds)}, in UTC.`,
  },
  attention: {
    title: "Needs attention",
    none: "Nothing needs you now.",
    poolAway: (name: string) => `No agent of the pool ${name} is at work`,
    poolAwayText: "Its applications get no tokens until one is back.",
    poolEmpty: (name: string) => `The pool ${name} has no agents yet`,
    poolEmptyText: "Nothing signs for it before you register one.",
    secretEnds: (application: string) => `A secret of ${application} ends soon`,
    secretEnded: (application: string) => `A secret of ${application} has ended`,
    secretEndsText: (title: string, milliseconds: number) =>
      `“${title}” is good until ${formatDay(LOCALE, milliseconds)}.`,
    secretEndedText: (title: string, milliseconds: number) =>
      `“${title}” was good until ${formatDay(LOCALE, milliseconds)}.`,
    mailOff: "No mail can be sent",
    mailOffText: "Invitations and new passwords do not arrive until the operator names a mail server.",
    mailFailed: (count: number) =>
      count === 1 ? "One mail could not be delivered" : `${count} mails could not be delivered`,
    mailFailedText: "In the last two days.",
    keyOld: (algorithm: string) => `The signing key for ${algorithm} is old`,
    keyOldText: (milliseconds: number) => `It was made on ${formatDay(LOCALE, milliseconds)}. Rotate it.`,
    caEnds: "The certificate of the device CA ends",
    caEndsText: (milliseconds: number) => `It is good until ${formatDay(LOCALE, milliseconds)}. Rotate it.`,
  },
  events: {
    title: "Newest events",
    all: "Audit log",
    none: "Nothing has happened yet.",
    noneText: "What administrators and users do is written down here.",
  },
  first: {
    title: "First steps",
    text: "Two things, and your organisation is in use.",
    application: "Get an application running",
    applicationText: "Choose what you are building, and copy the values that it needs.",
    quickstart: "Open the quickstart",
    users: "Invite your users",
    usersText: "They get a mail, and choose their own password.",
    invite: "Invite a user",
  },
};
