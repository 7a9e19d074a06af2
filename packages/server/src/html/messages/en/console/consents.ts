/** Consents: what applications may use, said by users and by administrators. */
import { formatDay } from "../../format.ts";

const LOCALE = "en";

export const consents = {
  summary: (organisation: string) =>
    `What users and administrators of ${organisation} allow applications to use. Revoking a consent ends the access that rests on it.`,
  tabs: { label: "Consents", consents: "Consents", preauthorizations: "Pre-authorizations" },
  grant: "Allow an application",
  user: "Email address of the user",
  application: "Application",
  applicationHint: "Name or ID",
  kind: "For whom",
  anyKind: "Anyone",
  kinds: { user: "One user", organisation: "Everybody" },
  state: "State",
  states: { living: "Active", revoked: "Revoked" },
  columns: { who: "For", application: "Application", scopes: "Scopes", since: "Since", until: "Until" },
  everybody: "Everybody",
  formerUser: "A former user",
  by: (who: string) => `by ${who}`,
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  none: "No consents yet",
  noneText:
    "When a user allows an application, it is listed here. You can also allow an application for everybody, so nobody is asked.",
  unknownUser: "No user here has this address.",
  unknownApplication: "No application here matches that.",
  several: "Several applications match that. Choose one:",
  revoke: "Revoke",
  revokeOf: (application: string) => `Revoke access for ${application}`,
  revokeTitle: (application: string) => `Revoke access for ${application}?`,
  revokeUser: (email: string) =>
    `It was allowed for ${email}. Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. The user is asked again when they use the application.`,
  revokeEverybody:
    "It was allowed for everybody. Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. Users are asked again when they use the application.",
  scopesAre: "Scopes:",
  choose: "Which application?",
  chooseText: "Search for the application you want to allow.",
  noApplications: "There are no applications yet. Create one first.",
  grantTitle: (application: string) => `Allow ${application}`,
  grantText: "Users are no longer asked for what you allow here.",
  forWhom: "For whom",
  forOrganisation: "Everybody in the organisation",
  forOrganisationText: "Nobody is asked, not even people who join later.",
  forUser: "One user",
  forUserText: "They are not asked. They see it among their applications and can revoke it.",
  email: "Email address",
  scopes: "Scopes",
  scopesHint: "Scopes that are already allowed stay allowed.",
  noScopes: "The application may not ask for any scope. Add scopes to its settings first.",
  submit: "Allow",
  faults: {
    scopes: "Choose at least one scope.",
    asked: "The application may no longer ask for one of these scopes. Choose again.",
    email: "No user here has this address. Check it and try again.",
    forWhom: "Choose who it is for.",
    there: "The application is already pre-authorized for exactly these scopes.",
  },
  preauthorizations: {
    summary:
      "A yes in advance: a pre-authorized application never asks users for these scopes. Each pre-authorization stands alone and can be deleted on its own.",
    grant: "Pre-authorize an application",
    none: "No application is pre-authorized",
    noneText: "Pre-authorize your own applications, so no user is asked whether they trust them.",
    title: (application: string) => `Pre-authorize ${application}`,
    text: "Users are not asked for these scopes. They do not see it among their applications.",
    submit: "Pre-authorize",
    remove: "Delete",
    removeOf: (application: string) => `Delete the pre-authorization of ${application}`,
    removeTitle: (application: string) => `Delete the pre-authorization of ${application}?`,
    removeText:
      "Refresh tokens that rest on it end at once, and access tokens with them wherever they are checked. Users are asked when they use the application.",
  },
  done: {
    granted: "The application is allowed.",
    revoked: "Access revoked.",
    preauthorized: "The application is pre-authorized.",
    removed: "The pre-authorization is deleted.",
  },
};
