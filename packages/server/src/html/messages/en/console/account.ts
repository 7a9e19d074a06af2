/** The pages on which everybody looks after their own account. */
import { formatDay, formatDuration, formatMinute } from "../../format.ts";

const LOCALE = "en";

export const account = {
  profile: {
    title: "Profile",
    summary: (organisation: string) => `How ${organisation} and its applications know you.`,
    personal: "About you",
    firstname: "First name",
    surname: "Surname",
    phone: "Phone number",
    locale: "Language",
    localeHint: "For these pages, the sign-in and emails to you.",
    asBrowser: "As set in my browser",
    badName: "A name has at most 100 characters, and no line breaks.",
    badPhone: "A phone number has 3 to 32 digits, spaces and signs like + ( ) / -.",
    badLocale: "Choose one from the list.",
    saved: "Your profile is saved.",
    changedByYou: "You changed your profile elsewhere first",
    changedByYouText: (milliseconds: number) =>
      `In another window, on ${formatMinute(LOCALE, milliseconds)} UTC. What you typed is still here, but not saved. Compare it with the current values, then save again to keep it.`,
    email: "Email address",
    emailText: "You sign in with it, and emails go there.",
    confirmed: "Confirmed",
    unconfirmed: "Not confirmed",
    changeEmail: "Change",
    membership: "Your account",
    organisation: "Organisation",
    role: "Role",
    roles: { Standard: "Member", Administrator: "Administrator" },
    username: "Username",
    permId: "Account number",
    since: "Member since",
    guest: (organisation: string) => `Your account belongs to ${organisation}`,
    guestText: (organisation: string) =>
      `You are a guest at ${organisation}. You change your name, address, password and language in your home organisation.`,
    guestOpen: (organisation: string) => `Go to your account at ${organisation}`,
  },
  address: {
    title: "Change your email address",
    text: (email: string) =>
      `You get an email with a link at the new address. Until you open it and confirm, ${email} stays.`,
    newEmail: "New email address",
    submit: "Send the email",
    failed: "No email was sent",
    invalid: "This is not an email address. Check it and try again.",
    same: "That is already your address.",
    limited: (seconds: number) =>
      `There were too many requests. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
    sentTitle: "Check your email",
    sent: (email: string) =>
      `An email with a link is on its way to ${email}, if the address is free. The link works once, for a day.`,
    back: "Back to your profile",
  },
  password: {
    title: "Change your password",
    titleFirst: "Set a password",
    text: "This browser stays signed in. Everything else that is signed in to your account is signed out, and applications lose their access.",
    card: "Password",
    there: (milliseconds: number) => `Set on ${formatDay(LOCALE, milliseconds)}`,
    none: "You have none.",
    change: "Change",
    set: "Set one",
    present: "Current password",
    next: "New password",
    submit: "Change the password",
    submitFirst: "Set this password",
    wrong: "That is not your current password.",
    same: "That is already your password. Choose another one.",
    limited: (seconds: number) =>
      `There were too many wrong passwords. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
    busy: (seconds: number) =>
      `Many people are signing in right now. Wait ${formatDuration(LOCALE, seconds)}, then type it again; nothing is wrong with it.`,
    forgot: "Forgot it? Get a link by email",
    changed: "Your password is changed. Everything else is signed out.",
    notYou: "Lock out whoever it was",
    notYouText:
      "A new password signs out every other browser and application at once. Then check your second factors, and remove what is not yours.",
  },
  protection: {
    title: "How well is your account protected?",
    passkey: "Very well: you have a passkey, which no fake page can steal.",
    totp: "Well: whoever learns your password still needs your authenticator app. A passkey would protect you from fake sign-in pages too.",
    password: "By a password alone: whoever learns it can sign in. Add a second factor.",
    guest: "What protects your account is set up at the organisation it belongs to.",
    fewCodes: (count: number) =>
      count === 1
        ? "One recovery code is left. Make new ones while you can."
        : `${count} recovery codes are left. Make new ones while you can.`,
  },
  applications: {
    byOrganisation: "Allowed by the organisation",
    byOrganisationText: (organisation: string) =>
      `You use these applications, and ${organisation} has decided what they may use. You were not asked.`,
    used: (milliseconds: number) => `Last signed in on ${formatDay(LOCALE, milliseconds)}`,
  },
  activity: {
    title: "Activity",
    summary: (organisation: string) =>
      `What happened with your account at ${organisation}, newest first. Times are in UTC.`,
    none: "Nothing has happened yet.",
    what: "What",
    when: "When",
    by: "By",
    from: "From",
    you: "you",
    administrator: "an administrator",
    notYou: "Was something here not you?",
    notYouText: "Set a new password now. It signs out everything else.",
    notYouAct: "This was not me",
  },
  data: {
    title: "Your data",
    summary: (organisation: string) => `What ${organisation} keeps about you here, and how to delete it.`,
    export: "Download your data",
    exportText:
      "One file (JSON) with everything that is kept about you: profile, memberships, second factors without their secrets, sessions, applications and what happened. Nobody else is in it.",
    exportAct: "Download",
    limited: (seconds: number) =>
      `You have downloaded it several times. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
    notExported: "No file was made",
    remove: "Delete your account",
    removeText: "Your account is deleted, with everything kept about you. This cannot be undone.",
    removeForbidden: (organisation: string) =>
      `At ${organisation} only administrators delete accounts. Ask one of them.`,
    removeAct: "Delete my account",
    leave: (organisation: string) => `Leave ${organisation}`,
    leaveText: (organisation: string) =>
      `What ${organisation} keeps about you is deleted. Your account in your home organisation stays as it is.`,
    leaveAct: "Leave",
  },
  deletion: {
    title: "Delete your account?",
    effects: [
      "You are signed out everywhere, and the applications are told.",
      "Your profile, password, second factors, consents and settings are deleted, even where you are a guest.",
      "What applications have stored about you themselves stays with them.",
      "The audit log keeps what happened, under your account number, without your name.",
      "Nobody can bring the account back.",
    ],
    confirm: "Delete my account for good",
    failed: "Your account was not deleted",
    lastAdministrator: "You are the only administrator",
    lastAdministratorText: (organisation: string) =>
      `Nobody could look after ${organisation} any more. Make somebody else an administrator first.`,
    leaveTitle: (organisation: string) => `Leave ${organisation}?`,
    leaveText: (organisation: string) =>
      `You are signed out of ${organisation} and its applications, and what is kept about you there is deleted. Your account in your home organisation stays. To come back, you have to be invited again.`,
    leaveConfirm: "Leave",
    goneTitle: "Your account is deleted",
    gone: "You are signed out everywhere, and the applications have been told.",
    leftTitle: (organisation: string) => `You have left ${organisation}`,
    left: "Your account in your home organisation is unchanged.",
  },
  moment: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
};
