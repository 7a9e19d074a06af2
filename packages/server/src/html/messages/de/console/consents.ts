/** Zustimmungen: was Anwendungen verwenden dürfen, gesagt von Benutzern und Administratoren. */
import type { Messages } from "../../en/en.ts";
import { formatDay } from "../../format.ts";

const LOCALE = "de";

export const consents: Messages["console"]["consents"] = {
  summary: (organisation) =>
    `Was Benutzer und Administratoren von ${organisation} Anwendungen erlaubt haben. Ein Widerruf beendet den Zugriff, der darauf beruht.`,
  tabs: { label: "Zustimmungen", consents: "Zustimmungen", preauthorizations: "Vorab erlaubt" },
  grant: "Einer Anwendung etwas erlauben",
  user: "E-Mail-Adresse des Benutzers",
  application: "Anwendung",
  applicationHint: "Name oder ID",
  kind: "Für wen",
  anyKind: "Beliebig",
  kinds: { user: "Einen Benutzer", organisation: "Alle" },
  state: "Status",
  states: { living: "Gültig", revoked: "Widerrufen" },
  columns: { who: "Für", application: "Anwendung", scopes: "Was", since: "Seit", until: "Bis" },
  everybody: "Alle",
  formerUser: "Ein früherer Benutzer",
  by: (who) => `von ${who}`,
  day: (milliseconds) => formatDay(LOCALE, milliseconds),
  none: "Noch hat niemand einer Anwendung etwas erlaubt",
  noneText:
    "Wenn ein Benutzer einer Anwendung zustimmt, steht das hier. Sie können eine Anwendung auch für alle erlauben; dann wird niemand gefragt.",
  unknownUser: "Hier gibt es keinen Benutzer mit dieser Adresse.",
  unknownApplication: "Hier gibt es keine solche Anwendung.",
  several: "Mehrere Anwendungen passen dazu. Wählen Sie eine:",
  revoke: "Widerrufen",
  revokeOf: (application) => `Erlaubnis für ${application} widerrufen`,
  revokeTitle: (application) => `Erlaubnis für ${application} widerrufen?`,
  revokeUser: (email) =>
    `Sie gilt für ${email}. Refresh-Token, die darauf beruhen, enden sofort, und mit ihnen Access-Token überall dort, wo sie geprüft werden. Bei der nächsten Verwendung wird der Benutzer erneut gefragt.`,
  revokeEverybody:
    "Sie gilt für alle. Refresh-Token, die darauf beruhen, enden sofort, und mit ihnen Access-Token überall dort, wo sie geprüft werden. Bei der nächsten Verwendung werden die Benutzer erneut gefragt.",
  scopesAre: "Scopes darin:",
  choose: "Welche Anwendung?",
  chooseText: "Suchen Sie die Anwendung, der Sie etwas erlauben möchten.",
  noApplications: "Es gibt noch keine Anwendung. Legen Sie zuerst eine an.",
  grantTitle: (application) => `${application} etwas erlauben`,
  grantText: "Was Sie hier erlauben, werden Benutzer nicht mehr gefragt.",
  forWhom: "Für wen",
  forOrganisation: "Alle in der Organisation",
  forOrganisationText: "Niemand wird gefragt, auch wer später dazukommt nicht.",
  forUser: "Einen Benutzer",
  forUserText: "Er wird nicht gefragt, sieht es unter seinen Anwendungen und kann es widerrufen.",
  email: "E-Mail-Adresse",
  scopes: "Was sie verwenden darf",
  scopesHint: "Was schon erlaubt war, bleibt erlaubt.",
  noScopes:
    "Die Anwendung darf nach keinem Scope fragen. Fügen Sie zuerst in ihren Einstellungen Scopes hinzu.",
  submit: "Erlauben",
  faults: {
    scopes: "Wählen Sie mindestens einen Scope.",
    asked: "Nach einem dieser Scopes darf die Anwendung nicht mehr fragen. Wählen Sie erneut.",
    email: "Hier gibt es keinen Benutzer mit dieser Adresse. Prüfen Sie die Adresse.",
    forWhom: "Wählen Sie, für wen es gilt.",
    there: "Der Anwendung sind genau diese Scopes schon vorab erlaubt.",
  },
  preauthorizations: {
    summary:
      "Ein Ja vor jeder Anfrage: Eine Anwendung, der etwas vorab erlaubt ist, fragt Benutzer nie nach diesen Scopes. Jede Erlaubnis steht für sich und lässt sich für sich löschen.",
    grant: "Einer Anwendung vorab etwas erlauben",
    none: "Keiner Anwendung ist vorab etwas erlaubt",
    noneText:
      "Erlauben Sie Ihren eigenen Anwendungen vorab etwas, damit kein Benutzer gefragt wird, ob er ihnen vertraut.",
    title: (application) => `${application} vorab etwas erlauben`,
    text: "Benutzer werden nach diesen Scopes nicht gefragt. Sie sehen die Erlaubnis nicht unter ihren Anwendungen.",
    submit: "Vorab erlauben",
    remove: "Löschen",
    removeOf: (application) => `Löschen, was ${application} vorab erlaubt ist`,
    removeTitle: (application) => `Löschen, was ${application} vorab erlaubt ist?`,
    removeText:
      "Refresh-Token, die darauf beruhen, enden sofort, und mit ihnen Access-Token überall dort, wo sie geprüft werden. Benutzer werden gefragt, wenn sie die Anwendung verwenden.",
  },
  done: {
    granted: "Es ist erlaubt.",
    revoked: "Es ist widerrufen.",
    preauthorized: "Der Anwendung ist es vorab erlaubt.",
    removed: "Die vorab gegebene Erlaubnis ist gelöscht.",
  },
};
