import { formatDay, formatMinute } from "../format.ts";

const LOCALE = "de";

export const accountNav = {
  label: "Ihr Konto",
  security: "Sicherheit",
  sessions: "Sitzungen",
  consents: "Anwendungen",
};

export const sessions = {
  title: "Sitzungen",
  heading: "Wo Sie angemeldet sind",
  signedInAs: "Angemeldet als",
  summary: (organisation: string) =>
    `In jedem dieser Browser ist Ihr Konto bei ${organisation} angemeldet. Melden Sie ab, was Sie nicht kennen.`,
  listHeading: "Browser",
  thisOne: "Dieser Browser",
  unknown: "Unbekannter Browser",
  used: (milliseconds: number) => `Zuletzt verwendet am ${formatMinute(LOCALE, milliseconds)} UTC`,
  since: (milliseconds: number, address: string) =>
    `Angemeldet seit dem ${formatDay(LOCALE, milliseconds)}, von ${address}`,
  applications: (names: readonly string[]) =>
    `Verwendet für ${new Intl.ListFormat(LOCALE, { type: "conjunction" }).format(names)}`,
  end: "Abmelden",
  endOf: (browser: string) => `„${browser}“ abmelden`,
  endHeading: (browser: string) => `„${browser}“ abmelden?`,
  endText:
    "Danach ist dort eine neue Anmeldung nötig. Die Anwendungen, für die dieser Browser verwendet wurde, erfahren davon.",
  everywhere: "Überall abmelden",
  everywhereHeading: "Überall abmelden?",
  everywhereText:
    "Danach ist in jedem Browser eine neue Anmeldung nötig, auch in diesem. Anwendungen verlieren ihren Zugriff, auch solche, die in Ihrer Abwesenheit arbeiten.",
  ended: "Der Browser ist abgemeldet.",
};
