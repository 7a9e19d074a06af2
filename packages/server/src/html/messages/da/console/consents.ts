/** Samtykker: hvad applikationer må bruge, ifølge brugere og administratorer. */
import type { Messages } from "../../en/en.ts";
import { formatDay } from "../../format.ts";

const LOCALE = "da";

export const consents: Messages["console"]["consents"] = {
  summary: (organisation) =>
    `Det, brugere og administratorer hos ${organisation} har tilladt applikationer. Tilbagekaldes et samtykke, ender den adgang, der hviler på det.`,
  tabs: { label: "Samtykker", consents: "Samtykker", preauthorizations: "Forhåndstilladelser" },
  grant: "Giv en applikation lov",
  user: "Brugerens e-mailadresse",
  application: "Applikation",
  applicationHint: "Navn eller id",
  kind: "For hvem",
  anyKind: "Alle slags",
  kinds: { user: "Én bruger", organisation: "Alle" },
  state: "Status",
  states: { living: "Gyldigt", revoked: "Tilbagekaldt" },
  columns: { who: "Hvem", application: "Applikation", scopes: "Hvad", since: "Siden", until: "Indtil" },
  everybody: "Alle",
  formerUser: "En tidligere bruger",
  by: (who) => `af ${who}`,
  day: (milliseconds) => formatDay(LOCALE, milliseconds),
  none: "Der er ingen samtykker endnu",
  noneText:
    "Når en bruger tillader en applikation, står det her. Du kan også tillade en applikation for alle; så bliver ingen spurgt.",
  unknownUser: "Her er ingen bruger med den adresse.",
  unknownApplication: "Her er ingen sådan applikation.",
  several: "Flere applikationer passer. Vælg en:",
  revoke: "Tilbagekald",
  revokeOf: (application) => `Tilbagekald tilladelsen til ${application}`,
  revokeTitle: (application) => `Vil du tilbagekalde tilladelsen til ${application}?`,
  revokeUser: (email) =>
    `Den gælder for ${email}. Refresh-tokens, der hviler på den, ender straks, og med dem access-tokens overalt, hvor de kontrolleres. Brugeren spørges igen, når applikationen bruges.`,
  revokeEverybody:
    "Den gælder for alle. Refresh-tokens, der hviler på den, ender straks, og med dem access-tokens overalt, hvor de kontrolleres. Brugerne spørges igen, når de bruger applikationen.",
  scopesAre: "Omfattede scopes:",
  choose: "Hvilken applikation?",
  chooseText: "Søg efter den applikation, du vil give lov til noget.",
  noApplications: "Der er ingen applikationer endnu. Opret en først.",
  grantTitle: (application) => `Giv ${application} lov`,
  grantText: "Det, du tillader her, bliver brugere ikke længere spurgt om.",
  forWhom: "For hvem",
  forOrganisation: "Alle i organisationen",
  forOrganisationText: "Ingen bliver spurgt, heller ikke dem, der kommer til senere.",
  forUser: "Én bruger",
  forUserText: "Brugeren bliver ikke spurgt, ser det blandt sine applikationer og kan tilbagekalde det.",
  email: "E-mailadresse",
  scopes: "Hvad den må bruge",
  scopesHint: "Det, der allerede er tilladt, forbliver tilladt.",
  noScopes: "Applikationen må ikke bede om noget scope. Føj først scopes til dens indstillinger.",
  submit: "Giv lov",
  faults: {
    scopes: "Vælg mindst ét scope.",
    asked: "Applikationen må ikke længere bede om et af disse scopes. Vælg igen.",
    email: "Her er ingen bruger med den adresse. Kontrollér adressen.",
    forWhom: "Vælg, hvem det gælder for.",
    there: "Applikationen har allerede forhåndstilladelse til netop disse scopes.",
  },
  preauthorizations: {
    summary:
      "Et ja før enhver anmodning: en applikation med forhåndstilladelse spørger aldrig brugere om disse scopes. Hver tilladelse står for sig selv og kan slettes for sig selv.",
    grant: "Giv en applikation forhåndstilladelse",
    none: "Ingen applikation har forhåndstilladelse",
    noneText:
      "Giv dine egne applikationer forhåndstilladelse, så ingen bruger spørges, om de har tillid til dem.",
    title: (application) => `Giv ${application} forhåndstilladelse`,
    text: "Brugere bliver ikke spurgt om disse scopes. De ser det ikke blandt deres applikationer.",
    submit: "Giv forhåndstilladelse",
    remove: "Slet",
    removeOf: (application) => `Slet forhåndstilladelsen til ${application}`,
    removeTitle: (application) => `Vil du slette forhåndstilladelsen til ${application}?`,
    removeText:
      "Refresh-tokens, der hviler på den, ender straks, og med dem access-tokens overalt, hvor de kontrolleres. Brugere bliver spurgt, når de bruger applikationen.",
  },
  done: {
    granted: "Applikationen er tilladt.",
    revoked: "Tilladelsen er tilbagekaldt.",
    preauthorized: "Applikationen har forhåndstilladelse.",
    removed: "Forhåndstilladelsen er slettet.",
  },
};
