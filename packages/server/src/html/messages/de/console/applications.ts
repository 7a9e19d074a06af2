/** The applications of an organisation, in its console. */

const LOCALE = "de";
const number = (count: number) => new Intl.NumberFormat(LOCALE).format(count);

export const applications = {
  kinds: {
    web: "Webanwendung",
    spa: "Single-Page-Anwendung",
    native: "Desktop- oder Mobilanwendung",
    service: "Dienst",
    device: "Gerät oder Fernseher",
    legacy: "Ältere Webanwendung",
    public: "Öffentlicher Client",
  },
  kindTexts: {
    web: "Ihre Seiten entstehen auf einem Server, der ein Geheimnis bewahrt. Menschen melden sich an.",
    spa: "Sie läuft allein im Browser, ohne eigenen Server. Menschen melden sich an.",
    native:
      "Sie ist auf einem Rechner oder Telefon installiert. Menschen melden sich mit dem Browser an, der dort ist.",
    service: "Ein Programm, das in eigenem Namen eine API aufruft. Niemand meldet sich an.",
    device: "Es hat keine Tastatur oder keinen Browser: Menschen bestätigen einen Code auf ihrem Telefon.",
    legacy: "Eine Webanwendung, die mit Sitzungsschlüsseln der Föderation statt mit Token arbeitet.",
  },
  types: {
    confidential: "Mit Geheimnis oder Schlüssel",
    spa: "Single-Page",
    native: "Desktop, mobil oder Gerät",
    public: "Andere öffentliche Clients",
  },
  list: {
    summary:
      "Anwendungen, bei denen sich Menschen anmelden, und Programme, die in eigenem Namen Token bekommen.",
    create: "Neue Anwendung",
    quickstart: "Schnellstart öffnen",
    none: "Es gibt noch keine Anwendung",
    noneText:
      "Eine Anwendung wird hier registriert, bevor sich Menschen bei ihr anmelden können. Der Schnellstart legt eine an und zeigt den Code dafür.",
    search: "Name oder Client-ID",
    type: "Art der Anwendung",
    anyType: "Jede Art",
    state: "Status",
    anyState: "Jeder Status",
    name: "Name",
    kind: "Art der Anwendung",
    created: "Angelegt am",
    enabled: "Aktiv",
    disabled: "Gesperrt",
  },
  choose: {
    title: "Neue Anwendung",
    summary: "Wählen Sie, was es ist. Daraus folgen passende Einstellungen, die Sie später ändern können.",
    systemAccount: "Programm mit Schlüsselpaar",
    systemAccountText:
      "Es signiert jede seiner Anfragen. Solche Programme haben stattdessen ein Systemkonto.",
  },
  create: {
    submit: "Anwendung anlegen",
    later: "Alles andere hat einen sinnvollen Wert und lässt sich in den Einstellungen ändern.",
  },
  done: {
    created: "Die Anwendung ist bereit.",
    saved: "Die Einstellungen sind gespeichert.",
    disabled: "Die Anwendung ist gesperrt.",
    enabled: "Die Anwendung ist aktiv.",
    deleted: "Die Anwendung ist gelöscht.",
    secretEnded: "Das Geheimnis gilt nicht mehr.",
  },
  record: {
    facts: "Kennungen",
    state: "Status",
    kind: "Art der Anwendung",
    clientId: "Client-ID",
    issuer: "Aussteller",
    proof: "Weist sich aus durch",
    grants: "Bekommt Token durch",
    addresses: "Anmeldungen kehren zurück zu",
    pool: "Token signiert vom Pool",
    created: "Angelegt am",
    settings: "Einstellungen",
    quickstart: "Code und erste Anmeldung",
  },
  secrets: {
    title: "Client-Geheimnisse",
    text: "Mit einem davon weist sich die Anwendung aus. Mehrere können nebeneinander gelten, damit eines das andere ohne Unterbrechung ablöst.",
    add: "Geheimnis hinzufügen",
    label: "Bezeichnung",
    labelHint:
      "Um es von den anderen zu unterscheiden, zum Beispiel nach dem Ort, an dem es aufbewahrt wird.",
    labelFault: "Höchstens 100 sichtbare Zeichen.",
    choiceFault: "Wählen Sie etwas aus der Liste.",
    state: "Status",
    created: "Angelegt am",
    used: "Zuletzt verwendet",
    expires: "Läuft ab am",
    unnamed: "Ohne Bezeichnung",
    active: "Gültig",
    expired: "Abgelaufen",
    ended: "Beendet",
    end: "Beenden",
    endOf: (name: string) => `Beenden: Geheimnis ${name}`,
    firstLabel: "Erstes Geheimnis",
    secret: "Client-Geheimnis",
    shownTitle: (name: string) => `Das Geheimnis von ${name}`,
    shownText:
      "Legen Sie es dort ab, wo die Anwendung ihre Geheimnisse aufbewahrt. Hier bleiben nur seine letzten Zeichen.",
    newTitle: "Client-Geheimnis hinzufügen",
    newText:
      "Um ein Geheimnis abzulösen: Fügen Sie hier eines hinzu, geben Sie es der Anwendung, und beenden Sie das alte, sobald es nicht mehr verwendet wird.",
    lifetime: "Es gilt",
    lifetimeHint: "Ein Geheimnis, das von selbst abläuft, kann nicht in einer vergessenen Kopie weiterleben.",
    lifetimeNever: "Solange niemand es beendet",
    others: "Die anderen Geheimnisse",
    othersHint: "Zeit genug, um das neue der Anwendung zu geben.",
    othersLater: "Gelten weiter wie bisher",
    days: (count: number) => (count === 1 ? "Einen Tag" : `${number(count)} Tage`),
    create: "Geheimnis anlegen",
    advice: {
      none: "Kein Geheimnis ist gültig: Die Anwendung kann sich nicht ausweisen. Fügen Sie eines hinzu.",
      expiring:
        "Alle Geheimnisse laufen in den nächsten 30 Tagen ab. Fügen Sie rechtzeitig das nächste hinzu.",
      old: "Die Geheimnisse sind über ein Jahr alt. Lösen Sie sie ab, wenn es Ihnen passt.",
      several: "Mehrere Geheimnisse sind gültig. Beenden Sie die, die nicht mehr verwendet werden.",
    },
    endHeading: (name: string) => `Das Geheimnis ${name} beenden?`,
    endText: (application: string) =>
      `${application} kann sich ab diesem Augenblick nicht mehr damit ausweisen. Token, die es schon gibt, gelten weiter.`,
    endLast: (application: string) =>
      `Es ist das letzte gültige: ${application} bekommt keine weiteren Token, bis ein anderes da ist.`,
    endConfirm: "Geheimnis beenden",
  },
  access: {
    title: "Wer sie verwenden darf",
    everyone: (organisation: string) => `Alle bei ${organisation}.`,
    assigned: "Nur, wer ihr zugewiesen ist.",
    count: (count: number) =>
      count === 1 ? "Eine Person ist zugewiesen." : `${number(count)} Personen sind zugewiesen.`,
    many: (count: number) => `Mehr als ${number(count)} Personen sind zugewiesen.`,
    users: "Zugewiesene Personen",
  },
  consent: {
    title: "Wer gefragt wird",
    user: "Jede Person wird einmal gefragt, was die Anwendung verwenden darf, und kann es jederzeit widerrufen.",
    organisation: "Administratoren entscheiden für alle. Die Menschen werden nicht gefragt.",
    preauthorized: "Niemand wird gefragt: Die Anwendung gehört zur Organisation.",
    change: "Ändern, wer gefragt wird",
  },
  recent: {
    title: "Letzte Anmeldungen",
    who: "Wer",
    when: "Wann",
    state: "Status",
    standing: "Aktiv",
    ended: "Beendet",
    formerUser: "Ein früherer Benutzer",
    none: "Noch hat sich niemand bei ihr angemeldet.",
  },
  users: {
    title: (application: string) => `${application} zugewiesene Personen`,
    heading: "Zugewiesene Personen",
    ruled: "Nur diese Personen können sich bei der Anwendung anmelden.",
    notRuled:
      "Zurzeit können sich alle anmelden. Diese Liste gilt, sobald der Zugang nur für zugewiesene Personen ist.",
    change: "Ändern, wer sie verwenden darf",
    assignTitle: "Person zuweisen",
    email: "E-Mail-Adresse",
    assign: "Zuweisen",
    unknown: (organisation: string) => `Niemand bei ${organisation} hat diese Adresse.`,
    list: "Zugewiesen sind",
    none: "Noch ist niemand zugewiesen.",
    who: "Wer",
    since: "Seit",
    by: "Zugewiesen von",
    takeOff: "Entfernen",
    takeOffOf: (email: string) => `Entfernen: ${email}`,
    takeOffHeading: (email: string) => `${email} von der Liste entfernen?`,
    takeOffText: (application: string) =>
      `Eine Anmeldung bei ${application} ist dann nicht mehr möglich, und die Sitzungen dort enden sofort.`,
    takeOffNothing: (application: string) =>
      `Zurzeit dürfen alle ${application} verwenden, sodass sich jetzt nichts ändert.`,
    assigned: "Die Person ist zugewiesen.",
    takenOff: "Die Person ist von der Liste entfernt.",
  },
  end: {
    title: "Sperren oder löschen",
    text: "Eine gesperrte Anwendung lässt sich wieder freigeben. Eine gelöschte ist weg, mit allem, was zu ihr gehört.",
    disabledText:
      "Niemand kann sich bei ihr anmelden, solange sie gesperrt ist. Eine gelöschte ist endgültig weg.",
    disable: "Sperren",
    enable: "Freigeben",
    delete: "Löschen",
    disableHeading: (application: string) => `${application} sperren?`,
    disableText: (application: string) =>
      `Niemand kann sich bei ${application} anmelden, solange die Anwendung gesperrt ist. Ihre Sitzungen und Refresh-Token enden sofort und kommen nicht zurück.`,
    enableHeading: (application: string) => `${application} freigeben?`,
    enableText: (application: string) =>
      `Menschen können sich wieder bei ${application} anmelden, und Programme bekommen Token.`,
    deleteHeading: (application: string) => `${application} löschen?`,
    deleteText: (application: string) =>
      `${application} wird mit Geheimnissen, Token, Zustimmungen, Zuweisungen und Systemkonten gelöscht. Das lässt sich nicht rückgängig machen.`,
    deleteInstead: "Wenn sie noch einmal gebraucht werden könnte, sperren Sie sie stattdessen.",
    deleteConfirm: "Endgültig löschen",
  },
};
