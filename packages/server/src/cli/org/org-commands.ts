/** `signet org …`: organisations. */
import {
  issuerOf,
  type Organisation,
  type OrganisationSettings,
  type SecondFactorPolicy,
  secondFactorPolicies,
} from "../../core/organisations/organisation.ts";
import { findOrganisation, listOrganisations } from "../../core/organisations/organisations.store.ts";
import {
  changeOrganisationSettings,
  createOrganisation,
  disableOrganisation,
} from "../../core/organisations/organisations.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  limitOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { enabledStatus, fields, formatTime, formatTimeOrNull, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireOrganisation } from "../with-service.ts";
import { readLogoFile } from "./logo-file.ts";
import { orgApply } from "./org-apply.ts";
import { orgExport } from "./org-export.ts";

const record = (organisation: Organisation, baseUrl: string) => ({
  id: organisation.id,
  name: organisation.name,
  issuer: issuerOf(baseUrl, organisation.id),
  secondFactor: organisation.settings.secondFactor,
  requireVerifiedEmail: organisation.settings.requireVerifiedEmail,
  allowAccountDeletion: organisation.settings.allowAccountDeletion,
  createdAt: formatTime(organisation.createdAt),
  disabledAt: formatTimeOrNull(organisation.disabledAt),
});

const orgCreate: Command = {
  name: "org create",
  summary: "create an organisation with its own issuer, signing keys and device CA",
  usage: "--name NAME [--json]",
  options: {
    name: { type: "string", value: "NAME", help: "display name", required: true },
    ...jsonOption,
  },
  examples: ['signet org create --name "Acme"'],
  runWithService: async (service, call) => {
    const name = requiredText(call.values, "name");
    const created = await service.database.transaction(async (tx) => {
      const organisation = await createOrganisation(service, tx, { name, actor: OPERATOR });
      await service.deviceCa.create(tx, { orgId: organisation.id, actor: OPERATOR });
      return organisation;
    });
    const shown = record(created, call.config.baseUrl);
    return printResult(call, shown, () => [
      ...fields({ id: shown.id, name: shown.name, issuer: shown.issuer }),
      "",
      `Next: signet user create --org ${shown.id} --email … --role administrator`,
    ]);
  },
};

const orgList: Command = {
  name: "org list",
  summary: "list the organisations, oldest first",
  usage: "[--limit COUNT] [--json]",
  options: { ...limitOption, ...jsonOption },
  runWithService: async ({ database }, call) =>
    printList(call, await readAll(call.values, (page) => listOrganisations(database.query, page)), {
      record: (organisation) => record(organisation, call.config.baseUrl),
      headings: ["ID", "NAME", "STATUS", "CREATED"],
      row: ({ id, name, disabledAt, createdAt }) => [
        id,
        name,
        enabledStatus(disabledAt),
        formatTime(createdAt),
      ],
      none: "No organisations yet: signet org create --name …",
    }),
};

const orgDisable: Command = {
  name: "org disable",
  summary: "disable an organisation with its issuer, sign-ins and tokens; nothing is deleted",
  usage: "ID [--enable] [--json]",
  positionals: 1,
  options: { enable: { type: "boolean", help: "enable the organisation again" }, ...jsonOption },
  examples: ["signet org disable 01998d6e-…", "signet org disable 01998d6e-… --enable"],
  runWithService: setDisabled,
};

async function setDisabled(service: Service, call: Call): Promise<number> {
  const [given] = call.positionals;
  if (given === undefined) throw new UsageError("the ID of the organisation is required");
  const { id } = await requireOrganisation(service, call.values, given);
  const disabled = call.values.enable !== true;
  await disableOrganisation(service, { orgId: id, disabled, actor: OPERATOR });
  const changed = await findOrganisation(service.database.query, id);
  return printResult(call, changed && record(changed, call.config.baseUrl), () => [
    `${disabled ? "Disabled" : "Enabled"} "${changed?.name}".`,
  ]);
}

