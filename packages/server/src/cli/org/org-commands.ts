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
import { answer, answerList, fields, limitOption, stateOf, time, timeOrNull } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
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
  createdAt: time(organisation.createdAt),
  disabledAt: timeOrNull(organisation.disabledAt),
});

const orgCreate: Command = {
  name: "org create",
  summary: "make an organisation, with an issuer, signing keys and a device CA of its own",
  usage: "--name NAME [--json]",
  options: {
    name: { type: "string", value: "NAME", help: "as people see it", required: true },
    ...jsonOption,
  },
  examples: ['signet org create --name "Acme"'],
  run: (call) =>
    withService(call, async (service) => {
      const name = requiredText(call.values, "name");
      const made = await service.database.transaction(async (tx) => {
        const organisation = await createOrganisation(service, tx, { name, actor: OPERATOR });
        await service.deviceCa.create(tx, { orgId: organisation.id, actor: OPERATOR });
        return organisation;
      });
      const shown = record(made, call.config.baseUrl);
      return answer(call, shown, () => [
        ...fields({ id: shown.id, name: shown.name, issuer: shown.issuer }),
        "",
        `Next: signet user create --org ${shown.id} --email … --role administrator`,
      ]);
    }),
};

const orgList: Command = {
  name: "org list",
  summary: "list the organisations, oldest first",
  usage: "[--limit COUNT] [--json]",
  options: { ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async ({ database }) =>
      answerList(call, await readAll(call.values, (page) => listOrganisations(database.query, page)), {
        record: (organisation) => record(organisation, call.config.baseUrl),
        headings: ["ID", "NAME", "STATE", "CREATED"],
        row: ({ id, name, disabledAt, createdAt }) => [id, name, stateOf(disabledAt), time(createdAt)],
        none: "There is no organisation yet: signet org create --name …",
      }),
    ),
};

const orgDisable: Command = {
  name: "org disable",
  summary: "close an organisation: its issuer, sign-ins and tokens stop; nothing is deleted",
  usage: "ID [--enable] [--json]",
  positionals: 1,
  options: { enable: { type: "boolean", help: "open it again" }, ...jsonOption },
  examples: ["signet org disable 01998d6e-…", "signet org disable 01998d6e-… --enable"],
  run: (call) => withService(call, (service) => setDisabled(call, service)),
};

async function setDisabled(call: Call, service: Service): Promise<number> {
  const [given] = call.positionals;
  if (given === undefined) throw new UsageError("the organisation's ID is missing");
  const { id } = await organisationOf(service, call.values, given);
  const disabled = call.values.enable !== true;
  await disableOrganisation(service, { orgId: id, disabled, actor: OPERATOR });
  const changed = await findOrganisation(service.database.query, id);
  return answer(call, changed && record(changed, call.config.baseUrl), () => [
    disabled ? `"${changed?.name}" is disabled.` : `"${changed?.name}" is enabled.`,
  ]);
}

const orgSet: Command = {
  name: "org set",
  summary: "change an organisation's policies",
  usage: "--org ID [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "as people see it" },
    "accent-color": { type: "string", value: "COLOUR", help: "like #2f4fd8; none for Signet's own" },
    logo: { type: "string", value: "FILE", help: "a PNG of at most 8 KiB; none for no logo" },
    "second-factor": {
      type: "string",
      value: "POLICY",
      help: "optional, or required: who has none adds one right after the password",
    },
    "verified-email": {
      type: "string",
      value: "POLICY",
      help: "optional, or required: nobody goes on to an application before their address is confirmed",
    },
    "account-deletion": {
      type: "string",
      value: "POLICY",
      help: "allowed, or forbidden: users cannot delete their own accounts; administrators always can",
    },
    "password-min-length": { type: "string", value: "COUNT", help: "characters, 8 to 128" },
    "session-lifetime": { type: "string", value: "SECONDS", help: "of a sign-in, 300 to 31536000" },
    "session-idle": {
      type: "string",
      value: "SECONDS",
      help: "after which an unused sign-in ends, from 60 to its lifetime",
    },
    "default-language": { type: "string", value: "LANGUAGE", help: "for whose own is not known, like en" },
    ...jsonOption,
  },
  examples: [
    "signet org set --org 01998d6e-… --second-factor required",
    "signet org set --org 01998d6e-… --accent-color '#2f4fd8' --password-min-length 14",
  ],
  run: (call) => withService(call, (service) => change(call, service)),
};

async function change(call: Call, service: Service): Promise<number> {
  const { id } = await organisationOf(service, call.values);
  const name = optionalText(call.values, "name");
  const accent = optionalText(call.values, "accent-color")?.toLowerCase();
  const logo = optionalText(call.values, "logo");
  const branding = {
    ...(accent === undefined ? {} : { accentColor: accent }),
    ...(logo === undefined ? {} : { logoUri: logo === "none" ? logo : readLogoFile(logo) }),
  };
  const settings = policiesOf(call);
  if (name === undefined && [branding, settings].every((members) => Object.keys(members).length === 0))
    throw new UsageError("name what shall change, e.g. --second-factor POLICY; see signet help org set");
  await changeOrganisationSettings(service, {
    orgId: id,
    ...(name === undefined ? {} : { name }),
    settings: (present) => ({ ...settings, ...brandingWith(present.settings.branding, branding) }),
    actor: OPERATOR,
  });
  const changed = await findOrganisation(service.database.query, id);
  const { secondFactor, requireVerifiedEmail, allowAccountDeletion, ...others } = settings;
  const members = [...(name === undefined ? [] : ["name"]), ...Object.keys(branding), ...Object.keys(others)];
  const at = `at "${changed?.name}"`;
  return answer(call, changed && record(changed, call.config.baseUrl), () => [
    ...(secondFactor === undefined ? [] : [`A second factor is ${secondFactor} ${at}.`]),
    ...(requireVerifiedEmail === undefined
      ? []
      : [`A confirmed address is ${requireVerifiedEmail ? "required" : "optional"} ${at}.`]),
    ...(allowAccountDeletion === undefined
      ? []
      : [`Users ${allowAccountDeletion ? "may" : "may not"} delete their own accounts ${at}.`]),
    ...(members.length === 0 ? [] : [`Changed ${at}: ${members.join(", ")}.`]),
  ]);
}

/** @param changes what is not named stays; `none` takes a member away */
function brandingWith(
  present: OrganisationSettings["branding"],
  changes: OrganisationSettings["branding"],
): Partial<OrganisationSettings> {
  if (Object.keys(changes).length === 0) return {};
  const members = Object.entries({ ...present, ...changes }).filter(([, value]) => value !== "none");
  return { branding: Object.fromEntries(members) };
}

function policiesOf(call: Call): Partial<OrganisationSettings> {
  const factor = policyOf(call, "second-factor");
  const email = policyOf(call, "verified-email");
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

function policyOf({ values }: Call, name: string): SecondFactorPolicy | undefined {
  const policy = optionalText(values, name);
  return policy === undefined ? undefined : choice(name, policy, secondFactorPolicies);
}

export const orgCommands: readonly Command[] = [orgCreate, orgList, orgSet, orgDisable, orgExport, orgApply];
