import { formatDuration } from "../format.ts";

const LOCALE = "da";

export const device = {
  heading: "Forbind en enhed",
  signedInAs: "Logget ind som",
  otherAccount: "Ikke dig? Brug en anden konto",
  explanation: "Skriv den kode, som din enhed viser.",
  compare: "Sammenlign koden med den på din enhed. Fortsæt kun, hvis de er ens.",
  code: "Kode",
  submit: "Fortsæt",
  failed: "Enheden er ikke forbundet endnu",
  wrongCode: "Koden er forkert eller for gammel. Tjek den, eller lad din enhed vise en ny.",
  usedCode: "Koden er brugt før. Hvis din enhed stadig venter, så lad den vise en ny.",
  rateLimited: (seconds: number) =>
    `Der var for mange forkerte koder. Vent ${formatDuration(LOCALE, seconds)}, og prøv så igen.`,
  expired: "Siden er udløbet",
  expiredText: "Intet blev tilladt. Fortsæt for at prøve igen.",
  question: (application: string) => `Må ${application} bruge din konto på en enhed?`,
  codeOnDevice: "Kode på enheden",
  device: "Ifølge enheden",
  unknownDevice: "Ikke oplyst",
  address: "Netværksadresse",
  asked: "Anmodet",
  ago: (seconds: number) =>
    seconds < 60 ? "lige nu" : `for ${formatDuration(LOCALE, Math.floor(seconds / 60) * 60)} siden`,
  warning: "Har du enheden foran dig?",
  warningText:
    "Tillad kun det, du selv har sat i gang. Hvis nogen har sendt dig koden eller linket, så afvis: Ellers kommer de ind på din konto.",
  allow: "Tillad",
  deny: "Afvis",
  allowedHeading: "Din enhed er forbundet",
  allowed: (application: string) =>
    `${application} fortsætter på enheden om et øjeblik. Du kan lukke denne side.`,
  deniedHeading: "Enheden blev afvist",
  denied: "Den får intet fra din konto. Du kan lukke denne side.",
};
