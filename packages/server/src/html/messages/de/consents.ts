import { formatDay } from "../format.ts";

const LOCALE = "de";

export const scopes = {
  openid: "Sie wiedererkennen, wenn Sie zurückkommen",
  profile: "Ihren Namen und Benutzernamen sehen",
  email: "Ihre E-Mail-Adresse sehen und ob sie bestätigt ist",
  phone: "Ihre Telefonnummer sehen",
  offline_access: "Verbunden bleiben, auch wenn Sie die Anwendung gerade nicht verwenden",
};

export const consent = {
  heading: (application: string) => `Darf ${application} Ihr Konto verwenden?`,
  signedInAs: "Angemeldet als",
  switchAccount: "Nicht Sie? Anderes Konto verwenden",
  listTitle: "Die Anwendung kann dann:",
  sensitive: "Sensibel",
  customScope: (name: string) => `„${name}“ für Sie verwenden`,
  goesTo: "Danach kehren Sie zurück zu",
  allow: "Erlauben",
  deny: "Ablehnen",
  remembered: "Wenn Sie das erlauben, werden Sie nur dieses eine Mal gefragt.",
};

export const consents = {
  title: "Anwendungen mit Zugriff",
  heading: "Was Anwendungen verwenden dürfen",
  signedInAs: "Angemeldet als",
  summary: (organisation: string) =>
    `Diesen Anwendungen haben Sie erlaubt, Ihr Konto bei ${organisation} zu verwenden. Widerrufen Sie, was Sie nicht mehr wollen.`,
  listHeading: "Anwendungen",
  none: "Sie haben noch keiner Anwendung etwas erlaubt. Wenn eine fragt, steht hier, was Sie ihr erlauben.",
  since: (milliseconds: number) => `Erlaubt am ${formatDay(LOCALE, milliseconds)}`,
  revoke: "Widerrufen",
  revokeOf: (application: string) => `Erlaubnis für ${application} widerrufen`,
  revokeHeading: (application: string) => `Erlaubnis für ${application} widerrufen?`,
  revokeText:
    "Die Anwendung verliert sofort den Zugriff auf Ihr Konto. Bei der nächsten Verwendung werden Sie erneut gefragt.",
  revoked: "Die Erlaubnis ist widerrufen.",
};

export const administratorConsent = {
  heading: (application: string) => `${application} ist hier noch nicht erlaubt`,
  explanation: (organisation: string, application: string) =>
    `Bei ${organisation} entscheidet die Administration, was Anwendungen verwenden dürfen. Bitten Sie die Administration von ${organisation}, ${application} Folgendes zu erlauben:`,
  back: (application: string) => `Zurück zu ${application}`,
};
