import { formatDuration } from "../format.ts";

const LOCALE = "da";

export const twoFactor = {
  title: (application: string) => `Bekræft, at det er dig, for at fortsætte til ${application}`,
  headings: {
    passkey: "Brug din adgangsnøgle",
    totp: "Skriv koden fra din app",
    recovery: "Skriv en gendannelseskode",
  },
  explanations: {
    passkey: "Din browser beder om dit fingeraftryk, dit ansigt, din pinkode eller din sikkerhedsnøgle.",
    totp: "Åbn din godkendelsesapp, og skriv de seks cifre, den viser.",
    recovery: "Du fik ti af dem, da du satte din ekstra faktor op. Hver kode virker én gang.",
  },
  signingInAs: "Logger ind som",
  otherAccount: "Ikke dig? Brug en anden konto",
  code: "Kode",
  recoveryCode: "Gendannelseskode",
  remember: "Husk denne browser i 30 dage",
  rememberHint: "Kun hvor ingen andre logger ind.",
  submit: (application: string) => `Fortsæt til ${application}`,
  usePasskey: "Brug adgangsnøgle",
  others: "En anden måde",
  choose: {
    passkey: "Brug en adgangsnøgle",
    totp: "Brug din godkendelsesapp",
    recovery: "Brug en gendannelseskode",
  },
  needsScript: "Adgangsnøgler kræver scripts, og de er slået fra i denne browser.",
  failed: "Du er ikke logget ind endnu",
  failures: {
    passkey: "Adgangsnøglen virkede ikke. Prøv igen, eller vælg en anden måde.",
    totp: "Koden er forkert, for gammel eller brugt før. Vent på den næste, og skriv den.",
    recovery: "Det er ikke en af dine ubrugte koder. Tjek den, og prøv igen.",
  },
  passkeyFailed: "Din browser fik ingen adgangsnøgle. Prøv igen, eller vælg en anden måde.",
  rateLimited: (seconds: number) =>
    `Der var for mange forkerte koder. Vent ${formatDuration(LOCALE, seconds)}, og prøv så igen.`,
  rateLimitedSoon: "Der var for mange forkerte koder. Vent nogle minutter, og prøv så igen.",
};

export const enrolment = {
  title: (application: string) => `Tilføj en ekstra faktor for at fortsætte til ${application}`,
  heading: "Tilføj en ekstra faktor",
  askedByOrganisation: (organisation: string) =>
    `${organisation} beskytter sine konti med mere end en adgangskode.`,
  askedByApplication: (application: string) =>
    `For at fortsætte til ${application} skal du bruge mere end en adgangskode.`,
  totp: {
    heading: "Sæt en godkendelsesapp op",
    scan: "Scan denne kode med din godkendelsesapp",
    image: "QR-kode til din godkendelsesapp",
    open: "På denne enhed? Åbn din app",
    byHand: "Kan du ikke scanne den?",
    key: "Skriv i stedet denne nøgle i din app:",
    copy: "Kopiér",
    copied: "Kopieret",
    code: "Kode fra appen",
    submit: "Tilføj godkendelsesapp",
    wrong: "Appen er ikke sat op endnu",
    wrongCode: "Koden passer ikke til denne nøgle. Vent på den næste, og skriv den.",
  },
  passkey: {
    heading: "Tilføj en adgangsnøgle",
    explanation:
      "En adgangsnøgle logger dig ind med dit fingeraftryk, dit ansigt, din pinkode eller en sikkerhedsnøgle. Den virker kun her, så ingen efterligning af siden kan tage den fra dig.",
    name: "Navn, så du kan kende dine adgangsnøgler",
    suggestedName: "Min adgangsnøgle",
    submit: "Tilføj adgangsnøgle",
    wrong: "Adgangsnøglen blev ikke tilføjet",
    notAdded: "Svaret fra din browser kunne ikke bruges. Prøv igen.",
    known: "Adgangsnøglen er her allerede.",
    tooMany: "Du har så mange adgangsnøgler, som en konto kan have. Fjern en først.",
  },
  others: "En anden måde",
  choose: {
    totp: "Brug en godkendelsesapp",
    passkey: "Brug en adgangsnøgle",
  },
};

export const recoveryCodes = {
  title: "Gendannelseskoder",
  heading: "Gem dine gendannelseskoder",
  explanation:
    "Hver af dem logger dig ind én gang, når du ikke har din ekstra faktor ved hånden. Udskriv dem, eller gem dem i en adgangskodeadministrator.",
  once: "Du får dem ikke at se igen",
  onceText: "Vi gemmer kun det, der skal til for at genkende dem.",
  list: "Dine gendannelseskoder",
  copy: "Kopiér alle",
  copied: "Kopieret",
  kept: (destination: string) => `Jeg har gemt dem, fortsæt til ${destination}`,
  keptHere: "Jeg har gemt dem",
};
