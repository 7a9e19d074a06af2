import { formatDuration } from "../format.ts";

const LOCALE = "de";

export const device = {
  heading: "Gerät verbinden",
  signedInAs: "Angemeldet als",
  otherAccount: "Nicht Sie? Anderes Konto verwenden",
  explanation: "Geben Sie den Code ein, den Ihr Gerät anzeigt.",
  compare:
    "Vergleichen Sie diesen Code mit dem auf Ihrem Gerät. Gehen Sie nur weiter, wenn beide gleich sind.",
  code: "Code",
  submit: "Weiter",
  failed: "Das Gerät ist noch nicht verbunden",
  wrongCode:
    "Dieser Code ist falsch oder zu alt. Prüfen Sie ihn oder lassen Sie Ihr Gerät einen neuen anzeigen.",
  usedCode:
    "Dieser Code wurde schon verwendet. Wenn Ihr Gerät noch wartet, lassen Sie es einen neuen anzeigen.",
  rateLimited: (seconds: number) =>
    `Es gab zu viele falsche Codes. Warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es dann noch einmal.`,
  expired: "Diese Seite ist abgelaufen",
  expiredText: "Es wurde nichts erlaubt. Gehen Sie weiter, um es noch einmal zu versuchen.",
  question: (application: string) => `Darf ${application} auf einem Gerät Ihr Konto verwenden?`,
  codeOnDevice: "Code am Gerät",
  device: "Laut Gerät",
  unknownDevice: "Keine Angabe",
  address: "Netzwerkadresse",
  asked: "Angefragt",
  ago: (seconds: number) =>
    seconds < 60 ? "gerade eben" : `vor ${formatDuration(LOCALE, Math.floor(seconds / 60) * 60)}`,
  warning: "Haben Sie dieses Gerät vor sich?",
  warningText:
    "Erlauben Sie nur, was Sie selbst begonnen haben. Wenn Ihnen jemand den Code oder den Link geschickt hat, lehnen Sie ab: Sonst käme diese Person in Ihr Konto.",
  allow: "Erlauben",
  deny: "Ablehnen",
  allowedHeading: "Ihr Gerät ist verbunden",
  allowed: (application: string) =>
    `${application} macht dort gleich weiter. Sie können diese Seite schließen.`,
  deniedHeading: "Das Gerät wurde abgewiesen",
  denied: "Es bekommt nichts von Ihrem Konto. Sie können diese Seite schließen.",
};
