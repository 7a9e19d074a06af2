import { formatDuration } from "../format.ts";

const LOCALE = "da";

export const frame = {
  signInBy: "Login med Signet",
  about: "Signet: login og autorisation for organisationer",
  documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
};

export const error = {
  titles: {
    badRequest: "Denne anmodning kan ikke gennemføres",
    notPermitted: "Du kan ikke åbne denne side",
    notFound: "Der er ikke noget på denne adresse",
    tooMany: "For mange anmodninger",
    internal: "Noget gik galt hos os",
    unavailable: "Signet har travlt lige nu",
  },
  advice: {
    badRequest:
      "Gå tilbage til den applikation, du kom fra, og prøv igen. Hvis det sker igen, så sig det til dens support.",
    notPermitted: "Log ind med en anden konto, eller spørg en administrator i din organisation.",
    notFound: "Tjek adressen, eller gå tilbage til den applikation, du kom fra.",
    tooMany: "Vent nogle minutter, og prøv så igen.",
    internal:
      "Det er ikke din skyld. Prøv igen om et øjeblik; hvis det bliver ved, så oplys referencen nedenfor til support.",
    unavailable: "Vent et øjeblik, og prøv så igen.",
  },
  reasons: {
    "client-id-missing": "Linket nævner ingen applikation (client_id mangler).",
    "client-unknown": "Applikationen (client_id) er ikke kendt her.",
    "redirect-uri-missing": "Linket siger ikke, hvor du skal tilbage til (redirect_uri mangler).",
    "redirect-uri-unregistered":
      "Den adresse, du skal tilbage til (redirect_uri), er ikke registreret for applikationen.",
    "app-id-missing": "Linket nævner ingen applikation (appId mangler).",
    "app-unknown": "Applikationen (appId) er ikke kendt her.",
    "return-url-missing": "Linket siger ikke, hvor du skal tilbage til (returnUrl mangler).",
    "return-url-unregistered":
      "Den adresse, du skal tilbage til (returnUrl), er ikke registreret for applikationen.",
    "page-too-old": "Siden er for gammel. Gå tilbage til applikationen, og begynd forfra.",
    "answer-foreign": "Svaret hører ikke til et login, der blev startet her. Prøv igen fra startsiden.",
    "sign-in-not-completed": "Loginnet blev ikke gennemført.",
    "administrators-only": "Denne side er for organisationens administratorer.",
    "foreign-form":
      "Formularen blev sendt fra et andet websted, og intet er ændret. Åbn siden her, og udfyld den selv.",
  },
  reference: "Reference",
  back: (application: string) => `Gå til ${application}`,
};

export const signIn = {
  title: (application: string) => `Log ind for at fortsætte til ${application}`,
  heading: "Log ind",
  headingTo: (application: string) => `for at fortsætte til ${application}`,
  email: "Mailadresse",
  password: "Adgangskode",
  submit: (application: string) => `Fortsæt til ${application}`,
  failed: "Du er ikke logget ind endnu",
  again: "Bekræft, at det er dig",
  againText: "Du er logget ind. Ændringer kræver et login fra de sidste ti minutter.",
  invalidCredentials: "Mailadressen og adgangskoden hører ikke sammen. Tjek begge, og prøv igen.",
  rateLimited: (seconds: number) =>
    `Der var for mange forsøg. Vent ${formatDuration(LOCALE, seconds)}, og prøv så igen.`,
  rateLimitedSoon: "Der var for mange forsøg. Vent nogle minutter, og prøv så igen.",
  busy: (seconds: number) =>
    `Mange logger ind lige nu. Vent ${formatDuration(LOCALE, seconds)}, og prøv så igen; der er ikke noget galt med det, du skrev.`,
  busySoon:
    "Mange logger ind lige nu. Vent et øjeblik, og prøv så igen; der er ikke noget galt med det, du skrev.",
  disabled: (organisation: string, application: string) =>
    `Med din konto hos ${organisation} kan du ikke fortsætte til ${application}. Spørg en administrator hos ${organisation}.`,
  expired: "Siden er udløbet",
  sessionExpired: "Intet er gået tabt: Skriv din adgangskode igen for at fortsætte.",
  or: "eller",
  usePasskey: "Log ind med en adgangsnøgle",
  invalidPasskey: "Adgangsnøglen virker ikke her. Brug din adgangskode eller en anden adgangsnøgle.",
  passkeyFailed: "Din browser fik ingen adgangsnøgle. Prøv igen, eller brug din adgangskode.",
};

export const places = {
  account: (organisation: string) => `din konto hos ${organisation}`,
  device: (organisation: string) => `din enhed hos ${organisation}`,
  devices: (organisation: string) => `enhederne hos ${organisation}`,
  console: (organisation: string) => `konsollen hos ${organisation}`,
  application: (organisation: string) => `en applikation hos ${organisation}`,
};

export const notAssigned = {
  heading: (application: string) => `Du har ikke adgang til ${application} endnu`,
  explanation: (organisation: string, application: string) =>
    `Hos ${organisation} er ${application} kun for de personer, der har fået adgang, og denne konto er ikke blandt dem.`,
  ask: (organisation: string) => `Bed en administrator hos ${organisation} om at give dig adgang.`,
  askContacts: "Bed om adgang hos:",
  signedInAs: "Logget ind som",
  switchAccount: "Ikke dig? Brug en anden konto",
  back: (application: string) => `Tilbage til ${application}`,
};

export const account = {
  title: (application: string) => `Vælg en konto for at fortsætte til ${application}`,
  heading: "Vælg en konto",
  headingTo: (application: string) => `for at fortsætte til ${application}`,
  continueAs: (who: string) => `Fortsæt som ${who}`,
  other: "Brug en anden konto",
};

export const signOut = {
  heading: (organisation: string) => `Vil du logge ud af ${organisation}?`,
  askedBy: (application: string) => `${application} har bedt om det.`,
  explanation: "Applikationer beder dig om at logge ind igen i denne browser.",
  signedInAs: "Logget ind som",
  confirm: "Log ud",
  stay: "Forbliv logget ind",
  doneHeading: "Du er logget ud",
  done: (organisation: string) =>
    `Du er ikke længere logget ind hos ${organisation} i denne browser. Du kan lukke vinduet.`,
  back: (application: string) => `Gå til ${application}`,
};

export const formPost = {
  heading: (application: string) => `Du sendes videre til ${application}`,
  explanation: "Scripts er slået fra i denne browser, så der er ét trin mere.",
  submit: (application: string) => `Fortsæt til ${application}`,
};