const orgSet: Command = {
  name: "org set",
  summary: "change an organisation's name, branding and policies",
  usage: "--org ID [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "display name" },
    "accent-color": {
      type: "string",
      value: "COLOUR",
      help: "accent colour such as #2f4fd8; none for the default",
    },
    logo: { type: "string", value: "FILE", help: "PNG file of at most 8 KiB; none to remove the logo" },
    "second-factor": {
      type: "string",
      value: "POLICY",
      help: "optional or required: users without a second factor enrol one at sign-in",
    },
    "verified-email": {
      type: "string",
      value: "POLICY",
      help: "optional or required: users verify their email address before they reach an application",
    },
    "account-deletion": {
      type: "string",
      value: "POLICY",
      help: "allowed or forbidden: whether users may delete their own accounts; administrators always may",
    },
    "password-min-length": { type: "string", value: "COUNT", help: "minimum password length, 8 to 128" },
    "session-lifetime": {
      type: "string",
      value: "SECONDS",
      help: "maximum session lifetime, 300 to 31536000",
    },
    "session-idle": {
      type: "string",
      value: "SECONDS",
      help: "idle timeout of a session, from 60 to the session lifetime",
    },
    "default-language": {
      type: "string",
      value: "LANGUAGE",
      help: "language for users without a known preference, such as en",
    },
    ...jsonOption,
  },
  examples: [
    "signet org set --org 01998d6e-… --second-factor required",
    "signet org set --org 01998d6e-… --accent-color '#2f4fd8' --password-min-length 14",
  ],
  runWithService: change,
};

async function change(service: Service, call: Call): Promise<number> {
  const { id } = await requireOrganisation(service, call.values);
  const name = optionalText(call.values, "name");
  const accent = optionalText(call.values, "accent-color")?.toLowerCase();
  const logo = optionalText(call.values, "logo");
  const branding = {
    ...(accent === undefined ? {} : { accentColor: accent }),
    ...(logo === undefined ? {} : { logoUri: logo === "none" ? logo : readLogoFile(logo) }),
  };
  const settings = readPolicies(call);
  if (name === undefined && [branding, settings].every((members) => Object.keys(members).length === 0))
    throw new UsageError("give at least one setting, e.g. --second-factor POLICY; see signet org set --help");
  await changeOrganisationSettings(service, {
    orgId: id,
    ...(name === undefined ? {} : { name }),
    settings: (present) => ({ ...settings, ...mergeBranding(present.settings.branding, branding) }),
    actor: OPERATOR,
  });
  const changed = await findOrganisation(service.database.query, id);
  const { secondFactor, requireVerifiedEmail, allowAccountDeletion, ...others } = settings;
  const members = [...(name === undefined ? [] : ["name"]), ...Object.keys(branding), ...Object.keys(others)];
  return printResult(call, changed && record(changed, call.config.baseUrl), () => [
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

/** @param changes overrides by member; `none` removes the member */
function mergeBranding(
  present: OrganisationSettings["branding"],
  changes: OrganisationSettings["branding"],
): Partial<OrganisationSettings> {
  if (Object.keys(changes).length === 0) return {};
  const members = Object.entries({ ...present, ...changes }).filter(([, value]) => value !== "none");
  return { branding: Object.fromEntries(members) };
}

function readPolicies(call: Call): Partial<OrganisationSettings> {
  const factor = readPolicy(call, "second-factor");
  const email = readPolicy(call, "verified-email");
  const deletion = optionalText(call.values, "account-deletion");
  const language = optionalText(call.values, "default-language");
  const number = (option: string, member: keyof OrganisationSettings) => {
    const text = optionalText(call.values, option);
    if (text !== undefined && !/^\d{1,9}$/.test(text))
      throw new UsageError(`--${option} must be a whole number`);
    return text === undefined ? {} : { [member]: Number(text) };
  };
  return {
    ...(factor === undefined ? {} : { secondFactor: factor }),
    ...(email === undefined ? {} : { requireVerifiedEmail: email === "required" }),
    ...(deletion === undefined
      ? {}
      : {
          allowAccountDeletion:
            choice("account-deletion", deletion, ["allowed", "forbidden"] as const) === "allowed",
        }),
    ...number("password-min-length", "passwordMinLength"),
    ...number("session-lifetime", "sessionLifetimeSeconds"),
    ...number("session-idle", "sessionIdleSeconds"),
    ...(language === undefined ? {} : { defaultLocale: language }),
  };
}

function readPolicy({ values }: Call, name: string): SecondFactorPolicy | undefined {
  const policy = optionalText(values, name);
  return policy === undefined ? undefined : choice(name, policy, secondFactorPolicies);
}

export const orgCommands: readonly Command[] = [orgCreate, orgList, orgSet, orgDisable, orgExport, orgApply];
