import { formatDay, formatMinute } from "../format.ts";

const LOCALE = "da";

export const accountNav = {
  label: "Din konto",
  security: "Sikkerhed",
  sessions: "Sessioner",
  consents: "Applikationer",
};

export const sessions = {
  title: "Sessioner",
  heading: "Her er du logget ind",
  signedInAs: "Logget ind som",
  summary: (organisation: string) =>
    `Hver af disse browsere er logget ind på din konto hos ${organisation}. Log ud i dem, du ikke kender.`,
  listHeading: "Browsere",
  thisOne: "Denne browser",
  unknown: "Ukendt browser",
  used: (milliseconds: number) => `Sidst brugt den ${formatMinute(LOCALE, milliseconds)} UTC`,
  since: (milliseconds: number, address: string) =>
    `Logget ind siden den ${formatDay(LOCALE, milliseconds)}, fra ${address}`,
  applications: (names: readonly string[]) =>
    `Brugt til ${new Intl.ListFormat(LOCALE, { type: "conjunction" }).format(names)}`,
  end: "Log ud",
  endOf: (browser: string) => `Log ud i ”${browser}”`,
  endHeading: (browser: string) => `Vil du logge ud i ”${browser}”?`,
  endText: "Du skal logge ind igen der. De applikationer, browseren er brugt til, får besked.",
  everywhere: "Log ud overalt",
  everywhereHeading: "Vil du logge ud overalt?",
  everywhereText:
    "Du skal logge ind igen i alle browsere, også denne. Applikationer mister deres adgang, også dem, der arbejder, mens du er væk.",
  ended: "Du er logget ud i browseren.",
};
