/** The pages on which everybody looks after their own account. */
import { formatDay, formatDuration, formatMinute } from "../../format.ts";

const LOCALE = "de";

export const account = {
  profile: {
    title: "Profil",
    summary: (organisation: string) => `Wie ${organisation} und die Anwendungen dort Sie kennen.`,
    personal: "Über Sie",
    firstname: "Vorname",
    surname: "Nachname",
    phone: "Telefonnummer",
    locale: "Sprache",
    localeHint: "Für diese Seiten, die Anmeldung und E-Mails an Sie.",
    asBrowser: "Wie in meinem Browser eingestellt",
    badName: "Ein Name hat höchstens 100 Zeichen und keine Zeilenumbrüche.",
    badPhone: "Eine Telefonnummer hat 3 bis 32 Ziffern, Leerzeichen und Zeichen wie + ( ) / -.",
    badLocale: "Wählen Sie eine aus der Liste.",
    saved: "Ihr Profil ist gespeichert.",
    changedByYou: "Sie haben Ihr Profil inzwischen woanders geändert",
    changedByYouText: (milliseconds: number) =>
      `In einem anderen Fenster, am ${formatMinute(LOCALE, milliseconds)} UTC. Ihre Eingaben stehen noch hier und sind nicht gespeichert. Vergleichen Sie sie mit den aktuellen Werten. Wenn Sie noch einmal speichern, gelten sie.`,
    email: "E-Mail-Adresse",
    emailText: "Mit ihr melden Sie sich an, und E-Mails gehen dorthin.",
    confirmed: "Bestätigt",
    unconfirmed: "Nicht bestätigt",
    changeEmail: "Ändern",
    membership: "Ihr Konto",
    organisation: "Organisation",
    role: "Rolle",
    roles: { Standard: "Mitglied", Administrator: "Administrator" },
    username: "Benutzername",
    permId: "Kontonummer",
    since: "Mitglied seit",
    guest: (organisation: string) => `Ihr Konto gehört zu ${organisation}`,
    guestText: (organisation: string) =>
      `Bei ${organisation} sind Sie zu Gast. Name, Adresse, Passwort und Sprache ändern Sie dort, wo Ihr Konto hingehört.`,
    guestOpen: (organisation: string) => `Zu Ihrem Konto bei ${organisation}`,
  },
  address: {
    title: "E-Mail-Adresse ändern",
    text: (email: string) =>
      `Sie bekommen eine E-Mail mit einem Link an die neue Adresse. Bis Sie ihn öffnen und bestätigen, bleibt es bei ${email}.`,
    newEmail: "Neue E-Mail-Adresse",
    submit: "E-Mail senden",
    failed: "Es wurde keine E-Mail gesendet",
    invalid: "Das ist keine E-Mail-Adresse. Prüfen Sie sie, und versuchen Sie es noch einmal.",
    same: "Das ist schon Ihre Adresse.",
    limited: (seconds: number) =>
      `Es gab zu viele Anfragen. Warten Sie ${formatDuration(LOCALE, seconds)}, und versuchen Sie es noch einmal.`,
    sentTitle: "Sehen Sie in Ihr Postfach",
    sent: (email: string) =>
      `Eine E-Mail mit einem Link ist unterwegs an ${email}, wenn die Adresse frei ist. Der Link gilt einmal, einen Tag lang.`,
    back: "Zurück zum Profil",
  },
  password: {
    title: "Passwort ändern",
    titleFirst: "Passwort festlegen",
    text: "Dieser Browser bleibt angemeldet. Alles andere, was mit Ihrem Konto angemeldet ist, wird abgemeldet, und Anwendungen verlieren ihren Zugriff.",
    card: "Passwort",
    there: (milliseconds: number) => `Festgelegt am ${formatDay(LOCALE, milliseconds)}`,
    none: "Sie haben keines.",
    change: "Ändern",
    set: "Festlegen",
    present: "Aktuelles Passwort",
    next: "Neues Passwort",
    submit: "Passwort ändern",
    submitFirst: "Dieses Passwort festlegen",
    wrong: "Das ist nicht Ihr aktuelles Passwort.",
    same: "Das ist schon Ihr Passwort. Wählen Sie ein anderes.",
    limited: (seconds: number) =>
      `Es gab zu viele falsche Passwörter. Warten Sie ${formatDuration(LOCALE, seconds)}, und versuchen Sie es noch einmal.`,
    busy: (seconds: number) =>
      `Gerade melden sich viele an. Warten Sie ${formatDuration(LOCALE, seconds)}, und geben Sie es dann noch einmal ein; es ist nichts falsch daran.`,
    forgot: "Vergessen? Link per E-Mail anfordern",
    changed: "Ihr Passwort ist geändert. Alles andere ist abgemeldet.",
    notYou: "Sperren Sie andere sofort aus",
    notYouText:
      "Ein neues Passwort meldet jeden anderen Browser und jede Anwendung sofort ab. Prüfen Sie danach Ihre zweiten Faktoren, und entfernen Sie, was nicht von Ihnen ist.",
  },
  protection: {
    title: "Wie gut ist Ihr Konto geschützt?",
    passkey: "Sehr gut: Sie haben einen Passkey, den Ihnen keine gefälschte Seite entlockt.",
    totp: "Gut: Wer Ihr Passwort erfährt, braucht noch Ihre Authenticator-App. Ein Passkey würde Sie auch vor gefälschten Anmeldeseiten schützen.",
    password:
      "Allein durch ein Passwort: Wer es erfährt, kann sich anmelden. Fügen Sie einen zweiten Faktor hinzu.",
    guest: "Was Ihr Konto schützt, wird bei der Organisation eingerichtet, zu der es gehört.",
    fewCodes: (count: number) =>
      count === 1
        ? "Es ist nur noch ein Wiederherstellungscode übrig. Erstellen Sie neue, solange Sie können."
        : `Es sind noch ${count} Wiederherstellungscodes übrig. Erstellen Sie neue, solange Sie können.`,
  },
  applications: {
    byOrganisation: "Von der Organisation erlaubt",
    byOrganisationText: (organisation: string) =>
      `Sie verwenden diese Anwendungen, und ${organisation} hat entschieden, was sie dürfen. Sie wurden nicht gefragt.`,
    used: (milliseconds: number) => `Zuletzt angemeldet am ${formatDay(LOCALE, milliseconds)}`,
  },
  activity: {
    title: "Aktivität",
    summary: (organisation: string) =>
      `Was mit Ihrem Konto bei ${organisation} geschehen ist, das Neueste zuerst. Zeiten in UTC.`,
    none: "Noch ist nichts geschehen.",
    what: "Was",
    when: "Wann",
    by: "Von",
    from: "Woher",
    you: "Ihnen",
    administrator: "der Administration",
    notYou: "War etwas davon nicht von Ihnen?",
    notYouText: "Dann legen Sie jetzt ein neues Passwort fest. Es meldet alles andere ab.",
    notYouAct: "Das war ich nicht",
  },
  data: {
    title: "Ihre Daten",
    summary: (organisation: string) =>
      `Was ${organisation} hier über Sie speichert, und wie Sie das beenden.`,
    export: "Ihre Daten herunterladen",
    exportText:
      "Eine Datei (JSON) mit allem, was über Sie gespeichert ist: Profil, Mitgliedschaften, zweite Faktoren ohne ihre Geheimnisse, Sitzungen, Anwendungen und was geschehen ist. Von anderen steht nichts darin.",
    exportAct: "Herunterladen",
    limited: (seconds: number) =>
      `Sie haben sie mehrmals heruntergeladen. Warten Sie ${formatDuration(LOCALE, seconds)}, und versuchen Sie es noch einmal.`,
    notExported: "Es wurde keine Datei erstellt",
    remove: "Ihr Konto löschen",
    removeText: "Ihr Konto wird gelöscht, mit allem, was über Sie gespeichert ist. Das ist endgültig.",
    removeForbidden: (organisation: string) =>
      `Bei ${organisation} löscht nur die Administration Konten. Wenden Sie sich an sie.`,
    removeAct: "Mein Konto löschen",
    leave: (organisation: string) => `${organisation} verlassen`,
    leaveText: (organisation: string) =>
      `Was ${organisation} über Sie speichert, wird gelöscht. Ihr eigentliches Konto bleibt, wie es ist.`,
    leaveAct: "Verlassen",
  },
  deletion: {
    title: "Ihr Konto löschen?",
    effects: [
      "Sie werden überall abgemeldet, und die Anwendungen erfahren davon.",
      "Ihr Profil, Passwort, Ihre zweiten Faktoren, Zustimmungen und Einstellungen werden gelöscht, auch dort, wo Sie zu Gast sind.",
      "Was Anwendungen selbst über Sie gespeichert haben, bleibt bei ihnen.",
      "Im Auditprotokoll bleibt, was geschehen ist, unter Ihrer Kontonummer und ohne Ihren Namen.",
      "Niemand kann das Konto zurückholen.",
    ],
    confirm: "Mein Konto endgültig löschen",
    failed: "Ihr Konto wurde nicht gelöscht",
    lastAdministrator: "Sonst ist niemand in der Administration",
    lastAdministratorText: (organisation: string) =>
      `Niemand könnte sich mehr um ${organisation} kümmern. Geben Sie zuerst jemand anderem die Rolle.`,
    leaveTitle: (organisation: string) => `${organisation} verlassen?`,
    leaveText: (organisation: string) =>
      `Sie werden bei ${organisation} und den Anwendungen dort abgemeldet, und was dort über Sie gespeichert ist, wird gelöscht. Ihr eigentliches Konto bleibt. Zurück kommen Sie nur mit einer neuen Einladung.`,
    leaveConfirm: "Verlassen",
    goneTitle: "Ihr Konto ist gelöscht",
    gone: "Sie sind überall abgemeldet, und die Anwendungen wissen davon.",
    leftTitle: (organisation: string) => `Sie haben ${organisation} verlassen`,
    left: "Ihr eigentliches Konto ist, wie es war.",
  },
  moment: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
};
