import { formatDuration, formatMoment } from "../format.ts";

const LOCALE = "da";

export const landing = {
  heading: "Signet kører",
  summary:
    "Signet logger mennesker og tjenester ind i applikationer, med én udsteder til OAuth 2.0 og OpenID Connect for hver organisation.",
  running:
    "Applikationer finder deres organisations login via den discovery-adresse, som de får af administratoren.",
  demoHeading: "Se et login fra start til slut",
  demoText:
    "Log ind, som enhver anden ville gøre, giv demoapplikationen lov til at se din profil, og se de tokens, den får.",
  tryIt: "Prøv det",
  credentials:
    "De mailadresser og adgangskoder, du skal bruge, står i den terminal, hvor Signet blev startet, og i filen",
  mails: "Mails bliver ikke sendt. De ligger i",
  mailbox: "postkassen",
  organisations: "Organisationer",
  organisationsText:
    "Hver organisation har sin egen udsteder. Giv et OpenID Connect-bibliotek en af adresserne, så finder det selv resten.",
  issuer: "Udsteder",
  discovery: "Discovery-dokument",
  discoveryOf: (organisation: string) => `Discovery-dokument for ${organisation}`,
  console: "Åbn konsollen",
  consoleOf: (organisation: string) => `Åbn konsollen: ${organisation}`,
  documentation: "Dokumentation",
  apiReference: "API-reference",
};

export const tokens = {
  heading: "Du er logget ind",
  summary: (application: string) =>
    `${application} byttede sin kode til de to tokens nedenfor og kontrollerede deres signaturer, som enhver applikation ville gøre.`,
  idToken: "ID-token",
  idTokenText: "Fortæller applikationen, hvem der loggede ind og hvordan. Det er kun til applikationen.",
  accessToken: "Access-token",
  accessTokenText:
    "Med det kan applikationen kalde en API. API’en kontrollerer signatur, modtager og rettigheder.",
  header: "Header",
  payload: "Payload",
  verified: (algorithm: string) => `Signaturen er kontrolleret (${algorithm})`,
  notVerified: "Signaturen er ikke kontrolleret",
  keyFrom: "Nøgle fra organisationens offentliggjorte sæt:",
  expiresIn: (milliseconds: number) => `Udløber om ${formatDuration(LOCALE, milliseconds / 1_000)}`,
  expired: "Udløbet",
  neverExpires: "Angiver ikke noget udløb",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  encoded: "Tokenet, som det blev sendt",
  copy: "Kopiér",
  copied: "Kopieret",
  claims: "Hvad claims betyder",
  again: "Prøv igen",
  signOut: "Log ud",
};

export const claims = {
  iss: "Udsteder: hvem der har udstedt tokenet",
  sub: "Subjekt: hvem det handler om, et permanent id, der aldrig ændrer sig",
  aud: "Modtager: hvem der må acceptere det",
  exp: "Udløb: må ikke accepteres efter dette tidspunkt",
  iat: "Udstedt på dette tidspunkt",
  nbf: "Må ikke accepteres før dette tidspunkt",
  jti: "Tokenets eget id, som det kan tilbagekaldes med",
  client_id: "Den applikation, der bad om det",
  azp: "Autoriseret part: den applikation, det er udstedt til",
  scope: "Hvad applikationen har fået lov til",
  auth_time: "Hvornår personen sidst beviste, hvem han eller hun er",
  nonce: "Binder tokenet til den anmodning, der bad om det",
  acr: "Hvor stærkt personen er godkendt",
  amr: "På hvilken måde: pwd er en adgangskode",
  at_hash: "Binder ID-tokenet til access-tokenet ved siden af",
  sid: "Sessionen i browseren, så man kan logge ud overalt",
  org_id: "Den organisation, det hører til",
  alg: "Signaturalgoritmen",
  kid: "Hvilken af organisationens nøgler det er signeret med",
  typ: "Hvilken slags token det er",
};

export const mailbox = {
  heading: "Postkasse",
  explanation:
    "Det, som denne demo ville have sendt. Med SMTP_URL sender Signet rigtige mails og lukker denne side.",
  empty: "Der er ingen mails endnu. Log ind med en ny browser, eller sig, at du har glemt din adgangskode.",
  list: "Mails, de nyeste først",
  to: "Til",
  at: "Hvornår",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  back: "Alle mails",
};
