/** Die Mails, die der Dienst verschickt, zum Ansehen. */
import type { Messages } from "../../en/en.ts";
import { formatDuration } from "../../format.ts";

const LOCALE = "de";

export const mailTemplates: Messages["console"]["mailTemplates"] = {
  summary: (organisation) =>
    `Jede Mail, die im Namen von ${organisation} verschickt wird, so wie ihre Leser sie sehen.`,
  sending: "Versand",
  sendingText: "Mail wird für den ganzen Server eingerichtet, von seinem Betreiber.",
  state: "Status",
  kinds: {
    smtp: "Mails werden verschickt",
    mailbox: "Demo: Mails gehen an die Postfachseite",
    none: "Mail ist nicht eingerichtet",
  },
  noneText:
    "Niemand bekommt Mails: Einladungen, neue Passwörter und Bestätigungen von Adressen sind nicht möglich. Der Betreiber setzt SMTP_URL und SIGNET_MAIL_FROM.",
  sender: "Absender",
  server: "Mailserver",
  list: "Alle Mails",
  columns: { mail: "Anlass", when: "Wann sie verschickt wird" },
  subject: "Betreff",
  from: "Von",
  language: "Sprache",
  show: "Anzeigen",
  preview: "Vorschau",
  html: "Als HTML",
  htmlFrame: "Die Mail als HTML",
  text: "Als Text",
  sample: "Die Werte darin sind Beispiele. Farben und Name sind die der Organisation.",
  test: "An sich selbst senden",
  testText: (email) =>
    `Ein Test geht an ${email}. Er ist als Test gekennzeichnet, und seine Schaltfläche bewirkt nichts.`,
  testSubmit: "Test an mich senden",
  names: {
    AcceptInvitation: "Einladung",
    VerifyEmail: "Adresse bestätigen",
    AccountExists: "Es gibt schon ein Konto",
    ResetPassword: "Neues Passwort setzen",
    PasswordChanged: "Passwort wurde geändert",
    ChangeEmail: "Neue Adresse bestätigen",
    EmailChanged: "Adresse wurde geändert",
    AcceptRoaming: "Ein Konto auch hier verwenden",
    NewSignIn: "Neue Anmeldung",
    FactorAdded: "Zweiter Faktor wurde hinzugefügt",
    FactorRemoved: "Zweiter Faktor wurde entfernt",
    AccountDeleted: "Konto wurde gelöscht",
  },
  when: {
    AcceptInvitation: "Ein Administrator lädt jemanden ein.",
    VerifyEmail: "Jemand registriert sich oder muss die eigene Adresse nachweisen.",
    AccountExists: "Jemand registriert sich mit einer Adresse, zu der es schon ein Konto gibt.",
    ResetPassword: "Jemand hat das Passwort vergessen.",
    PasswordChanged: "Ein Passwort wurde gesetzt, von wem auch immer.",
    ChangeEmail: "Ein Konto bekommt eine andere Adresse; die Mail geht an die neue.",
    EmailChanged: "Ein Konto hat eine andere Adresse bekommen; die Mail geht an die alte.",
    AcceptRoaming:
      "Ein Benutzer einer anderen Organisation wird gefragt, ob er sein Konto hier verwenden will.",
    NewSignIn: "Jemand meldet sich mit einem Browser an, der für das Konto noch nie verwendet wurde.",
    FactorAdded: "Eine Authenticator-App, ein Passkey oder Wiederherstellungscodes kamen hinzu.",
    FactorRemoved: "Eines davon wurde entfernt.",
    AccountDeleted: "Ein Konto wurde gelöscht.",
  },
  done: { sent: "Der Test ist zu Ihnen unterwegs." },
  notSent: "Es wurde kein Test gesendet",
  limited: (seconds) =>
    `Es gab viele Tests. Versuchen Sie es in ${formatDuration(LOCALE, seconds)} noch einmal.`,
  notSetUp: "Mail ist nicht eingerichtet.",
};
