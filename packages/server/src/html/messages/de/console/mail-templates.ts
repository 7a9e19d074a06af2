/** Die Mails, die der Dienst verschickt, zum Ansehen. */
import type { Messages } from "../../en/en.ts";
import { formatDuration } from "../../format.ts";

const LOCALE = "de";

export const mailTemplates: Messages["console"]["mailTemplates"] = {
  summary: (organisation) =>
    `Jede E-Mail, die im Namen von ${organisation} gesendet wird, so wie ihre Leser sie sehen.`,
  sending: "Versand",
  sendingText: "Der Betreiber richtet den E-Mail-Versand für den ganzen Server ein.",
  state: "Status",
  kinds: {
    smtp: "E-Mails werden gesendet",
    mailbox: "Demo: E-Mails gehen an die Postfachseite",
    none: "E-Mail-Versand ist nicht eingerichtet",
  },
  noneText:
    "Niemand bekommt E-Mails: Einladungen, Links für neue Passwörter und Bestätigungen von Adressen sind nicht möglich. Der Betreiber setzt SMTP_URL und SIGNET_MAIL_FROM.",
  sender: "Absender",
  server: "E-Mail-Server",
  list: "Alle E-Mails",
  columns: { mail: "E-Mail", when: "Wann sie gesendet wird" },
  subject: "Betreff",
  from: "Von",
  language: "Sprache",
  show: "Anzeigen",
  preview: "Vorschau",
  html: "Als HTML",
  htmlFrame: "Die E-Mail als HTML",
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
    ResetPassword: "Neues Passwort festlegen",
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
    PasswordChanged: "Ein Passwort wurde festgelegt, von der Person selbst oder von einem Administrator.",
    ChangeEmail: "Ein Konto bekommt eine andere Adresse; die E-Mail geht an die neue.",
    EmailChanged: "Ein Konto hat eine andere Adresse bekommen; die E-Mail geht an die alte.",
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
    `Es gab zu viele Tests. Versuchen Sie es in ${formatDuration(LOCALE, seconds)} noch einmal.`,
  notSetUp: "Der E-Mail-Versand ist nicht eingerichtet.",
};
