import { formatDuration } from "../format.ts";

const LOCALE = "de";

export const wait = {
  heading: (organisation: string) => `Warten auf die Bestätigung von ${organisation}`,
  explanation: (organisation: string, application: string) =>
    `${organisation} bestätigt jede Anmeldung bei ${application} mit eigenen Schlüsseln. Das dauert einen Augenblick; danach geht es von selbst weiter.`,
  noAgent: (organisation: string) => `${organisation} kann gerade nicht bestätigen`,
  noAgentText: (organisation: string, seconds: number) =>
    `Das Signatursystem ist nicht verbunden. Diese Seite versucht es noch ${formatDuration(LOCALE, seconds)} lang. Wenn nichts geschieht, sagen Sie es der Verwaltung von ${organisation}.`,
  withdrawn: "Sie müssen nicht mehr antworten",
  withdrawnText: "Die letzte Frage wurde zurückgenommen. Wenn es eine neue gibt, erscheint sie hier.",
  answered: "Ihre Antwort wird geprüft",
  answeredText: (organisation: string) => `${organisation} sieht sie sich an. Das dauert einen Augenblick.`,
  look: "Nachsehen, ob es etwas Neues gibt",
  cancel: "Abbrechen",
  message: (organisation: string) => `Nachricht von ${organisation}`,
  timeLeft: "Verbleibende Zeit",
  offline: "Die Verbindung ist unterbrochen. Diese Seite versucht es von selbst noch einmal.",
  number: {
    heading: "Bestätigen Sie mit dieser Zahl",
    explanation: (organisation: string) =>
      `Geben Sie sie dort ein, wo ${organisation} danach fragt, zum Beispiel in der App.`,
    label: "Zahl",
    submit: "Zahl eingegeben",
  },
  passkey: {
    heading: "Bestätigen Sie mit Ihrem Passkey",
    explanation: "Ihr Browser fragt nach Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel.",
    submit: "Passkey verwenden",
    failed: "Ihr Browser hat keinen Passkey bekommen. Versuchen Sie es noch einmal oder brechen Sie ab.",
    needsScript: "Passkeys brauchen Skripte, und die sind in diesem Browser ausgeschaltet.",
  },
  pin: {
    heading: (organisation: string) => `Geben Sie den Code von ${organisation} ein`,
    explanation: "Sie bekommen ihn auf einem anderen Weg, nie auf dieser Seite.",
    label: "Code",
    submit: "Weiter",
  },
  question: (organisation: string) => `${organisation} fragt Sie etwas`,
  confirm: {
    heading: "Bestätigen Sie das?",
    explanation: "Bestätigen Sie nur, was Sie selbst begonnen haben.",
    submit: "Bestätigen",
  },
  stale: "Ihre Antwort wurde nicht verwendet",
  staleText: "Die Frage hatte sich inzwischen geändert. Was jetzt gilt, steht unten.",
  pageTooOld: "Ihre Antwort wurde nicht verwendet",
  pageTooOldText: "Diese Seite war zu alt. Antworten Sie hier noch einmal.",
  signed: (application: string) => `Weiter zu ${application}`,
  signedText: (organisation: string) => `${organisation} hat bestätigt.`,
  goOn: (application: string) => `Weiter zu ${application}`,
  gone: "Hier ist nichts mehr zu tun",
  goneText: (application: string) =>
    `Dieser Browser ist schon zu ${application} weitergegangen. Wenn Sie dort nichts sehen, beginnen Sie von dort noch einmal.`,
  back: (application: string) => `Zurück zu ${application}`,
  backOnDevice:
    "Sie können diese Seite schließen. Für einen neuen Versuch lassen Sie Ihr Gerät einen neuen Code anzeigen.",
  expired: "Das hat zu lange gedauert",
  expiredText: (organisation: string) =>
    `${organisation} hat nicht rechtzeitig bestätigt, und niemand wurde angemeldet. Versuchen Sie es gleich noch einmal.`,
  refused: (organisation: string) => `${organisation} hat das nicht erlaubt`,
  refusedText: (organisation: string) =>
    `Eigene Regeln entscheiden dort, wer wo angemeldet wird. Wenn Sie das für einen Irrtum halten, fragen Sie die Verwaltung von ${organisation}.`,
  cancelled: "Die Anmeldung wurde abgebrochen",
  cancelledText: (organisation: string) =>
    `Niemand wurde angemeldet. Wenn nicht Sie abgebrochen haben, sagen Sie es der Verwaltung von ${organisation}.`,
  wrongAnswer: "Die Antwort war nicht richtig",
  wrongAnswerText: "Niemand wurde angemeldet. Versuchen Sie es noch einmal und antworten Sie neu.",
  noAnswer: "Es kam keine Antwort in der vorgesehenen Zeit",
  noAnswerText:
    "Niemand wurde angemeldet. Versuchen Sie es noch einmal, wenn Sie zur Hand haben, was die Antwort braucht.",
  stepUp: (organisation: string) => `${organisation} verlangt eine stärkere Anmeldung`,
  stepUpText:
    "Niemand wurde angemeldet. Versuchen Sie es noch einmal und zeigen Sie Ihren zweiten Faktor, wenn danach gefragt wird.",
  technical: (organisation: string) => `${organisation} konnte nicht bestätigen`,
  technicalText: (organisation: string) =>
    `Das Signatursystem hatte ein Problem. Versuchen Sie es gleich noch einmal; wenn es bleibt, nennen Sie der Verwaltung von ${organisation} die Referenz unten.`,
};
