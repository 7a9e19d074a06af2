/** `signet app update`: every setting that `app create` takes. */
import {
  type Application,
  type ApplicationSettings,
  defaultSettings,
} from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { bothConsentMembers } from "../../core/applications/consent-mode.ts";
import { type Command, definedOnly, type OrganisationCall, optionalText, UsageError } from "../command.ts";
import { printResult } from "../output.ts";
import { requireApplication } from "../with-service.ts";
import { appFields, appRecord } from "./app-record.ts";
import {
  explainFaults,
  oppositeOptions,
  readChangedSettings,
  readResetMembers,
  settingOptions,
} from "./app-settings.ts";
import { type ChosenStack, newSettingsOf, readStack, stackOptions, stackOutput } from "./app-stack.ts";

export const appUpdate: Command = {
  name: "app update",
  summary: "change an application's settings; those that aren't given stay as they are",
  usage: "ID --org ID [options]",
  positionals: 1,
  options: {
    app: { value: "ID", help: "client ID, in place of the ID argument" },
    ...stackOptions,
    name: { value: "NAME", help: "display name, shown on the consent page" },
    ...settingOptions,
    ...oppositeOptions,
    reset: {
      value: "OPTION",
      multiple: true,
      help: "set the setting of another option back to its default, e.g. audience; repeatable",
    },
  },
  examples: [
    "signet app update 01998d6f-… --org 01998d6e-… --redirect-uri https://shop.example/callback --access-token-lifetime 15m",
    "signet app update 01998d6f-… --org 01998d6e-… --pkce --no-id-token-scope-claims --reset audience",
    "signet app update 01998d6f-… --org 01998d6e-… --for spring",
  ],
  runInOrganisation: update,
};

async function update(call: OrganisationCall): Promise<number> {
  const { values, service, by } = call;
  const chosen = readStack(values);
  const given = readChangedSettings(values);
  const reset = readResetMembers(values);
  const name = optionalText(values, "name");
  if (!chosen && name === undefined && Object.keys(given).length + reset.length === 0)
    throw new UsageError("nothing to change: give at least one option");
  const { id, clientType, name: oldName } = await requireApplication(call);
  if (chosen) requireClientType(chosen, { name: oldName, clientType });
  const changed = await changeApplication(service, { ...by, id }, (before) => ({
    name: name ?? before.name,
    settings: changedSettings(before, chosen, given, reset),
    disabled: before.disabledAt !== null,
  })).catch(explainFaults(values));
  if (!changed) throw new Error("the application no longer exists");
  const forStack = stackOutput(chosen, changed, call.config.baseUrl);
  return printResult(call, { ...appRecord(changed), ...forStack.document }, () => [
    ...appFields(changed),
    ...forStack.lines,
  ]);
}

/** @throws Error */
export function requireClientType(
  { name, stack }: ChosenStack,
  present: { readonly name: string; readonly clientType: string },
): void {
  if (stack.clientType === present.clientType) return;
  throw new Error(
    `--for ${name} needs an application of the type ${stack.clientType}; the type of "${present.name}" is ${present.clientType} and can't be changed`,
  );
}

/** Options win over `--reset`, which wins over `--for`. */
function changedSettings(
  { settings: before, clientType }: Application,
  chosen: ChosenStack | undefined,
  given: Partial<ApplicationSettings>,
  reset: ReadonlyArray<keyof ApplicationSettings>,
): ApplicationSettings {
  const defaults: Partial<ApplicationSettings> = defaultSettings(clientType);
  const all: Partial<ApplicationSettings> = {
    ...before,
    ...stackSettings(before, chosen),
    ...Object.fromEntries(reset.map((member) => [member, defaults[member]])),
    ...given,
    ...consentSettings(before, given, reset),
  };
  const present = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as unknown as ApplicationSettings;
}

/** Two settings that say one thing: given one of them, the other follows. */
function consentSettings(
  before: ApplicationSettings,
  given: Partial<ApplicationSettings>,
  reset: ReadonlyArray<keyof ApplicationSettings>,
): Partial<ApplicationSettings> {
  const isReset = reset.includes("consentMode") || reset.includes("requireConsent");
  const { requireConsent, consentMode } = { ...(isReset ? { requireConsent: true } : {}), ...given };
  if (
    consentMode !== undefined ||
    isReset ||
    (requireConsent ?? before.requireConsent) !== before.requireConsent
  )
    return bothConsentMembers(definedOnly({ requireConsent, consentMode }));
  return {};
}

/** Addresses change with `--url` only, and scopes are never taken away: the application is in use. */
export function stackSettings(
  before: Pick<ApplicationSettings, "redirectUris" | "allowedScopes">,
  chosen: ChosenStack | undefined,
): Partial<ApplicationSettings> {
  const { redirectUris = [], postLogoutRedirectUris = [], homepageUri, ...others } = newSettingsOf(chosen);
  const isNew = chosen?.address !== undefined;
  const scopes = [...new Set([...before.allowedScopes, ...(chosen?.stack.scopes ?? [])])];
  return {
    ...others,
    ...(chosen ? { allowedScopes: scopes } : {}),
    ...(isNew || before.redirectUris.length === 0 ? { redirectUris } : {}),
    ...(isNew ? { postLogoutRedirectUris } : {}),
    ...(isNew && homepageUri !== undefined ? { homepageUri } : {}),
  };
}
