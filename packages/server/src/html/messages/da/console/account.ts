/** The pages on which everybody looks after their own account. */
import { formatDay, formatDuration, formatMinute } from "../../format.ts";

const LOCALE = "da";

export const account = {
  profile: {
    title: "Profil",
    summary: (organisation: string) => `Sådan kender ${organisation} og dens applikationer dig.`,
    personal: "Om dig",
    firstname: "Fornavn",
    surname: "Efternavn",
    phone: "Telefonnummer",
    locale: "Sprog",
    localeHint: "På disse sider, ved login og i mails til dig.",
    asBrowser: "Som indstillet i min browser",
    badName: "Et navn har højst 100 tegn og ingen linjeskift.",
    badPhone: "Et telefonnummer har 3 til 32 cifre, mellemrum og tegn som + ( ) / -.",
    badLocale: "Vælg et fra listen.",
    saved: "Din profil er gemt.",
    changedByYou: "Du har i mellemtiden ændret din profil et andet sted",
    changedByYouText: (milliseconds: number) =>
      `I et andet vindue, den ${formatMinute(LOCALE, milliseconds)} UTC. Det, du har skrevet, er her stadig og er ikke gemt. Sammenlign det med de nuværende værdier, og gem igen for at beholde det.`,
    email: "E-mailadresse",
    emailText: "Du logger ind med den, og mails bliver sendt dertil.",
    confirmed: "Bekræftet",
    unconfirmed: "Ikke bekræftet",
    changeEmail: "Skift",
    membership: "Din konto",
    organisation: "Organisation",
    role: "Rolle",
    roles: { Standard: "Medlem", Administrator: "Administrator" },
    username: "Brugernavn",
    permId: "Kontonummer",
    since: "Medlem siden",
    guest: (organisation: string) => `Din konto hører til ${organisation}`,
    guestText: (organisation: string) =>
      `Hos ${organisation} er du gæst. Navn, adresse, adgangskode og sprog ændrer du der, hvor kontoen hører til.`,
    guestOpen: (organisation: string) => `Gå til din konto hos ${organisation}`,
  },
  address: {
    title: "Skift din e-mailadresse",
    text: (email: string) =>
      `Du får en mail med et link på den nye adresse. Indtil du åbner det og bekræfter, bliver det ved ${email}.`,
    newEmail: "Ny e-mailadresse",
    submit: "Send mailen",
    failed: "Der blev ikke sendt en mail",
    invalid: "Det er ikke en e-mailadresse. Tjek den, og prøv igen.",
    same: "Det er allerede din adresse.",
    limited: (seconds: number) =>
      `Der var for mange anmodninger. Vent ${formatDuration(LOCALE, seconds)}, og prøv igen.`,
    sentTitle: "Se i din indbakke",
    sent: (email: string) =>
      `En mail med et link er på vej til ${email}, hvis adressen er ledig. Linket virker én gang, i et døgn.`,
    back: "Tilbage til din profil",
  },
  password: {
    title: "Skift din adgangskode",
    titleFirst: "Vælg en adgangskode",
    text: "Denne browser forbliver logget ind. Alt andet, der er logget ind på din konto, bliver logget ud, og applikationer mister deres adgang.",
    card: "Adgangskode",
    there: (milliseconds: number) => `Valgt den ${formatDay(LOCALE, milliseconds)}`,
    none: "Du har ingen.",
    change: "Skift",
    set: "Vælg en",
    present: "Nuværende adgangskode",
    next: "Ny adgangskode",
    submit: "Skift adgangskoden",
    submitFirst: "Vælg denne adgangskode",
    wrong: "Det er ikke din nuværende adgangskode.",
    same: "Det er allerede din adgangskode. Vælg en anden.",
    limited: (seconds: number) =>
      `Der var for mange forkerte adgangskoder. Vent ${formatDuration(LOCALE, seconds)}, og prøv igen.`,
    busy: (seconds: number) =>
      `Mange logger ind lige nu. Vent ${formatDuration(LOCALE, seconds)}, og skriv den igen; der er intet galt med den.`,
    forgot: "Har du glemt den? Få et link på mail",
    changed: "Din adgangskode er skiftet. Alt andet er logget ud.",
    notYou: "Luk andre ude",
    notYouText:
      "En ny adgangskode logger straks alle andre browsere og applikationer ud. Gennemgå derefter dine ekstra faktorer, og fjern det, der ikke er dit.",
  },
  protection: {
    title: "Hvor godt er din konto beskyttet?",
    passkey: "Meget godt: Du har en adgangsnøgle, som ingen falsk side kan lokke fra dig.",
    totp: "Godt: Den, der får fat i din adgangskode, mangler stadig din godkendelsesapp. En adgangsnøgle ville også beskytte dig mod falske loginsider.",
    password: "Kun af en adgangskode: Den, der får fat i den, kan logge ind. Tilføj en ekstra faktor.",
    guest: "Det, der beskytter din konto, sættes op i den organisation, som den hører til.",
    fewCodes: (count: number) =>
      count === 1
        ? "Der er én gendannelseskode tilbage. Lav nye, mens du kan."
        : `Der er ${count} gendannelseskoder tilbage. Lav nye, mens du kan.`,
  },
  applications: {
    byOrganisation: "Tilladt af organisationen",
    byOrganisationText: (organisation: string) =>
      `Du bruger disse applikationer, og ${organisation} har besluttet, hvad de må. Du blev ikke spurgt.`,
    used: (milliseconds: number) => `Sidst logget ind den ${formatDay(LOCALE, milliseconds)}`,
  },
  activity: {
    title: "Aktivitet",
    summary: (organisation: string) =>
      `Det, der er sket med din konto hos ${organisation}, det nyeste først. Tiderne er i UTC.`,
    none: "Der er ikke sket noget endnu.",
    what: "Hvad",
    when: "Hvornår",
    by: "Af",
    from: "Hvorfra",
    you: "dig",
    administrator: "en administrator",
    notYou: "Var noget af det ikke dig?",
    notYouText: "Vælg en ny adgangskode nu. Den logger alt andet ud.",
    notYouAct: "Det var ikke mig",
  },
  data: {
    title: "Dine data",
    summary: (organisation: string) =>
      `Det, ${organisation} gemmer om dig her, og hvordan du får det slettet.`,
    export: "Hent dine data",
    exportText:
      "Én fil (JSON) med alt, der er gemt om dig: profil, medlemskaber, ekstra faktorer uden deres hemmeligheder, sessioner, applikationer og det, der er sket. Der står intet om andre i den.",
    exportAct: "Hent",
    limited: (seconds: number) =>
      `Du har hentet filen flere gange. Vent ${formatDuration(LOCALE, seconds)}, og prøv igen.`,
    notExported: "Der blev ikke lavet en fil",
    remove: "Slet din konto",
    removeText: "Din konto forsvinder med alt, der er gemt om dig. Det kan ikke fortrydes.",
    removeForbidden: (organisation: string) =>
      `Hos ${organisation} er det kun administratorer, der sletter konti. Spørg en af dem.`,
    removeAct: "Slet min konto",
    leave: (organisation: string) => `Forlad ${organisation}`,
    leaveText: (organisation: string) =>
      `Det, ${organisation} gemmer om dig, bliver slettet. Din egentlige konto bliver, som den er.`,
    leaveAct: "Forlad",
  },
  deletion: {
    title: "Vil du slette din konto?",
    effects: [
      "Du bliver logget ud overalt, og applikationerne får besked.",
      "Din profil, adgangskode, dine ekstra faktorer, samtykker og indstillinger bliver slettet, også dér, hvor du er gæst.",
      "Det, som applikationer selv har gemt om dig, bliver hos dem.",
      "Revisionsloggen beholder det, der er sket, under dit kontonummer og uden dit navn.",
      "Ingen kan bringe kontoen tilbage.",
    ],
    confirm: "Slet min konto for altid",
    failed: "Din konto er ikke slettet",
    lastAdministrator: "Du er den eneste administrator",
    lastAdministratorText: (organisation: string) =>
      `Ingen kunne længere tage sig af ${organisation}. Gør først en anden til administrator.`,
    leaveTitle: (organisation: string) => `Vil du forlade ${organisation}?`,
    leaveText: (organisation: string) =>
      `Du bliver logget ud af ${organisation} og dens applikationer, og det, der er gemt om dig der, bliver slettet. Din egentlige konto bliver. For at komme tilbage skal du inviteres igen.`,
    leaveConfirm: "Forlad",
    goneTitle: "Din konto er slettet",
    gone: "Du er logget ud overalt, og applikationerne har fået besked.",
    leftTitle: (organisation: string) => `Du har forladt ${organisation}`,
    left: "Din egentlige konto er, som den var.",
  },
  moment: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
};
