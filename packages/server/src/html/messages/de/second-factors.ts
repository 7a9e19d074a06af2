import { formatDuration } from "../format.ts";

const LOCALE = "de";

export const twoFactor = {
  title: (application: string) => `Bestätigen, dass Sie es sind, und weiter zu ${application}`,
  headings: {
    passkey: "Passkey verwenden",
    totp: "Code aus der App eingeben",
    recovery: "Wiederherstellungscode eingeben",
  },
  explanations: {
    passkey: "Ihr Browser fragt nach Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel.",
    totp: "Öffnen Sie Ihre Authenticator-App und geben Sie die sechs Ziffern ein, die sie anzeigt.",
    recovery:
      "Zehn davon haben Sie bekommen, als Sie Ihren zweiten Faktor eingerichtet haben. Jeder funktioniert einmal.",
  },
  signingInAs: "Anmeldung als",
  otherAccount: "Nicht Sie? Anderes Konto verwenden",
  code: "Code",
  recoveryCode: "Wiederherstellungscode",
  remember: "Diesen Browser 30 Tage lang merken",
  rememberHint: "Nur dort, wo sich sonst niemand anmeldet.",
  submit: (application: string) => `Weiter zu ${application}`,
  usePasskey: "Passkey verwenden",
  others: "Andere Möglichkeiten",
  choose: {
    passkey: "Passkey verwenden",
    totp: "Authenticator-App verwenden",
    recovery: "Wiederherstellungscode verwenden",
  },
  needsScript: "Passkeys brauchen Skripte, und die sind in diesem Browser ausgeschaltet.",
  failed: "Sie sind noch nicht angemeldet",
  failures: {
    passkey:
      "Dieser Passkey hat nicht funktioniert. Versuchen Sie es noch einmal oder wählen Sie eine andere Möglichkeit.",
    totp: "Der Code ist falsch, zu alt oder wurde schon verwendet. Warten Sie auf den nächsten und geben Sie ihn ein.",
    recovery: "Das ist keiner Ihrer unbenutzten Codes. Prüfen Sie ihn und versuchen Sie es noch einmal.",
  },
  passkeyFailed:
    "Ihr Browser hat keinen Passkey bekommen. Versuchen Sie es noch einmal oder wählen Sie eine andere Möglichkeit.",
  rateLimited: (seconds: number) =>
    `Es gab zu viele falsche Codes. Warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es dann noch einmal.`,
  rateLimitedSoon:
    "Es gab zu viele falsche Codes. Warten Sie einige Minuten und versuchen Sie es dann noch einmal.",
};

export const enrolment = {
  title: (application: string) => `Zweiten Faktor hinzufügen und weiter zu ${application}`,
  heading: "Zweiten Faktor hinzufügen",
  askedByOrganisation: (organisation: string) =>
    `Bei ${organisation} sind Konten durch mehr als ein Passwort geschützt.`,
  askedByApplication: (application: string) =>
    `Um zu ${application} zu gelangen, reicht ein Passwort allein nicht aus.`,
  totp: {
    heading: "Authenticator-App einrichten",
    scan: "Scannen Sie diesen Code mit Ihrer Authenticator-App",
    image: "QR-Code für Ihre Authenticator-App",
    open: "Auf diesem Gerät? App öffnen",
    byHand: "Sie können ihn nicht scannen?",
    key: "Geben Sie stattdessen diesen Schlüssel in Ihrer App ein:",
    copy: "Kopieren",
    copied: "Kopiert",
    code: "Code aus der App",
    submit: "Authenticator-App hinzufügen",
    wrong: "Die App ist noch nicht eingerichtet",
    wrongCode:
      "Dieser Code passt nicht zu diesem Schlüssel. Warten Sie auf den nächsten und geben Sie ihn ein.",
  },
  passkey: {
    heading: "Passkey hinzufügen",
    explanation:
      "Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel an. Er funktioniert nur hier, deshalb kann ihn keine nachgemachte Seite abfangen.",
    name: "Name, um Ihre Passkeys zu unterscheiden",
    suggestedName: "Mein Passkey",
    submit: "Passkey hinzufügen",
    wrong: "Der Passkey wurde nicht hinzugefügt",
    notAdded: "Mit der Antwort Ihres Browsers ließ sich nichts anfangen. Versuchen Sie es noch einmal.",
    known: "Diesen Passkey gibt es hier schon.",
    tooMany: "Sie haben so viele Passkeys, wie ein Konto haben kann. Entfernen Sie zuerst einen.",
  },
  others: "Andere Möglichkeiten",
  choose: {
    totp: "Authenticator-App verwenden",
    passkey: "Passkey verwenden",
  },
};

export const recoveryCodes = {
  title: "Wiederherstellungscodes",
  heading: "Wiederherstellungscodes aufbewahren",
  explanation:
    "Mit jedem davon melden Sie sich einmal an, wenn Sie Ihren zweiten Faktor nicht zur Hand haben. Drucken Sie die Codes aus oder legen Sie sie in einem Passwortmanager ab.",
  once: "Diese Codes werden nur einmal angezeigt",
  onceText: "Wir behalten nur, was wir brauchen, um sie zu erkennen.",
  list: "Ihre Wiederherstellungscodes",
  copy: "Alle kopieren",
  copied: "Kopiert",
  kept: (destination: string) => `Ich habe sie aufbewahrt, weiter zu ${destination}`,
  keptHere: "Ich habe sie aufbewahrt",
};
