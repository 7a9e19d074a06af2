/**
 * What an organisation offers to sign in with. Switching a method off never weakens an account and never turns its owner away
 * without a way on: where nothing but passkeys signs in, a password leads to one and to nothing else; an authenticator app that
 * is off is verified once more, before a passkey takes its place; a passkey that is somebody's only second factor is still one.
 */

/** In the order of the sign-in page. */
export const signInMethods = ["password", "passkey", "emailCode", "magicLink"] as const;
export type SignInMethod = (typeof signInMethods)[number];

/** Recovery codes come with either, and are no method of their own. */
export const secondFactorMethods = ["totp", "passkey"] as const;
export type SecondFactorMethod = (typeof secondFactorMethods)[number];

/** After sign-in, to users without a passkey; `required` lets nobody on without one. */
export const passkeyEnrolments = ["off", "offer", "required"] as const;
export type PasskeyEnrolment = (typeof passkeyEnrolments)[number];

type Methods = {
  readonly signInMethods: readonly SignInMethod[];
  readonly secondFactorMethods: readonly SecondFactorMethod[];
};

/** A code or a link, by email. */
export const isMailMethod = (method: SignInMethod): boolean =>
  method === "emailCode" || method === "magicLink";

export const offersMail = ({ signInMethods }: Pick<Methods, "signInMethods">): boolean =>
  signInMethods.some(isMailMethod);

/** Passkeys and nothing else: every sign-in needs one, and a password leads to the first. */
export const requiresPasskeys = (settings: Pick<Methods, "signInMethods">): boolean =>
  !settings.signInMethods.includes("password") && !offersMail(settings);

/** Else passwords are closed: none is asked for, reset or accepted, because every user has a way in by email. */
export const takesPasswords = (settings: Pick<Methods, "signInMethods">): boolean =>
  settings.signInMethods.includes("password") || requiresPasskeys(settings);

/**
 * Whether everybody keeps a way in where no email can be sent: a code or link closes passwords, and without them, or the passkey
 * that a password leads to where nothing else signs in, whoever has no passkey yet is locked out, administrators too.
 */
export const worksWithoutMail = (settings: Pick<Methods, "signInMethods">): boolean =>
  takesPasswords(settings);

/** To sign in with a passkey alone. */
export const offersPasskeySignIn = ({ signInMethods }: Methods): boolean => signInMethods.includes("passkey");

/** A passkey that signs in alone is a second factor too. */
export const offersFactor = (settings: Methods, method: SecondFactorMethod): boolean =>
  settings.secondFactorMethods.includes(method) || (method === "passkey" && offersPasskeySignIn(settings));

export const offeredFactors = (settings: Methods): SecondFactorMethod[] =>
  secondFactorMethods.filter((method) => offersFactor(settings, method));

/** What of a list is wrong: an unknown or repeated entry; none, where there must be one. */
export const isMethodList = <Method extends string>(
  list: readonly string[],
  known: readonly Method[],
  { isEmptyAllowed }: { isEmptyAllowed: boolean },
): boolean =>
  new Set(list).size === list.length &&
  list.every((method) => known.some((one) => one === method)) &&
  (isEmptyAllowed || list.length > 0);
