import type { overview as english } from "../../en/console/overview.ts";
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "de";

export const overview: typeof english = {
  summary: (organisation) => `Was bei ${organisation} geschieht und was Ihre Aufmerksamkeit braucht.`,
  figures: {
    title: "In Zahlen",
    users: "Benutzer",
    applications: "Anwendungen",
    sessions: "Angemeldete Browser",
    devices: "Geräte",
    agents: "Verbundene Agenten",
    moreThan: (count) => `mehr als ${new Intl.NumberFormat(LOCALE).format(count)}`,
    ofAgents: (count) => (count === 1 ? "von 1 Agenten" : `von ${count} Agenten`),
  },
  range: {
    label: "Zeitraum",
    "24h": "24 Stunden",
    "7d": "7 Tage",
    "30d": "30 Tage",
    "90d": "90 Tage",
  },
  charts: {
    numbers: "Zahlen anzeigen",
    time: "Zeit (UTC)",
    signIns: "Anmeldungen",
    succeeded: "Erfolgreich",
    failed: "Fehlgeschlagen",
    tokens: "Token",
    issued: "Ausgestellt",
    refused: "Abgelehnt",
    agents: "Signaturagenten",
    agentsAtOnce: "Höchstens gleichzeitig",
    signed: "Signiert",
    from: (milliseconds) => `Seit ${formatMinute(LOCALE, milliseconds)}, in UTC.`,
  },
  attention: {
    title: "Braucht Aufmerksamkeit",
    none: "Im Augenblick braucht nichts Ihre Aufmerksamkeit.",
    poolAway: (name) => `Kein Agent des Pools ${name} ist verbunden`,
    poolAwayText: "Seine Anwendungen erhalten keine Token, bis sich wieder einer verbindet.",
    poolEmpty: (name) => `Der Pool ${name} hat noch keine Agenten`,
    poolEmptyText: "Er kann nicht signieren, bevor Sie einen registrieren.",
    secretEnds: (application) => `Ein Geheimnis von ${application} läuft bald ab`,
    secretEnded: (application) => `Ein Geheimnis von ${application} ist abgelaufen`,
    secretEndsText: (title, milliseconds) => `„${title}“ gilt bis ${formatDay(LOCALE, milliseconds)}.`,
    secretEndedText: (title, milliseconds) => `„${title}“ galt bis ${formatDay(LOCALE, milliseconds)}.`,
    mailOff: "Es können keine E-Mails gesendet werden",
    mailOffText:
      "Einladungen und Links für neue Passwörter kommen nicht an, bis der Betreiber einen E-Mail-Server einrichtet.",
    mailFailed: (count) =>
      count === 1
        ? "Eine E-Mail konnte nicht zugestellt werden"
        : `${count} E-Mails konnten nicht zugestellt werden`,
    mailFailedText: "In den letzten zwei Tagen.",
    keyOld: (algorithm) => `Der Signaturschlüssel für ${algorithm} ist alt`,
    keyOldText: (milliseconds) => `Er wurde am ${formatDay(LOCALE, milliseconds)} erzeugt. Wechseln Sie ihn.`,
    caEnds: "Das Zertifikat der Geräte-CA läuft bald ab",
    caEndsText: (milliseconds) => `Es gilt bis ${formatDay(LOCALE, milliseconds)}. Wechseln Sie es.`,
  },
  events: {
    title: "Neueste Ereignisse",
    all: "Auditprotokoll",
    none: "Noch ist nichts geschehen.",
    noneText: "Hier steht, was Administratoren und Benutzer tun.",
  },
  first: {
    title: "Erste Schritte",
    text: "Zwei Schritte, und Ihre Organisation ist in Betrieb.",
    application: "Eine Anwendung in Betrieb nehmen",
    applicationText: "Wählen Sie, was Sie bauen, und übernehmen Sie die Werte, die es braucht.",
    quickstart: "Schnellstart öffnen",
    users: "Ihre Benutzer einladen",
    usersText: "Sie erhalten eine E-Mail und wählen ihr Passwort selbst.",
    invite: "Benutzer einladen",
  },
};
