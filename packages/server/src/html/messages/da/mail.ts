import { formatDuration, formatMinute } from "../format.ts";

const LOCALE = "da";

const utc = (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`;

export const recovery = {
  forgot: "Har du glemt din adgangskode?",
  heading: "Har du glemt din adgangskode?",
  explanation: (organisation: string) =>
    `Skriv mailadressen til din konto hos ${organisation}. Du får en mail med et link, så du kan vælge en ny adgangskode.`,
  email: "Mailadresse",
  send: "Send mailen",
  back: "Tilbage til login",
  notSent: "Der blev ikke sendt nogen mail",
  invalidEmail: "Det er ikke en mailadresse. Tjek den, og prøv igen.",
  rateLimited: (seconds: number) =>
    `Der var mange anmodninger. Brug den nyeste mail, du har, eller vent ${formatDuration(LOCALE, seconds)}, og prøv igen.`,
  expired: "Siden er udløbet",
  sendAgain: "Intet er gået tabt: Send den én gang til.",
  sentHeading: "Tjek din indbakke",
  sent: (email: string, organisation: string) =>
    `Hvis ${organisation} har en konto til ${email}, er en mail med et link på vej dertil. Linket virker én gang og i en time.`,
  nothingArrived: "Er der ikke kommet noget efter nogle minutter? Se i spammappen, og tjek adressen.",
  tryAgain: "Prøv en anden adresse",
  notSetUpHeading: "Mail er ikke sat op her",
  notSetUp: (organisation: string) =>
    `Derfor kan vi ikke sende dig et link. Bed en administrator hos ${organisation} om at give dig en ny adgangskode.`,
  newHeading: "Vælg en ny adgangskode",
  account: "Til kontoen",
  newPassword: "Ny adgangskode",
  hint: (least: number) => `Mindst ${least} tegn. Nogle ord, der ikke hører sammen, er nemme at huske.`,
  signsOut: "Alle, der er logget ind med den gamle, bliver logget ud, her og alle andre steder.",
  set: "Brug denne adgangskode",
  notChanged: "Adgangskoden er stadig den gamle",
  refused: {
    "too-short": (least: number) => `Vælg en, der er længere: mindst ${least} tegn.`,
    "too-long": (most: number) => `Vælg en, der er kortere: højst ${most} tegn.`,
    "repeats-pattern": "Den gentager et mønster. Vælg en, der er sværere at gætte.",
    "is-sequence": "Den er en simpel rækkefølge. Vælg en, der er sværere at gætte.",
    "is-common": "Den er en af dem, man prøver først. Vælg en, der er sværere at gætte.",
    "is-about-user": "Den består af dit navn eller din adresse. Vælg en, der er sværere at gætte.",
  },
  busy: (seconds: number) =>
    `Mange logger ind lige nu. Vent ${formatDuration(LOCALE, seconds)}, og skriv den så igen; der er ikke noget galt med den.`,
  typeAgain: "Intet er gået tabt: Skriv den nye adgangskode én gang til.",
  doneHeading: "Din adgangskode er ændret",
  done: (organisation: string) =>
    `Du er logget ud af ${organisation} overalt. Log nu ind med den nye adgangskode.`,
  doneElsewhere: "Du kan lukke vinduet og logge ind der, hvor du kom fra.",
  checkFactors: "Kendte en anden måske den gamle adgangskode? Se, hvad der ellers kan logge ind på kontoen.",
  goOn: (application: string) => `Fortsæt til ${application}`,
};

export const brokenLink = {
  heading: "Linket virker ikke længere",
  explanation:
    "Det er allerede brugt, det er for gammelt, eller der er sendt et nyere. Det link, der virker, står i den nyeste mail.",
  another: "Bed om en ny mail",
};

export const verifyEmail = {
  heading: "Bekræft din mailadresse",
  explanation: (organisation: string) =>
    `Hos ${organisation} kan du fortsætte, når du har vist, at adressen er din. Du får en mail med et link.`,
  signedInAs: "Logget ind som",
  switchAccount: "Ikke dig? Brug en anden konto",
  send: "Send mailen",
  sentHeading: "Tjek din indbakke",
  sent: (email: string) => `En mail med et link er på vej til ${email}. Linket virker én gang og i et døgn.`,
  nothingArrived: "Er der ikke kommet noget efter nogle minutter? Se i spammappen.",
  notSetUp: (organisation: string) =>
    `Derfor kan vi ikke sende dig et link. Bed en administrator hos ${organisation} om at bekræfte din adresse.`,
  confirmHeading: "Er det din mailadresse?",
  confirmText: (organisation: string) =>
    `Nogen, højst sandsynligt dig, har en konto hos ${organisation} med den. Hvis du ikke kender noget til det, så luk siden: Så sker der ingenting.`,
  account: "Til kontoen",
  confirm: "Ja, bekræft den",
  notConfirmed: "Adressen er ikke bekræftet endnu",
  confirmAgain: "Intet er gået tabt: Bekræft den én gang til.",
  doneHeading: "Din mailadresse er bekræftet",
  done: (organisation: string) => `${organisation} ved nu, at den er din.`,
};

export const action = {
  account: "Til kontoen",
  newAddress: "Ny adresse",
  expired: "Siden er udløbet",
  again: "Intet er gået tabt: Prøv én gang til.",
  notSet: "Der er ikke valgt en adgangskode endnu",
  busy: (seconds: number) =>
    `Mange logger ind lige nu. Vent ${formatDuration(LOCALE, seconds)}, og prøv så igen; der er ikke noget galt med det, du skrev.`,
  VerifyEmail: {
    heading: "Er det din mailadresse?",
    text: (organisation: string) =>
      `Nogen, højst sandsynligt dig, har registreret sig hos ${organisation} med den. Hvis du ikke kender noget til det, så luk siden: Så sker der ingenting.`,
    confirm: "Ja, bekræft den",
    doneHeading: "Din mailadresse er bekræftet",
    done: (organisation: string) => `Du kan nu logge ind hos ${organisation}.`,
  },
  AcceptInvitation: {
    heading: "Vælg en adgangskode",
    text: (organisation: string) => `Med den logger du ind hos ${organisation}.`,
    confirm: "Brug denne adgangskode",
    doneHeading: "Din konto er klar",
    done: (organisation: string) => `Du kan nu logge ind hos ${organisation}.`,
  },
  AcceptRoaming: {
    heading: "Vil du også bruge din konto her?",
    text: (organisation: string) =>
      `${organisation} får dit navn, din mailadresse og dit telefonnummer at se og kan give dig adgang til applikationer, men kan ikke ændre din adgangskode. Hvis du ikke vil have det, så luk siden: Så sker der ingenting.`,
    confirm: "Ja, brug den her",
    doneHeading: "Din konto virker nu også her",
    done: (organisation: string) => `Du kan nu logge ind hos ${organisation} med din konto.`,
  },
  ChangeEmail: {
    heading: "Er det din nye mailadresse?",
    text: (organisation: string) =>
      `Når du bekræfter den, bruger din konto hos ${organisation} den, og mails bliver sendt dertil. Hvis du ikke kender noget til det, så luk siden: Så sker der ingenting.`,
    confirm: "Ja, skift til den",
    doneHeading: "Din mailadresse er ændret",
    done: (organisation: string) => `Din konto hos ${organisation} bruger den nye fra nu af.`,
  },
};

const factors = {
  totp: "En godkendelsesapp",
  passkey: "En adgangsnøgle",
  "recovery-codes": "Et sæt gendannelseskoder",
};

const pronouns = { totp: "den", passkey: "den", "recovery-codes": "det" };

export const mails = {
  test: {
    subject: (title: string) => `Prøve: ${title}`,
    text: "Det er en prøve, som en administrator har sendt til sig selv. Der er ikke sket noget, og knappen fører ikke til noget, der kan gøres.",
  },
  footer: (organisation: string) =>
    `Sendt af Signet for ${organisation}. Svar til denne adresse bliver ikke læst.`,
  fact: (name: string, value: string) => `${name}: ${value}`,
  copyLink: "Hvis knappen ikke virker, så kopiér denne adresse ind i din browser:",
  facts: { at: "Hvornår", browser: "Browser", address: "Netværksadresse" },
  moment: utc,
  newPassword: "Vælg en ny adgangskode",
  notYou:
    "Hvis det ikke var dig, så vælg straks en ny adgangskode. Så bliver alle, der er logget ind nu, logget ud.",
  resetPassword: {
    subject: (organisation: string) => `Vælg en ny adgangskode til ${organisation}`,
    text: (organisation: string) =>
      `Nogen, højst sandsynligt dig, har bedt om at vælge en ny adgangskode til din konto hos ${organisation}.`,
    validity: (expiresAt: number) => `Linket virker én gang, indtil den ${utc(expiresAt)}.`,
    otherwise:
      "Hvis du ikke har bedt om det, skal du ikke gøre noget: Din adgangskode forbliver, som den er.",
  },
  verifyEmail: {
    subject: (organisation: string) => `Bekræft din mailadresse til ${organisation}`,
    text: (organisation: string) => `Bekræft, at dette er mailadressen til din konto hos ${organisation}.`,
    confirm: "Bekræft adressen",
    validity: (expiresAt: number) => `Linket virker én gang, indtil den ${utc(expiresAt)}.`,
    otherwise: "Hvis du ikke kender noget til det, skal du ikke gøre noget.",
  },
  acceptInvitation: {
    subject: (organisation: string) => `Du er inviteret til en konto hos ${organisation}`,
    text: (organisation: string) =>
      `${organisation} har oprettet en konto til dig. Vælg en adgangskode, så er den din.`,
    confirm: "Vælg en adgangskode",
    validity: (expiresAt: number) => `Linket virker én gang, indtil den ${utc(expiresAt)}.`,
    otherwise:
      "Hvis du ikke kender noget til det, skal du ikke gøre noget: Ingen kan logge ind på den konto.",
  },
  acceptRoaming: {
    subject: (organisation: string) => `Vil du logge ind hos ${organisation} med din konto?`,
    text: (organisation: string) =>
      `Hvis du vil, kan du logge ind hos ${organisation} med den konto, du allerede har. ${organisation} får så dit navn, din mailadresse og dit telefonnummer at se, men kan ikke ændre din adgangskode.`,
    confirm: "Se detaljerne",
    validity: (expiresAt: number) => `Linket virker én gang, indtil den ${utc(expiresAt)}.`,
    otherwise: "Hvis du ikke vil have det, skal du ikke gøre noget: Intet bliver ændret.",
  },
  changeEmail: {
    subject: (organisation: string) => `Bekræft din nye mailadresse til ${organisation}`,
    text: (organisation: string) =>
      `Bekræft, at dette er den nye mailadresse til din konto hos ${organisation}. Indtil da gælder den gamle.`,
    confirm: "Bekræft adressen",
    validity: (expiresAt: number) => `Linket virker én gang, indtil den ${utc(expiresAt)}.`,
    otherwise: "Hvis du ikke kender noget til det, skal du ikke gøre noget.",
  },
  accountExists: {
    subject: (organisation: string) => `Du har allerede en konto hos ${organisation}`,
    text: (organisation: string) =>
      `Nogen, højst sandsynligt dig, ville registrere sig hos ${organisation} med denne adresse. Der findes allerede en konto med den, og intet er ændret.`,
    advice:
      "Log ind med den adgangskode, du har. Hvis du ikke kan huske den, så vælg en ny. Hvis det ikke var dig, skal du ikke gøre noget.",
  },
  emailChanged: {
    subject: (organisation: string) => `Din mailadresse hos ${organisation} er ændret`,
    text: (organisation: string) =>
      `Din konto hos ${organisation} har en anden mailadresse fra nu af. Denne bruges ikke længere til kontoen.`,
    advice: (organisation: string) =>
      `Hvis det ikke var dig, så sig det straks til en administrator hos ${organisation}: Mails med links bliver nu sendt til den anden adresse.`,
  },
  accountDeleted: {
    subject: (organisation: string) => `Din konto hos ${organisation} er slettet`,
    text: (organisation: string) =>
      `Din konto hos ${organisation} findes ikke længere, og det gør det, der var gemt om dig der, heller ikke. Du er logget ud overalt, og applikationerne har fået besked.`,
    advice: (organisation: string) =>
      `Hvis det ikke var dig, så sig det straks til en administrator hos ${organisation}. Kontoen kan ikke bringes tilbage.`,
  },
  passwordChanged: {
    subject: (organisation: string) => `Din adgangskode til ${organisation} er ændret`,
    text: (organisation: string) =>
      `Din konto hos ${organisation} har fået en ny adgangskode. Alle, der var logget ind med den gamle, er logget ud.`,
  },
  newSignIn: {
    subject: (organisation: string) => `Nyt login hos ${organisation}`,
    text: (organisation: string) =>
      `Nogen har logget ind på din konto hos ${organisation} med en browser, der ikke er brugt til den før. Hvis det var dig, skal du ikke gøre noget.`,
  },
  factorAdded: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} er føjet til din konto hos ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} er føjet til din konto hos ${organisation}. Fra nu af kan ${pronouns[factor]} bruges til at logge ind.`,
  },
  factorRemoved: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} er fjernet fra din konto hos ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} er fjernet fra din konto hos ${organisation}. Fra nu af kan ${pronouns[factor]} ikke bruges til at logge ind.`,
  },
};
