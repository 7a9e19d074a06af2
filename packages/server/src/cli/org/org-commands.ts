/** `signet org …`: organisations. */

import { ledgerModes } from "../../core/ledger/ledger-log.ts";
import type { ImageKind } from "../../core/organisations/image-kinds.ts";
import {
  changeImages,
  type ImageChanges,
  type ImageFault,
  imageRules,
  readImage,
} from "../../core/organisations/images.ts";
import {
  type Organisation,
  type OrganisationSettings,
  secondFactorPolicies,
} from "../../core/organisations/organisation.ts";
import { findOrganisation, listOrganisations } from "../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings, createOrganisation } from "../../core/organisations/organisations.ts";
import {
  passkeyEnrolments,
  secondFactorMethods,
  signInMethods,
} from "../../core/organisations/sign-in-methods.ts";
import type { SignInTextPart } from "../../core/organisations/sign-in-texts.ts";
import {
  type Command,
  definedOnly,
  jsonOption,
  limitOption,
  type OrganisationCall,
  optionalChoice,
  optionalText,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { fields, printList, printResult, readOptionFile } from "../output.ts";
import { OPERATOR, readAll } from "../with-service.ts";
import { orgApply } from "./org-apply.ts";
import { changeStatus, orgEndCommands } from "./org-end.ts";
import { orgExport } from "./org-export.ts";
import { orgRecord, statusOf } from "./org-record.ts";
import { requireWayIn } from "./way-in.ts";

export const orgCommands: readonly Command[] = [
  {
    name: "org create",
    summary: "create an organisation with its own issuer, signing keys and device CA",
    usage: "--name NAME [--json]",
    options: { name: { value: "NAME", help: "display name", required: true }, ...jsonOption },
    examples: ['signet org create --name "Acme"'],
    mayBegin: true,
    runWithService: async (service, call) => {
      const name = requiredText(call.values, "name");
      const created = await service.database.transaction(async (tx) => {
        const organisation = await createOrganisation(service, tx, { name, actor: OPERATOR });
        await service.deviceCa.create(tx, { orgId: organisation.id, actor: OPERATOR });
        return organisation;
      });
      const record = orgRecord(created, call.config.baseUrl);
      return printResult(call, record, () => [
        ...fields({ id: record.id, name: record.name, issuer: record.issuer }),
        "",
        `Next: signet user create --org ${record.id} --email … --role administrator`,
      ]);
    },
  },
  {
    name: "org list",
    summary: "list the organisations, oldest first",
    usage: "[--limit COUNT] [--json]",
    options: { ...limitOption, ...jsonOption },
    runWithService: ({ database }, call) => {
      const organisations = readAll(call.values, (page) => listOrganisations(database.query, page));
      return printList(call, organisations, {
        record: (organisation) => orgRecord(organisation, call.config.baseUrl),
        columns: { ID: "id", NAME: "name", STATUS: statusOf, CREATED: "createdAt" },
        none: "No organisations yet: signet org create --name …",
      });
    },
  },
  {
    name: "org set",
    summary: "change an organisation's name, branding and policies",
    usage: "--org ID [options]",
    options: {
      name: { value: "NAME", help: "display name" },
      "accent-color": { value: "COLOUR", help: "accent colour such as #2f4fd8; none for the default" },
      logo: {
        value: "FILE",
        help: "PNG, JPEG or WebP of at most 64 KiB; none to remove it, like the others",
      },
      "dark-logo": { value: "FILE", help: "logo for users who prefer dark" },
      favicon: { value: "FILE", help: "PNG or ICO of at most 32 KiB" },
      picture: { value: "FILE", help: "picture beside the sign-in on wide screens, at most 512 KiB" },
      "help-link": {
        value: "URL",
        help: "link on sign-in pages: https, or mailto: and an address; none to remove it",
      },
      "privacy-link": { value: "URL", help: "https link on sign-in pages; none to remove it" },
      "terms-link": { value: "URL", help: "https link on sign-in pages; none to remove it" },
      "sign-in-heading": {
        value: "LANGUAGE:TEXT",
        help: "heading of the sign-in page in a language, such as 'en:Welcome'; en:none to remove it",
      },
      "sign-in-text": { value: "LANGUAGE:TEXT", help: "text below it, in the same form" },
      "sign-in-methods": {
        value: "LIST",
        help: "password, passkey, emailCode, magicLink in the order of the sign-in page, such as passkey,emailCode",
      },
      "passkey-enrolment": {
        value: "off|offer|required",
        help: "after sign-in, for users without a passkey",
      },
      "second-factors": {
        value: "LIST",
        help: "what users may add as a second factor: totp, passkey or both; none for neither",
      },
      "second-factor": {
        value: "POLICY",
        help: "optional or required: users without a second factor enrol one at sign-in",
      },
      "verified-email": {
        value: "POLICY",
        help: "optional or required: users verify their email address before they reach an application",
      },
      "account-deletion": {
        value: "POLICY",
        help: "allowed or forbidden: whether users may delete their own accounts; administrators always may",
      },
      "pushed-requests": {
        value: "POLICY",
        help: "optional or required: whether applications must push their authorization requests (RFC 9126)",
      },
      "password-min-length": { value: "COUNT", help: "minimum password length, 8 to 128" },
      "audit-retention-months": {
        value: "COUNT",
        help: "months that the audit log is kept, 1 to 240; 0 (default) keeps it for ever",
      },
      ledger: {
        value: "MODE",
        help: "public, members or off (default): who may read the log of the signatures in its name",
      },
      "ledger-witnesses": {
        value: "COUNT",
        help: "how many witnesses a checkpoint of that log needs, 1 to 9",
      },
      "session-lifetime": { value: "SECONDS", help: "maximum session lifetime, 300 to 31536000" },
      "session-idle": {
        value: "SECONDS",
        help: "idle timeout of a session, from 60 to the session lifetime",
      },
      "default-language": {
        value: "LANGUAGE",
        help: "language for users without a known preference, such as en",
      },
    },
    examples: [
      "signet org set --org 01998d6e-… --second-factor required",
      "signet org set --org 01998d6e-… --accent-color '#2f4fd8' --password-min-length 14",
    ],
    runInOrganisation: change,
  },
  {
    name: "org disable",
    summary: "the older name of org suspend, and with --enable of org resume",
    usage: "ID [--enable] [--json]",
    positionals: 1,
    options: { enable: { help: "enable the organisation again" }, ...jsonOption },
    examples: ["signet org disable 01998d6e-…", "signet org disable 01998d6e-… --enable"],
    runWithService: (service, call) => changeStatus(service, call, call.values.enable !== true),
  },
  ...orgEndCommands,
  orgExport,
  orgApply,
];

async function change(call: OrganisationCall): Promise<number> {
  const { service, values } = call;
  const name = definedOnly({ name: optionalText(values, "name") });
  const branding = readBranding(values);
  const texts = readSignInTexts(values);
  const images = readImages(values);
  const settings = readPolicies(values);
  if ([name, branding, texts, images, settings].every((members) => Object.keys(members).length === 0))
    throw new UsageError("give at least one setting, e.g. --second-factor POLICY; see signet org set --help");
  requireWayIn(service, settings.signInMethods, "--sign-in-methods");
  const { by } = call;
  const wanted = {
    ...by,
    ...name,
    settings: (present: Organisation) => ({
      ...settings,
      ...mergeBranding(present.settings.branding, branding, texts),
    }),
  };
  await (Object.keys(images).length === 0
    ? changeOrganisationSettings(service, wanted)
    : changeImages(service, images, wanted));
  const changed = await findOrganisation(service.database.query, by.orgId);
  const { secondFactor, requireVerifiedEmail, allowAccountDeletion, ...others } = settings;
  const hasTexts = Object.keys(texts).length > 0 ? { signInTexts: texts } : {};
  const members = Object.keys({ ...name, ...branding, ...images, ...hasTexts, ...others });
  return printResult(call, changed && orgRecord(changed, call.config.baseUrl), () => [
    ...(secondFactor === undefined ? [] : [`Second factor: ${secondFactor}.`]),
    ...(requireVerifiedEmail === undefined
      ? []
      : [`Verified email address: ${requireVerifiedEmail ? "required" : "optional"}.`]),
    ...(allowAccountDeletion === undefined
      ? []
      : [`Account deletion by users: ${allowAccountDeletion ? "allowed" : "forbidden"}.`]),
    ...(members.length === 0 ? [] : [`Changed: ${members.join(", ")}.`]),
  ]);
}

export function readBranding(values: Values) {
  return definedOnly({
    accentColor: optionalText(values, "accent-color")?.toLowerCase(),
    helpUri: optionalText(values, "help-link"),
    privacyUri: optionalText(values, "privacy-link"),
    termsUri: optionalText(values, "terms-link"),
  });
}

const imageOptions = {
  logo: "logo",
  "dark-logo": "darkLogo",
  favicon: "favicon",
  picture: "panel",
} as const satisfies Record<string, ImageKind>;

const imageFaults: Readonly<Record<ImageFault, string>> = {
  "image-form": "the file is no image of the formats that it may have",
  "image-size": "the file is too large",
  "image-sides": "the image has too few or too many pixels",
};

export function readImages(values: Values): ImageChanges {
  const read = (option: string, kind: ImageKind) => {
    const file = optionalText(values, option);
    if (file === undefined) return undefined;
    if (file === "none") return null;
    return readOptionFile(option, file, imageRules[kind].maxBytes, (bytes) => {
      const image = readImage(kind, bytes);
      if (typeof image === "string") throw new Error(imageFaults[image]);
      return image;
    });
  };
  return definedOnly(
    Object.fromEntries(Object.entries(imageOptions).map(([option, kind]) => [kind, read(option, kind)])),
  );
}

type OwnText = { readonly locale: string; readonly text: string };
type OwnTexts = Readonly<Partial<Record<SignInTextPart, OwnText>>>;

/** @throws UsageError */
export function readSignInTexts(values: Values): OwnTexts {
  const read = (part: SignInTextPart): OwnText | undefined => {
    const given = optionalText(values, `sign-in-${part}`);
    if (given === undefined) return undefined;
    const [, locale = "", text = ""] = /^([a-z]{2,3}):(.+)$/su.exec(given) ?? [];
    if (text === "") throw new UsageError(`--sign-in-${part} must be a language and a text, e.g. en:Welcome`);
    return { locale, text: text.trim() };
  };
  return definedOnly({ heading: read("heading"), text: read("text") });
}

/** @param changes overrides by member; `none` removes the member, or a text */
export function mergeBranding(
  present: OrganisationSettings["branding"],
  changes: OrganisationSettings["branding"],
  texts: OwnTexts,
): Partial<OrganisationSettings> {
  const parts = Object.entries(texts);
  if (Object.keys(changes).length + parts.length === 0) return {};
  const { signInTexts = {}, ...others } = present;
  const merged = new Map(Object.entries(signInTexts));
  for (const [part, { locale, text }] of parts) {
    const { [part as SignInTextPart]: _, ...rest } = merged.get(locale) ?? {};
    const next = text === "none" ? rest : { ...rest, [part]: text };
    if (Object.keys(next).length === 0) merged.delete(locale);
    else merged.set(locale, next);
  }
  const members = Object.entries({ ...others, ...changes }).filter(([, value]) => value !== "none");
  return {
    branding: {
      ...Object.fromEntries(members),
      ...(merged.size === 0 ? {} : { signInTexts: Object.fromEntries(merged) }),
    },
  };
}

export function readPolicies(values: Values): Partial<OrganisationSettings> {
  const email = optionalChoice(values, "verified-email", secondFactorPolicies);
  const pushed = optionalChoice(values, "pushed-requests", secondFactorPolicies);
  const deletion = optionalChoice(values, "account-deletion", ["allowed", "forbidden"]);
  const number = (option: string) => {
    const text = optionalText(values, option);
    if (text !== undefined && !/^\d{1,9}$/.test(text))
      throw new UsageError(`--${option} must be a whole number`);
    return text === undefined ? undefined : Number(text);
  };
  return definedOnly({
    signInMethods: methodList(values, "sign-in-methods", signInMethods),
    secondFactorMethods: methodList(values, "second-factors", secondFactorMethods),
    passkeyEnrolment: optionalChoice(values, "passkey-enrolment", passkeyEnrolments),
    secondFactor: optionalChoice(values, "second-factor", secondFactorPolicies),
    requireVerifiedEmail: email && email === "required",
    allowAccountDeletion: deletion && deletion === "allowed",
    requirePushedAuthorizationRequests: pushed && pushed === "required",
    passwordMinLength: number("password-min-length"),
    sessionLifetimeSeconds: number("session-lifetime"),
    sessionIdleSeconds: number("session-idle"),
    auditRetentionMonths: number("audit-retention-months"),
    ledger: optionalChoice(values, "ledger", ledgerModes),
    ledgerWitnessQuorum: number("ledger-witnesses"),
    defaultLocale: optionalText(values, "default-language"),
  });
}

/** Whether the list makes sense is checked with the settings. @throws UsageError */
function methodList<Method extends string>(
  values: Values,
  option: string,
  known: readonly Method[],
): Method[] | undefined {
  const text = optionalText(values, option);
  if (text === undefined) return undefined;
  if (text === "none") return [];
  return text.split(",").map((entry) => {
    const method = known.find((one) => one === entry.trim());
    if (method === undefined)
      throw new UsageError(`--${option} must be a list of ${known.join(" and ")}, e.g. ${known.join(",")}`);
    return method;
  });
}
