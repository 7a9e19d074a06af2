import { formatDuration } from "../format.ts";

const LOCALE = "de";

export const frame = {
  signInBy: "Anmeldung mit Signet",
  about: "Signet: Anmeldung und Autorisierung für Organisationen",
  documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
};

export const error = {
  titles: {
    badRequest: "Mit dieser Anfrage geht es nicht weiter",
    notPermitted: "Sie können diese Seite nicht öffnen",
    notFound: "Unter dieser Adresse gibt es nichts",
    tooMany: "Zu viele Anfragen",
    internal: "Bei uns ist etwas schiefgegangen",
    unavailable: "Signet ist gerade ausgelastet",
  },
  advice: {
    badRequest:
      "Gehen Sie zurück zu der Anwendung, aus der Sie gekommen sind, und versuchen Sie es noch einmal. Wenn es wieder geschieht, melden Sie es deren Support.",
    notPermitted:
      "Melden Sie sich mit einem anderen Konto an oder wenden Sie sich an die Administration Ihrer Organisation.",
    notFound: "Prüfen Sie die Adresse oder gehen Sie zurück zu der Anwendung, aus der Sie gekommen sind.",
    tooMany: "Warten Sie einige Minuten und versuchen Sie es dann noch einmal.",
    internal:
      "Es liegt nicht an Ihnen. Versuchen Sie es gleich noch einmal; wenn es so bleibt, nennen Sie dem Support die Referenz unten.",
    unavailable: "Warten Sie einen Moment und versuchen Sie es dann noch einmal.",
  },
  reasons: {
    "client-id-missing": "Der Link nennt keine Anwendung (client_id fehlt).",
    "client-unknown": "Die Anwendung (client_id) ist hier nicht bekannt.",
    "redirect-uri-missing": "Der Link sagt nicht, wohin es zurückgehen soll (redirect_uri fehlt).",
    "redirect-uri-unregistered":
      "Die Adresse für den Rückweg (redirect_uri) ist für diese Anwendung nicht registriert.",
    "app-id-missing": "Der Link nennt keine Anwendung (appId fehlt).",
    "app-unknown": "Die Anwendung (appId) ist hier nicht bekannt.",
    "return-url-missing": "Der Link sagt nicht, wohin es zurückgehen soll (returnUrl fehlt).",
    "return-url-unregistered":
      "Die Adresse für den Rückweg (returnUrl) ist für diese Anwendung nicht registriert.",
    "page-too-old": "Diese Seite ist zu alt. Gehen Sie zurück zur Anwendung und beginnen Sie von vorn.",
    "answer-foreign":
      "Diese Antwort gehört nicht zu einer Anmeldung, die hier begonnen wurde. Versuchen Sie es von der Startseite aus noch einmal.",
    "sign-in-not-completed": "Die Anmeldung wurde nicht abgeschlossen.",
    "administrators-only": "Diese Seite ist der Administration der Organisation vorbehalten.",
    "foreign-form":
      "Dieses Formular kam von einer anderen Website, und es wurde nichts geändert. Öffnen Sie die Seite hier und füllen Sie sie selbst aus.",
  },
  reference: "Referenz",
  back: (application: string) => `Zurück zu ${application}`,
};

export const signIn = {
  title: (application: string) => `Anmelden und weiter zu ${application}`,
  heading: "Anmelden",
  headingTo: (application: string) => `weiter zu ${application}`,
  email: "E-Mail-Adresse",
  password: "Passwort",
  submit: (application: string) => `Weiter zu ${application}`,
  failed: "Sie sind noch nicht angemeldet",
  again: "Bitte bestätigen Sie, dass Sie es sind",
  againText: "Sie sind angemeldet. Für Änderungen muss die Anmeldung aus den letzten zehn Minuten sein.",
  invalidCredentials:
    "Diese E-Mail-Adresse und dieses Passwort gehören nicht zusammen. Prüfen Sie beides und versuchen Sie es noch einmal.",
  rateLimited: (seconds: number) =>
    `Es gab zu viele Versuche. Warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es dann noch einmal.`,
  rateLimitedSoon:
    "Es gab zu viele Versuche. Warten Sie einige Minuten und versuchen Sie es dann noch einmal.",
  busy: (seconds: number) =>
    `Gerade melden sich viele Menschen an. Warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es dann noch einmal; an Ihren Eingaben liegt es nicht.`,
  busySoon:
    "Gerade melden sich viele Menschen an. Warten Sie einen Moment und versuchen Sie es dann noch einmal; an Ihren Eingaben liegt es nicht.",
  disabled: (organisation: string, application: string) =>
    `Mit Ihrem Konto bei ${organisation} kommen Sie nicht zu ${application}. Wenden Sie sich an die Administration von ${organisation}.`,
  expired: "Diese Seite ist abgelaufen",
  sessionExpired: "Es ist nichts verloren: Geben Sie Ihr Passwort noch einmal ein, dann geht es weiter.",
  or: "oder",
  usePasskey: "Mit Passkey anmelden",
  invalidPasskey:
    "Dieser Passkey funktioniert hier nicht. Verwenden Sie Ihr Passwort oder einen anderen Passkey.",
  passkeyFailed:
    "Ihr Browser hat keinen Passkey bekommen. Versuchen Sie es noch einmal oder verwenden Sie Ihr Passwort.",
};

/** In the dative: these stand after the „zu“ that every text puts before an application's name. */
export const places = {
  account: (organisation: string) => `Ihrem Konto bei ${organisation}`,
  device: (organisation: string) => `Ihrem Gerät bei ${organisation}`,
  devices: (organisation: string) => `den Geräten von ${organisation}`,
  console: (organisation: string) => `der Konsole von ${organisation}`,
  application: (organisation: string) => `einer Anwendung von ${organisation}`,
};

export const notAssigned = {
  heading: (application: string) => `Sie haben noch keinen Zugang zu ${application}`,
  explanation: (organisation: string, application: string) =>
    `Bei ${organisation} haben nur Konten Zugang zu ${application}, die dafür freigeschaltet sind. Dieses Konto gehört nicht dazu.`,
  ask: (organisation: string) => `Bitten Sie die Administration von ${organisation}, es freizuschalten.`,
  askContacts: "Wenden Sie sich für die Freischaltung an:",
  signedInAs: "Angemeldet als",
  switchAccount: "Nicht Sie? Anderes Konto verwenden",
  back: (application: string) => `Zurück zu ${application}`,
};

export const account = {
  title: (application: string) => `Konto auswählen und weiter zu ${application}`,
  heading: "Konto auswählen",
  headingTo: (application: string) => `weiter zu ${application}`,
  continueAs: (who: string) => `Weiter als ${who}`,
  other: "Anderes Konto verwenden",
};

export const signOut = {
  heading: (organisation: string) => `Bei ${organisation} abmelden?`,
  askedBy: (application: string) => `${application} hat darum gebeten.`,
  explanation: "Anwendungen werden Sie in diesem Browser bitten, sich neu anzumelden.",
  signedInAs: "Angemeldet als",
  confirm: "Abmelden",
  stay: "Angemeldet bleiben",
  doneHeading: "Sie sind abgemeldet",
  done: (organisation: string) =>
    `In diesem Browser sind Sie nicht mehr bei ${organisation} angemeldet. Sie können dieses Fenster schließen.`,
  back: (application: string) => `Zurück zu ${application}`,
};

export const formPost = {
  heading: (application: string) => `Es geht weiter zu ${application}`,
  explanation: "Skripte sind in diesem Browser ausgeschaltet, deshalb ist noch ein Schritt nötig.",
  submit: (application: string) => `Weiter zu ${application}`,
};
