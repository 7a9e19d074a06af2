/** What is around every page of the console and of an account, and what all of them say alike. */
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "en";

export const frame = {
  skip: "Skip to the content",
  menu: "Menu",
  navigation: "Console",
  breadcrumbs: "Where you are",
  switch: "Other organisations",
  account: "Your account",
  signOut: "Sign out",
  sections: {
    applications: "Applications",
    people: "People",
    keys: "Keys and devices",
    organisation: "Organisation",
  },
  pages: {
    overview: "Overview",
    quickstart: "Quickstart",
    applications: "Applications",
    scopes: "Scopes",
    consents: "Consents",
    users: "Users",
    systemAccounts: "System accounts",
    signingKeys: "Signing keys",
    pools: "Signing pools",
    devices: "Devices",
    settings: "Settings",
    mailTemplates: "Email templates",
    auditLog: "Audit log",
  },
  accountPages: {
    profile: "Profile",
    security: "Password and security",
    sessions: "Sessions",
    consents: "Applications",
    activity: "Activity",
    data: "Your data",
  },
  console: "Console",
  list: {
    submit: "Search",
    all: "Show all",
    noneFound: "Nothing found",
    noneFoundText: "Try another search, or show all.",
    /** Above a list to choose from that is cut short. */
    firstOnly: "Only the first are shown. Search to find the others.",
    pages: "Pages",
    older: "Next page",
    newest: "Back to the first page",
    actions: "Actions",
  },
  form: {
    save: "Save",
    cancel: "Cancel",
    optional: "optional",
    failed: "Nothing has been saved yet",
    faults: (count: number) =>
      count === 1 ? "One field needs another look:" : `${count} fields need another look:`,
    expired: "This page waited too long",
    expiredText: "Nothing was changed. Check what you typed, then send it again.",
    unreadable: "Something in this form could not be read",
    unreadableText:
      "Nothing was changed. Each character that is not text is now shown as \uFFFD. Replace it, then send the form again.",
    isNow: (value: string) => `Current value: ${value}`,
    isNowEmpty: "Currently empty.",
  },
  already: "Nothing was changed: it was like this already.",
  changed: {
    title: "Somebody else changed this first",
    text: "This record was changed while you were editing it. Your changes are still here, but not saved. Compare them with the current values, then save again to keep yours.",
    by: (who: string, milliseconds: number) =>
      `Changed by ${who} on ${formatMinute(LOCALE, milliseconds)} UTC.`,
    gone: "This no longer exists",
    goneText: "Somebody else deleted it while you were editing it.",
  },
  sentBefore: {
    title: "This form has already been sent",
    text: "What you asked for was done the first time, and has not been repeated. Send it again only if you want it done a second time.",
    look: "You will find it here:",
    secret: {
      application:
        "Its client secret was shown once, in the first answer. If you have not saved it, open the application and add a new secret.",
      clientSecret:
        "The secret was shown once, in the first answer. If you have not saved it, revoke it on the application’s page and add another one here.",
      account:
        "Its secret key was shown once, in the first answer. If you have not saved it, open the account and add a new key pair.",
      keyPair:
        "The secret key was shown once, in the first answer. If you have not saved it, revoke that key pair on the account’s page and add another one here.",
      user: "If a password was generated, it was shown once, in the first answer. If you have not saved it, open the user and set a new one.",
      password:
        "The new password was shown once, in the first answer. If you have not saved it, set another one here.",
      recoveryCodes:
        "The new codes were shown once, in the first answer. If you have not saved them, make new ones here.",
      code: "The code was shown once, in the first answer. If you have not saved it, withdraw it and create another one.",
      agent:
        "Its API key was shown once, in the first answer. If you have not saved it, deactivate that agent and register another one with a new key.",
    },
  },
  lastChange: (who: string, milliseconds: number) =>
    `Last changed by ${who} on ${formatMinute(LOCALE, milliseconds)} UTC`,
  actors: {
    operator: "the operator",
    system: "Signet itself",
    systemAccount: "a system account",
    application: "an application",
    anonymous: "somebody unknown",
    formerUser: "a former user",
  },
  /** The same in a column or as a label, not after “by”. */
  actorsAlone: {
    operator: "The operator",
    system: "Signet",
    systemAccount: "A system account",
    application: "An application",
    anonymous: "Somebody unknown",
    formerUser: "A former user",
  },
  prove: {
    title: "Confirm it is you",
    text: "Your sign-in is not recent enough for this change. What you typed is kept on this page.",
    textSecrets:
      "Your sign-in is not recent enough for this change. Passwords and codes are never kept on a page: type them again afterwards. Anything else that you typed is kept here.",
    first: "Sign in again. This opens another tab; come back here afterwards.",
    signIn: "Sign in again",
    second: "Then continue with your change.",
    goOn: "Continue",
    confirmed: "Confirmed",
    confirmedText: "Close this tab and continue where you left off.",
  },
  secret: {
    once: "You will not see this again",
    copy: "Copy",
    copied: "Copied",
    done: "I have saved it",
  },
  confirm: {
    typeName: (name: string) => `Type “${name}” to confirm`,
    wrongName: "That does not match. Nothing was changed.",
  },
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
  number: (count: number) => new Intl.NumberFormat(LOCALE).format(count),
  never: "Never",
  yes: "Yes",
  no: "No",
};
