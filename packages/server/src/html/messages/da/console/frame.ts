/** What is around every page of the console and of an account, and what all of them say alike. */
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "da";

export const frame = {
  skip: "Gå til indholdet",
  menu: "Menu",
  navigation: "Konsol",
  breadcrumbs: "Du er her",
  switch: "Andre organisationer",
  account: "Din konto",
  signOut: "Log ud",
  sections: {
    applications: "Applikationer",
    people: "Personer",
    keys: "Nøgler og enheder",
    organisation: "Organisation",
  },
  pages: {
    overview: "Overblik",
    quickstart: "Hurtig start",
    applications: "Applikationer",
    scopes: "Scopes",
    consents: "Samtykker",
    users: "Brugere",
    systemAccounts: "Systemkonti",
    signingKeys: "Signeringsnøgler",
    pools: "Signeringspuljer",
    devices: "Enheder",
    settings: "Indstillinger",
    mailTemplates: "Mailskabeloner",
    auditLog: "Revisionslog",
  },
  accountPages: {
    profile: "Profil",
    security: "Adgangskode og sikkerhed",
    sessions: "Sessioner",
    consents: "Applikationer",
    activity: "Aktivitet",
    data: "Dine data",
  },
  console: "Konsol",
  list: {
    submit: "Søg",
    all: "Vis alle",
    noneFound: "Ingen resultater",
    noneFoundText: "Søg efter noget andet, eller vis alle.",
    firstOnly: "Kun de første vises. Søg for at finde de øvrige.",
    pages: "Sider",
    older: "Næste side",
    newest: "Tilbage til første side",
    actions: "Handlinger",
  },
  form: {
    save: "Gem",
    cancel: "Annuller",
    optional: "valgfrit",
    failed: "Der er ikke gemt noget endnu",
    faults: (count: number) => (count === 1 ? "Ét felt skal rettes:" : `${count} felter skal rettes:`),
    expired: "Siden har ventet for længe",
    expiredText: "Der er ikke ændret noget. Tjek det, du har skrevet, og send det igen.",
    unreadable: "Noget i formularen kunne ikke læses",
    unreadableText:
      "Der er ikke ændret noget. Tegn, der ikke er tekst, vises nu som \uFFFD. Erstat dem, og send formularen igen.",
    isNow: (value: string) => `Nuværende værdi: ${value}`,
    isNowEmpty: "Tomt lige nu.",
  },
  already: "Intet er ændret: Sådan var det allerede.",
  changed: {
    title: "En anden har ændret dette først",
    text: "Posten blev ændret, mens du arbejdede med den. Dine ændringer er her stadig og er ikke gemt. Sammenlign dem med de nuværende værdier, og gem igen for at beholde dine.",
    by: (who: string, milliseconds: number) =>
      `Ændret af ${who} den ${formatMinute(LOCALE, milliseconds)} UTC.`,
    gone: "Posten findes ikke længere",
    goneText: "En anden har slettet den, mens du arbejdede med den.",
  },
  sentBefore: {
    title: "Formularen er allerede sendt",
    text: "Det, du ville, skete første gang og er ikke gentaget. Send den kun igen, hvis det skal ske en gang til.",
    look: "Du finder det her:",
    secret: {
      application:
        "Klienthemmeligheden blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så åbn applikationen og tilføj en ny hemmelighed.",
      clientSecret:
        "Hemmeligheden blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så tilbagekald den på applikationens side og lav en anden her.",
      account:
        "Den hemmelige nøgle blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så åbn kontoen og tilføj et nyt nøglepar.",
      keyPair:
        "Den hemmelige nøgle blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så tilbagekald nøgleparret på kontoens side og lav et andet her.",
      user: "Hvis der blev lavet en adgangskode, blev den kun vist én gang, i det første svar. Hvis du ikke har gemt den, så åbn brugeren og lav en ny.",
      password:
        "Den nye adgangskode blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så lav en anden her.",
      recoveryCodes:
        "De nye koder blev kun vist én gang, i det første svar. Hvis du ikke har gemt dem, så lav nye her.",
      code: "Koden blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så tilbagekald den og opret en anden.",
      agent:
        "API-nøglen blev kun vist én gang, i det første svar. Hvis du ikke har gemt den, så deaktiver agenten og registrer en anden med en ny nøgle.",
    },
  },
  lastChange: (who: string, milliseconds: number) =>
    `Sidst ændret af ${who} den ${formatMinute(LOCALE, milliseconds)} UTC`,
  actors: {
    operator: "operatøren",
    system: "Signet selv",
    systemAccount: "en systemkonto",
    application: "en applikation",
    anonymous: "en ukendt person",
    formerUser: "en tidligere bruger",
  },
  actorsAlone: {
    operator: "Operatøren",
    system: "Signet",
    systemAccount: "En systemkonto",
    application: "En applikation",
    anonymous: "En ukendt person",
    formerUser: "En tidligere bruger",
  },
  prove: {
    title: "Bekræft, at det er dig",
    text: "Det er for længe siden, du loggede ind, til at du kan lave denne ændring. Det, du har skrevet, bliver på siden.",
    textSecrets:
      "Det er for længe siden, du loggede ind, til at du kan lave denne ændring. Adgangskoder og koder bliver aldrig stående på en side: Skriv dem igen bagefter. Alt andet, du har skrevet, bliver her.",
    first: "Log ind igen. Det åbner en ny fane; kom tilbage hertil bagefter.",
    signIn: "Log ind igen",
    second: "Gå så videre med din ændring.",
    goOn: "Fortsæt",
    confirmed: "Bekræftet",
    confirmedText: "Luk denne fane, og fortsæt, hvor du slap.",
  },
  secret: {
    once: "Det vises kun denne ene gang",
    copy: "Kopiér",
    copied: "Kopieret",
    done: "Jeg har gemt det",
  },
  confirm: {
    typeName: (name: string) => `Skriv ”${name}” for at bekræfte`,
    wrongName: "Det svarer ikke til det, der skal skrives. Der er ikke ændret noget.",
  },
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
  number: (count: number) => new Intl.NumberFormat(LOCALE).format(count),
  never: "Aldrig",
  yes: "Ja",
  no: "Nej",
};
