/** What is around every page of the console and of an account, and what all of them say alike. */
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "de";

export const frame = {
  skip: "Zum Inhalt springen",
  menu: "Menü",
  navigation: "Konsole",
  breadcrumbs: "Sie sind hier",
  switch: "Andere Organisationen",
  account: "Ihr Konto",
  signOut: "Abmelden",
  sections: {
    applications: "Anwendungen",
    people: "Personen",
    keys: "Schlüssel und Geräte",
    organisation: "Organisation",
  },
  pages: {
    overview: "Übersicht",
    quickstart: "Schnellstart",
    applications: "Anwendungen",
    scopes: "Scopes",
    consents: "Zustimmungen",
    users: "Benutzer",
    systemAccounts: "Systemkonten",
    signingKeys: "Signaturschlüssel",
    pools: "Signaturpools",
    devices: "Geräte",
    settings: "Einstellungen",
    mailTemplates: "E-Mail-Vorlagen",
    auditLog: "Auditprotokoll",
  },
  accountPages: {
    profile: "Profil",
    security: "Passwort und Sicherheit",
    sessions: "Sitzungen",
    consents: "Anwendungen",
    activity: "Aktivität",
    data: "Ihre Daten",
  },
  console: "Konsole",
  list: {
    submit: "Suchen",
    all: "Alle anzeigen",
    noneFound: "Keine Treffer",
    noneFoundText: "Suchen Sie nach etwas anderem, oder zeigen Sie alle an.",
    firstOnly: "Nur die ersten stehen hier. Suchen Sie, um andere zu finden.",
    pages: "Seiten",
    older: "Nächste Seite",
    newest: "Zurück zur ersten Seite",
    actions: "Aktionen",
  },
  form: {
    save: "Speichern",
    cancel: "Abbrechen",
    optional: "optional",
    failed: "Noch ist nichts gespeichert",
    faults: (count: number) =>
      count === 1 ? "Bitte prüfen Sie ein Feld:" : `Bitte prüfen Sie ${count} Felder:`,
    expired: "Diese Seite war zu lange offen",
    expiredText: "Nichts wurde geändert. Prüfen Sie Ihre Eingaben, und senden Sie sie noch einmal.",
    unreadable: "Etwas in diesem Formular war nicht lesbar",
    unreadableText:
      "Nichts wurde geändert. Zeichen, die kein Text sind, stehen jetzt als \uFFFD da. Ersetzen Sie sie, und senden Sie das Formular noch einmal.",
    isNow: (value: string) => `Aktueller Wert: ${value}`,
    isNowEmpty: "Aktuell leer.",
  },
  already: "Es wurde nichts geändert: Es war bereits so.",
  changed: {
    title: "Jemand anderes hat das zuerst geändert",
    text: "Der Eintrag wurde geändert, während Sie daran gearbeitet haben. Ihre Änderungen stehen noch hier und sind nicht gespeichert. Vergleichen Sie sie mit den aktuellen Werten. Wenn Sie noch einmal speichern, gelten Ihre.",
    by: (who: string, milliseconds: number) =>
      `Geändert von ${who} am ${formatMinute(LOCALE, milliseconds)} UTC.`,
    gone: "Diesen Eintrag gibt es nicht mehr",
    goneText: "Jemand hat ihn gelöscht, während Sie daran gearbeitet haben.",
  },
  sentBefore: {
    title: "Dieses Formular wurde schon gesendet",
    text: "Was Sie wollten, ist beim ersten Mal geschehen und wurde nicht wiederholt. Senden Sie es nur dann erneut, wenn es ein zweites Mal geschehen soll.",
    look: "Sie finden es hier:",
    secret: {
      application:
        "Das Client-Geheimnis wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie es nicht aufbewahrt, öffnen Sie die Anwendung und fügen Sie ein neues Geheimnis hinzu.",
      clientSecret:
        "Das Geheimnis wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie es nicht aufbewahrt, beenden Sie es auf der Seite der Anwendung und erstellen Sie hier ein anderes.",
      account:
        "Der geheime Schlüssel wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie ihn nicht aufbewahrt, öffnen Sie das Konto und fügen Sie ein neues Schlüsselpaar hinzu.",
      keyPair:
        "Der geheime Schlüssel wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie ihn nicht aufbewahrt, beenden Sie dieses Schlüsselpaar auf der Seite des Kontos und erstellen Sie hier ein anderes.",
      user: "Wurde ein Passwort erzeugt, wurde es ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie es nicht aufbewahrt, öffnen Sie den Benutzer und legen Sie ein neues fest.",
      password:
        "Das neue Passwort wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie es nicht aufbewahrt, legen Sie hier ein anderes fest.",
      recoveryCodes:
        "Die neuen Codes wurden ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie sie nicht aufbewahrt, erstellen Sie hier neue.",
      code: "Der Code wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie ihn nicht aufbewahrt, ziehen Sie ihn zurück und erstellen Sie einen anderen.",
      agent:
        "Der API-Schlüssel wurde ein einziges Mal gezeigt, in der ersten Antwort. Haben Sie ihn nicht aufbewahrt, legen Sie diesen Agenten still und registrieren Sie einen anderen mit einem neuen Schlüssel.",
    },
  },
  lastChange: (who: string, milliseconds: number) =>
    `Zuletzt geändert von ${who} am ${formatMinute(LOCALE, milliseconds)} UTC`,
  actors: {
    operator: "dem Betreiber",
    system: "Signet selbst",
    systemAccount: "einem Systemkonto",
    application: "einer Anwendung",
    anonymous: "jemand Unbekanntem",
    formerUser: "einem früheren Benutzer",
  },
  actorsAlone: {
    operator: "Der Betreiber",
    system: "Signet",
    systemAccount: "Ein Systemkonto",
    application: "Eine Anwendung",
    anonymous: "Jemand Unbekanntes",
    formerUser: "Ein früherer Benutzer",
  },
  prove: {
    title: "Bitte bestätigen Sie, dass Sie es sind",
    text: "Ihre Anmeldung liegt für diese Änderung zu lange zurück. Ihre Eingaben bleiben auf dieser Seite erhalten.",
    textSecrets:
      "Ihre Anmeldung liegt für diese Änderung zu lange zurück. Passwörter und Codes bleiben nie auf einer Seite stehen: Geben Sie sie danach noch einmal ein. Ihre übrigen Eingaben bleiben hier erhalten.",
    first:
      "Melden Sie sich noch einmal an. Dafür öffnet sich ein weiterer Tab; kommen Sie danach hierher zurück.",
    signIn: "Noch einmal anmelden",
    second: "Machen Sie dann mit Ihrer Änderung weiter.",
    goOn: "Weiter",
    confirmed: "Bestätigt",
    confirmedText: "Schließen Sie diesen Tab, und machen Sie dort weiter, wo Sie aufgehört haben.",
  },
  secret: {
    once: "Das wird nur dieses eine Mal angezeigt",
    copy: "Kopieren",
    copied: "Kopiert",
    done: "Ich habe es gespeichert",
  },
  confirm: {
    typeName: (name: string) => `Geben Sie zur Bestätigung „${name}“ ein`,
    wrongName: "Das stimmt nicht überein. Nichts wurde geändert.",
  },
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
  number: (count: number) => new Intl.NumberFormat(LOCALE).format(count),
  never: "Nie",
  yes: "Ja",
  no: "Nein",
};
