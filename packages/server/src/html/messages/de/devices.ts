import { formatDay, formatLifetime, formatMinute } from "../format.ts";

const LOCALE = "de";

export const devices = {
  title: "Geräte",
  summary: (organisation: string) =>
    `Die Geräte von ${organisation}. Jedes hat ein eigenes Zertifikat und weist sich damit aus.`,
  nav: { label: "Geräte", list: "Geräte", policy: "Nachweis und Vertrauen" },
  list: {
    heading: "Registrierte Geräte",
    add: "Gerät registrieren",
    search: "Name oder ID",
    state: "Status",
    anyState: "Jeder Status",
    none: "Es gibt noch kein Gerät",
    noneText:
      "Registrieren Sie das erste: Es bekommt einen Code, meldet sich damit einmal an und hat von da an ein Zertifikat.",
    device: "Gerät",
    proof: "Nachweis",
    attested: "TPM",
    unattested: "Keiner",
    until: "Gültig bis",
    noCertificate: "Kein Zertifikat",
    seen: "Zuletzt gesehen",
    never: "Nie",
    day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
    minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
    enrolled: (milliseconds: number) => `Angemeldet am ${formatDay(LOCALE, milliseconds)}`,
    revokedOn: (milliseconds: number) => `seit ${formatDay(LOCALE, milliseconds)}`,
    states: { active: "Aktiv", expired: "Abgelaufen", revoked: "Gesperrt" },
    revoke: "Sperren",
    revokeOf: (name: string) => `„${name}“ sperren`,
    replace: "Ersetzen",
    replaceOf: (name: string) => `„${name}“ ersetzen`,
  },
  register: {
    heading: "Gerät registrieren",
    text: "Sie bekommen einen Code, mit dem sich das Gerät einmal anmeldet.",
    name: "Name",
    nameHint: "So heißt es in Listen und Protokollen. Ohne Namen steht dort seine ID.",
    attestation: "Nachweis durch ein TPM",
    attestationHint:
      "Ein TPM ist ein Chip, der den Schlüssel des Geräts so hält, dass niemand ihn kopieren kann.",
    asForAll: {
      none: "Wie für alle Geräte: nicht verwendet",
      optional: "Wie für alle Geräte: angenommen",
      required: "Wie für alle Geräte: verlangt",
    },
    tightened: { optional: "Angenommen", required: "Verlangt" },
    expiresIn: "Der Code ist verwendbar für",
    lifetime: (seconds: number) => formatLifetime(LOCALE, seconds),
    replaces: "Ersetzt",
    replacesHint:
      "Die ID eines Geräts, das gesperrt wird, sobald dieses sein Zertifikat hat. Darf leer bleiben.",
    submit: "Code erstellen",
    badName: "Ein Name hat höchstens 100 Zeichen und keine Steuerzeichen.",
    badReplaces: "Dieses Gerät gibt es nicht, oder es ist schon gesperrt. Kopieren Sie die ID aus der Liste.",
    badChoice: "Wählen Sie einen der Werte aus der Liste.",
  },
  code: {
    heading: "Der Code ist fertig",
    headingFor: (name: string) => `Der Code für „${name}“`,
    onceText:
      "Kopieren Sie ihn jetzt, und geben Sie ihn nur dem Gerät. Geht er verloren, ziehen Sie ihn zurück und erstellen einen anderen.",
    label: "Registrierungscode",
    command: "Das führen Sie auf dem Gerät aus",
    commandText: "Das Gerät erzeugt seinen Schlüssel, behält ihn und bekommt sein Zertifikat.",
    until: (milliseconds: number) =>
      `Er ist einmal verwendbar, bis ${formatMinute(LOCALE, milliseconds)} UTC.`,
  },
  codes: {
    heading: "Unbenutzte Codes",
    unnamed: "Ein Gerät ohne Namen",
    until: (milliseconds: number) => `Bis ${formatMinute(LOCALE, milliseconds)} UTC`,
    by: (who: string, milliseconds: number) => `erstellt von ${who} am ${formatDay(LOCALE, milliseconds)}`,
    operator: "dem Betreiber",
    program: "einem Systemkonto",
    formerUser: "einem früheren Benutzer",
    tpm: { optional: "TPM angenommen", required: "TPM verlangt" },
    replaces: (name: string) => `Ersetzt „${name}“`,
    withdraw: "Zurückziehen",
    withdrawOf: (name: string) => `Code für „${name}“ zurückziehen`,
    withdrawHeading: (name: string) => `Code für „${name}“ zurückziehen?`,
    withdrawUnnamedHeading: "Diesen Code zurückziehen?",
    withdrawText: "Er gilt dann sofort nicht mehr. Sie können jederzeit einen anderen erstellen.",
    older: "Weitere Codes",
  },
  revoke: {
    heading: (name: string) => `„${name}“ sperren?`,
    text: "Sein Zertifikat und die Token, die es damit bekommen hat, gelten dann sofort nicht mehr. Das lässt sich nicht rückgängig machen: Soll das Gerät zurückkommen, wird es neu registriert und erzeugt einen neuen Schlüssel.",
    reason: "Grund",
    reasons: {
      unspecified: "Keine Angabe",
      keyCompromise: "Sein Schlüssel ist vielleicht in fremden Händen",
      superseded: "Ein anderes Gerät hat seinen Platz eingenommen",
      cessationOfOperation: "Es wird nicht mehr verwendet",
    },
    submit: "Sperren",
  },
  policy: {
    title: "Nachweis und Vertrauen",
    summary: (organisation: string) =>
      `Was ein Gerät zeigt, bevor es von ${organisation} ein Zertifikat bekommt.`,
    heading: "Was verlangt wird",
    attestation: "Nachweis durch ein TPM",
    attestations: {
      none: {
        label: "Nicht verwendet",
        text: "Geräte bewahren ihre Schlüssel in Dateien auf. Nachweise werden abgelehnt.",
      },
      optional: {
        label: "Angenommen",
        text: "Ein Gerät mit TPM kann es nachweisen; andere melden sich ohne an.",
      },
      required: {
        label: "Verlangt",
        text: "Nur ein Gerät mit einem vertrauenswürdigen TPM bekommt ein Zertifikat.",
      },
    },
    ekTrust: "Vertrauenswürdige TPMs",
    ekTrusts: {
      chain: {
        label: "Nach dem Hersteller",
        text: "Das Zertifikat des TPM führt zu einem Hersteller in der Liste unten.",
      },
      allowlist: {
        label: "Einzeln",
        text: "Der eigene Schlüssel des TPM steht in der Liste unten, gleich von welchem Hersteller.",
      },
      both: { label: "Nach beidem", text: "Hersteller und Schlüssel stehen in den Listen unten." },
    },
    afterwards: "Eine Änderung gilt für alles, was danach angemeldet wird. Vorhandene Geräte bleiben.",
    save: "Speichern",
    roots: "Hersteller von TPMs",
    rootsText:
      "Zertifikate, zu denen das Zertifikat eines TPM führen muss. Sie werden dort importiert, wo der Server läuft:",
    noRoots: "Noch ist keines importiert: Keinem TPM wird aufgrund seines Herstellers vertraut.",
    until: (milliseconds: number) => `Gültig bis ${formatDay(LOCALE, milliseconds)}`,
    eks: "Einzelne TPMs",
    eksText:
      "Endorsement Keys, jeder als sein SHA-256-Wert. Sie werden dort hinzugefügt, wo der Server läuft:",
    noEks: "Noch ist keiner hinzugefügt: Keinem TPM wird einzeln vertraut.",
    added: (milliseconds: number) => `Hinzugefügt am ${formatDay(LOCALE, milliseconds)}`,
    more: (count: number) => `Das sind die ersten ${count}. Der Befehl zeigt alle:`,
  },
  done: {
    revoked: "Das Gerät ist gesperrt.",
    withdrawn: "Der Code ist zurückgezogen.",
    saved: "Gespeichert.",
    spent: "Der Code wurde nicht zurückgezogen: Er ist bereits verwendet oder abgelaufen.",
  },
};
