import { formatDay, formatMinute } from "../format.ts";

const LOCALE = "fr";

export const accountNav = {
  label: "Votre compte",
  security: "Sécurité",
  sessions: "Sessions",
  consents: "Applications",
};

export const sessions = {
  title: "Sessions",
  heading: "Vos sessions ouvertes",
  signedInAs: "Session ouverte avec",
  summary: (organisation: string) =>
    `Votre compte ${organisation} est ouvert dans chacun de ces navigateurs. Fermez les sessions que vous ne reconnaissez pas.`,
  listHeading: "Navigateurs",
  thisOne: "Ce navigateur",
  unknown: "Navigateur inconnu",
  used: (milliseconds: number) => `Dernière utilisation le ${formatMinute(LOCALE, milliseconds)} UTC`,
  since: (milliseconds: number, address: string) =>
    `Session ouverte le ${formatDay(LOCALE, milliseconds)} depuis ${address}`,
  applications: (names: readonly string[]) =>
    `Utilisé pour ${new Intl.ListFormat(LOCALE, { type: "conjunction" }).format(names)}`,
  end: "Fermer",
  endOf: (browser: string) => `Fermer la session dans « ${browser} »`,
  endHeading: (browser: string) => `Fermer la session dans « ${browser} » ?`,
  endText:
    "Il faudra s’y reconnecter. Les applications pour lesquelles ce navigateur a servi en seront informées.",
  everywhere: "Se déconnecter partout",
  everywhereHeading: "Se déconnecter partout ?",
  everywhereText:
    "Il faudra se reconnecter dans chaque navigateur, celui-ci compris. Les applications perdront leur accès, même celles qui travaillent en votre absence.",
  ended: "La session est fermée.",
};
