import { formatDay } from "../format.ts";

const LOCALE = "da";

export const scopes = {
  openid: "Genkende dig, når du kommer tilbage",
  profile: "Se dit navn og dit brugernavn",
  email: "Se din e-mailadresse, og om den er bekræftet",
  phone: "Se dit telefonnummer",
  offline_access: "Bevare forbindelsen, også når du ikke bruger applikationen",
};

export const consent = {
  heading: (application: string) => `Må ${application} bruge din konto?`,
  signedInAs: "Logget ind som",
  switchAccount: "Ikke dig? Brug en anden konto",
  listTitle: "Applikationen kan så:",
  sensitive: "Følsomt",
  customScope: (name: string) => `Bruge ”${name}” for dig`,
  goesTo: "Bagefter vender du tilbage til",
  allow: "Tillad",
  deny: "Afvis",
  remembered: "Hvis du tillader det, bliver du kun spurgt denne ene gang.",
};

export const consents = {
  title: "Applikationer med adgang",
  heading: "Hvad applikationer må bruge",
  signedInAs: "Logget ind som",
  summary: (organisation: string) =>
    `Du har givet disse applikationer lov til at bruge din konto hos ${organisation}. Tilbagekald det, du ikke længere vil give lov til.`,
  listHeading: "Applikationer",
  none: "Du har ikke givet nogen applikation lov til noget endnu. Når en applikation spørger, står det her, hvad du giver lov til.",
  since: (milliseconds: number) => `Tilladt den ${formatDay(LOCALE, milliseconds)}`,
  revoke: "Tilbagekald",
  revokeOf: (application: string) => `Tilbagekald tilladelsen til ${application}`,
  revokeHeading: (application: string) => `Vil du tilbagekalde tilladelsen til ${application}?`,
  revokeText:
    "Applikationen mister straks adgangen til din konto. Hvis du bruger den igen, spørger den dig igen.",
  revoked: "Tilladelsen er tilbagekaldt.",
};

export const administratorConsent = {
  heading: (application: string) => `${application} er ikke tilladt her endnu`,
  explanation: (organisation: string, application: string) =>
    `Hos ${organisation} bestemmer en administrator, hvad applikationer må bruge. Bed en administrator hos ${organisation} om at give ${application} lov til at:`,
  back: (application: string) => `Tilbage til ${application}`,
};
