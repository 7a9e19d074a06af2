import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "en";

export const overview = {
  summary: (organisation: string) => `What is happening at ${organisation}, and what needs your attention.`,
  figures: {
    title: "In numbers",
    users: "Users",
    applications: "Applications",
    sessions: "Signed-in browsers",
    devices: "Devices",
    agents: "Agents online",
    moreThan: (count: number) => `more than ${new Intl.NumberFormat(LOCALE).format(count)}`,
    ofAgents: (count: number) => (count === 1 ? "of 1 agent" : `of ${count} agents`),
  },
  range: {
    label: "Time range",
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
    signed: "Signed",
    from: (milliseconds: number) => `Since ${formatMinute(LOCALE, milliseconds)}, in UTC.`,
  },
  attention: {
    title: "Needs attention",
    none: "Nothing needs your attention.",
    poolAway: (name: string) => `No agent of the pool ${name} is online`,
    poolAwayText: "Its applications get no tokens until one is back.",
    poolEmpty: (name: string) => `The pool ${name} has no agents yet`,
    poolEmptyText: "It cannot sign until you register one.",
    secretEnds: (application: string) => `A secret of ${application} expires soon`,
    secretEnded: (application: string) => `A secret of ${application} has expired`,
    secretEndsText: (title: string, milliseconds: number) =>
      `“${title}” is valid until ${formatDay(LOCALE, milliseconds)}.`,
    secretEndedText: (title: string, milliseconds: number) =>
      `“${title}” was valid until ${formatDay(LOCALE, milliseconds)}.`,
    mailOff: "No email can be sent",
    mailOffText: "Invitations and password links cannot be sent until the operator sets up a mail server.",
    mailFailed: (count: number) =>
      count === 1 ? "One email could not be delivered" : `${count} emails could not be delivered`,
    mailFailedText: "In the last two days.",
    keyOld: (algorithm: string) => `The signing key for ${algorithm} is old`,
    keyOldText: (milliseconds: number) => `It was created on ${formatDay(LOCALE, milliseconds)}. Rotate it.`,
    caEnds: "The certificate of the device CA expires soon",
    caEndsText: (milliseconds: number) => `It is valid until ${formatDay(LOCALE, milliseconds)}. Rotate it.`,
  },
  events: {
    title: "Latest events",
    all: "Audit log",
    none: "Nothing has happened yet.",
    noneText: "What administrators and users do is recorded here.",
  },
  first: {
    title: "First steps",
    text: "Two steps, and your organisation is up and running.",
    application: "Get an application running",
    applicationText: "Choose what you are building, and copy the values it needs.",
    quickstart: "Open the quickstart",
    users: "Invite your users",
    usersText: "They get an email and choose their own password.",
    invite: "Invite a user",
  },
};
