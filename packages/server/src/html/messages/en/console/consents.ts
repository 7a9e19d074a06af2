/** Consents: what applications may use, said by users and by administrators. */
import { formatDay } from "../../format.ts";

const LOCALE = "en";

export const consents = {
  summary: (organisation: string) =>
    `What users and administrators of ${organisation} have allowed applications. Taking one back ends the access that rests on it.`,
  tabs: { label: "Consents", consents: "Consents", preauthorizations: "Pre-authorizations" },
  grant: "Allow an application",
  user: "Email address of the user",
  application: "Application",
  applicationHint: "Name or ID",
  kind: "For whom",
  anyKind: "Anybody",
  kinds: { user: "One user", organisation: "Everybody" },
  state: "State",
  states: { living: "In force", revoked: "Taken back" },
  columns: { who: "For", application: "Application", scopes: "Scopes", since: "Since", until: "Until" },
  everybody: "Everybody",
  formerUser: "A former user",
  by: (who: string) => `by ${who}`,
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  none: "Nobody has allowed an application anything yet",
  noneText:
    "When a user says yes to an application, it is listed here. You can also allow an application for everybody, so that nobody is asked.",
  unknownUser: "There is no user of this address here.",
  unknownApplication: "There is no application like that here.",
  several: "Several applications are like that. Choose one:",
  revoke: "Take back",
  revokeOf: (application: string) => `Take back what ${application} may use`,
  revokeTitle: (application: string) => `Take back what ${application} may use?`,
  revokeUser: (email: string) =>
    `It was allowed for ${email}. Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. The user is asked again when they use the application.`,
  revokeEverybody:
    "It was allowed for everybody. Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. Users are asked again when they use the application.",
  scopesAre: "Scopes:",
  choose: "Which application?",
  chooseText: "Search for the application that you want to allow something.",
  noApplications: "There is no application yet. Make one first.",
  grantTitle: (application: string) => `Allow ${application}`,
  grantText: "What you allow here, users are not asked for any more.",
  forWhom: "For whom",
  forOrganisation: "Everybody in the organisation",
  forOrganisationText: "Nobody is asked, also who joins later.",
  forUser: "One user",
  forUserText: "They are not asked. They see it among their applications and can take it back.",
  email: "Email address",
  scopes: "Scopes",
  scopesHint: "Scopes that were allowed before stay allowed.",
  noScopes: "The application may not ask for any scope. Add scopes to its settings first.",
  submit: "Allow it",
  faults: {
    scopes: "Choose at least one scope.",
    asked: "The application may not ask for one of these scopes any more. Choose again.",
    email: "There is no user of this address here. Check the address.",
    forWhom: "Choose for whom it is.",
    there: "The application is pre-authorized for exactly these scopes already.",
  },
  preauthorizations: {
    summary:
      "A yes ahead of any request: an application that is pre-authorized never asks users for these scopes. Each is a record of its own and can be taken back by itself.",
    grant: "Pre-authorize an application",
    none: "No application is pre-authorized",
    noneText: "Pre-authorize your own applications, so that no user is asked whether they trust them.",
    title: (application: string) => `Pre-authorize ${application}`,
    text: "Users are not asked for these scopes. They do not see it among their applications.",
    submit: "Pre-authorize it",
    remove: "Delete",
    removeOf: (application: string) => `Delete the pre-authorization of ${application}`,
    removeTitle: (application: string) => `Delete the pre-authorization of ${application}?`,
    removeText:
      "Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. Users are asked when they use the application.",
  },
  done: {
    granted: "It is allowed.",
    revoked: "It is taken back.",
    preauthorized: "The application is pre-authorized.",
    removed: "The pre-authorization is deleted.",
  },
};
