/** Validates an organisation's settings, for the console, the command line and the file. */
import { optionalWebAddress } from "../applications/validation.ts";
import { ledgerModes, MAX_WITNESSES } from "../ledger/ledger-log.ts";
import { brandingLinks, isBrandingLink } from "./branding-links.ts";
import { type LogoFault, logoUriFault } from "./logo.ts";
import type { OrganisationSettings } from "./organisation.ts";
import {
  isMethodList,
  offersFactor,
  passkeyEnrolments,
  secondFactorMethods,
  signInMethods,
} from "./sign-in-methods.ts";
import { isSignInText, type SignInTexts, signInTextLengths, signInTextParts } from "./sign-in-texts.ts";
import { type SignUpFaultCode, signUpFaults } from "./sign-up-settings.ts";

export const settingRanges = {
  passwordMinLength: { least: 8, most: 128 },
  sessionLifetimeSeconds: { least: 300, most: 31_536_000 },
  sessionIdleSeconds: { least: 60, most: 31_536_000 },
  auditRetentionMonths: { least: 0, most: 240 },
  ledgerWitnessQuorum: { least: 1, most: MAX_WITNESSES },
} as const;

/** Strict, because it is written into the style element of pages. */
export const ACCENT_COLOUR = "^#[0-9A-Fa-f]{6}$";
/** A primary language subtag (RFC 5646): message files have no others. */
export const LANGUAGE = "^[a-z]{2,3}$";

export type SettingsFaultCode =
  | "colour"
  | "link"
  | "text"
  | LogoFault
  | "range"
  | "idle-above-lifetime"
  | "language"
  | "methods"
  | "no-second-factor"
  | "enrolment"
  | "no-passkeys"
  | "choice"
  | SignUpFaultCode;

export interface SettingsFault {
  /** The member's name, e.g. `branding.accentColor`. */
  readonly path: string;
  readonly message: string;
  readonly code: SettingsFaultCode;
}

export class InvalidSettings extends Error {
  readonly faults: readonly SettingsFault[];
  constructor(faults: readonly SettingsFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidSettings";
    this.faults = faults;
  }
}

/**
 * @param settings all of them, as they would be afterwards
 * @param changed the members to check: values stored by another release stay
 * @throws InvalidSettings naming every fault
 */
export function requireValidSettings(
  settings: OrganisationSettings,
  changed: ReadonlyArray<keyof OrganisationSettings>,
): void {
  const faults = [
    ...brandingFaults(settings.branding),
    ...(Object.keys(settingRanges) as Array<keyof typeof settingRanges>).flatMap((member) =>
      rangeFaults(settings, member),
    ),
    ...idleFaults(settings),
    ...methodFaults(settings),
    ...enrolmentFaults(settings),
    ...signUpFaults(settings.signUp),
    ...(ledgerModes.includes(settings.ledger)
      ? []
      : [{ path: "ledger", message: `must be one of ${ledgerModes.join(", ")}`, code: "choice" as const }]),
    ...(new RegExp(LANGUAGE).test(settings.defaultLocale)
      ? []
      : [{ path: "defaultLocale", message: "must be a language like en", code: "language" as const }]),
  ].filter(({ path, code }) => {
    const concernsLifetime = code === "idle-above-lifetime" && changed.includes("sessionLifetimeSeconds");
    const concernsFactors =
      code === "no-second-factor" &&
      (changed.includes("secondFactorMethods") || changed.includes("signInMethods"));
    const concernsPasskeys =
      code === "no-passkeys" &&
      (changed.includes("secondFactorMethods") || changed.includes("signInMethods"));
    return (
      concernsLifetime ||
      concernsFactors ||
      concernsPasskeys ||
      changed.some((member) => path.split(".")[0] === member)
    );
  });
  if (faults.length > 0) throw new InvalidSettings(faults);
}

function brandingFaults(branding: OrganisationSettings["branding"]): SettingsFault[] {
  const { accentColor, logoUri } = branding;
  const faults = [
    ...logoFaults("branding.logoUri", logoUri),
    ...linkFaults("branding.", branding),
    ...signInTextFaults("branding.signInTexts.", branding.signInTexts),
  ];
  if (accentColor === undefined || new RegExp(ACCENT_COLOUR).test(accentColor)) return faults;
  return [
    { path: "branding.accentColor", message: "must be a colour like #2f4fd8", code: "colour" },
    ...faults,
  ];
}

