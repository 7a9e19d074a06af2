import { formatDuration, formatMoment } from "../format.ts";

const LOCALE = "de";

export const landing = {
  heading: "Signet läuft",
  summary:
    "Signet meldet Menschen und Dienste bei Anwendungen an, mit einem eigenen Aussteller für OAuth 2.0 und OpenID Connect je Organisation.",
  running:
    "Anwendungen finden die Anmeldung ihrer Organisation über die Discovery-Adresse, die sie von deren Administration bekommen.",
  demoHeading: "Eine Anmeldung von Anfang bis Ende",
  demoText:
    "Melden Sie sich an wie jede andere Person, erlauben Sie der Demo-Anwendung, Ihr Profil zu sehen, und sehen Sie sich die Token an, die sie bekommt.",
  tryIt: "Ausprobieren",
  credentials:
    "Die E-Mail-Adressen und Passwörter dafür stehen in dem Terminal, in dem Signet gestartet wurde, und in der Datei",
  mails: "E-Mails werden nicht verschickt. Sie liegen im",
  mailbox: "Postfach",
  organisations: "Organisationen",
  organisationsText:
    "Jede hat ihren eigenen Aussteller. Geben Sie einer OpenID-Connect-Bibliothek eine dieser Adressen, und sie findet alles Weitere.",
  issuer: "Aussteller",
  discovery: "Discovery-Dokument",
  discoveryOf: (organisation: string) => `Discovery-Dokument von ${organisation}`,
  console: "Konsole öffnen",
  consoleOf: (organisation: string) => `Konsole öffnen: ${organisation}`,
  documentation: "Dokumentation",
  apiReference: "API-Referenz",
};

export const tokens = {
  heading: "Sie sind angemeldet",
  summary: (application: string) =>
    `${application} hat den erhaltenen Code gegen die beiden Token unten getauscht und ihre Signaturen geprüft, wie es jede Anwendung tun würde.`,
  idToken: "ID-Token",
  idTokenText: "Sagt der Anwendung, wer sich angemeldet hat und wie. Es ist nur für die Anwendung bestimmt.",
  accessToken: "Access-Token",
  accessTokenText:
    "Damit ruft die Anwendung eine API auf. Die API prüft Signatur, Empfänger und Berechtigungen.",
  header: "Header",
  payload: "Payload",
  verified: (algorithm: string) => `Signatur geprüft (${algorithm})`,
  notVerified: "Signatur nicht geprüft",
  keyFrom: "Schlüssel aus dem veröffentlichten Satz der Organisation:",
  expiresIn: (milliseconds: number) => `Noch ${formatDuration(LOCALE, milliseconds / 1_000)} gültig`,
  expired: "Abgelaufen",
  neverExpires: "Nennt keinen Ablauf",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  encoded: "Das Token, wie es gesendet wurde",
  copy: "Kopieren",
  copied: "Kopiert",
  claims: "Was die Claims bedeuten",
  again: "Noch einmal",
  signOut: "Abmelden",
};

export const claims = {
  iss: "Aussteller: wer das Token ausgestellt hat",
  sub: "Subjekt: um wen es geht, eine dauerhafte Kennung, die sich nie ändert",
  aud: "Empfänger: wer es annehmen darf",
  exp: "Ablauf: nach diesem Zeitpunkt nicht mehr anzunehmen",
  iat: "Zu diesem Zeitpunkt ausgestellt",
  nbf: "Vor diesem Zeitpunkt nicht anzunehmen",
  jti: "Die eigene Kennung des Tokens, über die es widerrufen werden kann",
  client_id: "Die Anwendung, die es angefordert hat",
  azp: "Berechtigte Partei: die Anwendung, für die es ausgestellt wurde",
  scope: "Was der Anwendung erlaubt wurde",
  auth_time: "Wann die Person zuletzt nachgewiesen hat, wer sie ist",
  nonce: "Bindet das Token an die Anfrage, mit der es angefordert wurde",
  acr: "Wie stark die Person authentifiziert wurde",
  amr: "Auf welche Weise: pwd ist ein Passwort",
  at_hash: "Bindet das ID-Token an das Access-Token daneben",
  sid: "Die Sitzung im Browser, um sich überall abzumelden",
  org_id: "Die Organisation, zu der es gehört",
  alg: "Der Signaturalgorithmus",
  kid: "Mit welchem Schlüssel der Organisation es signiert wurde",
  typ: "Welche Art von Token das ist",
};

export const mailbox = {
  heading: "Postfach",
  explanation:
    "Was diese Demo verschickt hätte. Mit SMTP_URL verschickt Signet E-Mails wirklich und schließt diese Seite.",
  empty:
    "Es gibt noch keine E-Mails. Melden Sie sich mit einem neuen Browser an oder geben Sie an, dass Sie Ihr Passwort vergessen haben.",
  list: "E-Mails, die neuesten zuerst",
  to: "An",
  at: "Wann",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  back: "Alle E-Mails",
};