export function linkFaults(prefix: string, branding: OrganisationSettings["branding"]): SettingsFault[] {
  return brandingLinks.flatMap((name) => {
    const uri = branding[name];
    if (uri === undefined || isBrandingLink(name, uri)) return [];
    const message = `must be an https URL${name === "helpUri" ? " or mailto: and an address" : ""}`;
    return [{ path: `${prefix}${name}`, message, code: "link" as const }];
  });
}

/** @param prefix of each fault's path: `branding.signInTexts.` with `de.heading` */
export const signInTextFaults = (prefix: string, texts: SignInTexts = {}, separator = "."): SettingsFault[] =>
  Object.entries(texts).flatMap(([locale, parts]) => [
    ...(new RegExp(LANGUAGE).test(locale)
      ? []
      : [{ path: `${prefix}${locale}`, message: "must be a language like en", code: "language" as const }]),
    ...signInTextParts.flatMap((part) => {
      const text = parts[part];
      if (text === undefined || isSignInText(part, text)) return [];
      const message = `must be 1 to ${signInTextLengths[part]} characters in one line`;
      return [{ path: `${prefix}${locale}${separator}${part}`, message, code: "text" as const }];
    }),
  ]);

/** An http(s) URL is stored for readers of the record; our pages load nothing from elsewhere and don't show it. */
export function logoFaults(path: string, uri: string | undefined): SettingsFault[] {
  if (uri === undefined) return [];
  if (!uri.startsWith("data:"))
    return optionalWebAddress(path, uri).map(({ message }) => ({ path, message, code: "logo-form" }));
  const code = logoUriFault(uri);
  return code === undefined ? [] : [{ path, message: logoMessages[code], code }];
}

const logoMessages: Readonly<Record<LogoFault, string>> = {
  "logo-form": "must be a data:image/png;base64,… or http(s) URL",
  "logo-size": "must have at most 8 KiB",
  "logo-sides": "must be 16 to 1024 pixels wide and high",
};

function rangeFaults(settings: OrganisationSettings, member: keyof typeof settingRanges): SettingsFault[] {
  const { least, most } = settingRanges[member];
  const value = settings[member];
  return Number.isInteger(value) && value >= least && value <= most
    ? []
    : [{ path: member, message: `must be an integer from ${least} to ${most}`, code: "range" }];
}

export function idleFaults({
  sessionIdleSeconds,
  sessionLifetimeSeconds,
}: OrganisationSettings): SettingsFault[] {
  if (sessionIdleSeconds <= sessionLifetimeSeconds) return [];
  const message = `must be at most sessionLifetimeSeconds, which is ${sessionLifetimeSeconds}`;
  return [{ path: "sessionIdleSeconds", message, code: "idle-above-lifetime" }];
}

/** A passkey that is added must be of use. */
function enrolmentFaults(settings: OrganisationSettings): SettingsFault[] {
  const { passkeyEnrolment } = settings;
  const path = "passkeyEnrolment";
  if (!passkeyEnrolments.includes(passkeyEnrolment))
    return [{ path, message: `must be one of ${passkeyEnrolments.join(", ")}`, code: "enrolment" }];
  if (passkeyEnrolment === "off" || offersFactor(settings, "passkey")) return [];
  const message = "needs passkeys among the sign-in methods or second factors";
  return [{ path, message, code: "no-passkeys" }];
}

/** Whoever must have a second factor needs one to add. */
export function methodFaults({
  signInMethods: first,
  secondFactorMethods: second,
  secondFactor,
}: OrganisationSettings): SettingsFault[] {
  const list = (path: string, known: readonly string[]): SettingsFault => {
    const message = `must be a list of ${known.join(" and ")}, each at most once`;
    return { path, message, code: "methods" };
  };
  return [
    ...(isMethodList(first, signInMethods, { isEmptyAllowed: false })
      ? []
      : [list("signInMethods", signInMethods)]),
    ...(isMethodList(second, secondFactorMethods, { isEmptyAllowed: true })
      ? []
      : [list("secondFactorMethods", secondFactorMethods)]),
    ...(secondFactor === "required" && second.length === 0 && !first.includes("passkey")
      ? [
          {
            path: "secondFactor",
            message: "can't be required while no second factor is offered",
            code: "no-second-factor" as const,
          },
        ]
      : []),
  ];
}
