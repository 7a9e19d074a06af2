/** settings/sign-up: who may make an account, the terms that every user accepts, and the groups that new users get into. */
import type { FastifyInstance } from "fastify";
import { groupNameKey } from "../../../core/groups/group.ts";
import { findGroup, findLocalGroups } from "../../../core/groups/groups.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import {
  MAX_SIGN_UP_GROUPS,
  type SignUpMode,
  type SignUpSettings,
  signUpModes,
} from "../../../core/organisations/sign-up-settings.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/page.ts";
import { loadOrganisation, organisationFaults } from "./organisation-record.ts";
import { type SignUpInput, signUpSettingsPage } from "./sign-up.page.ts";

interface WithGroups extends Organisation {
  readonly groupNames: readonly string[];
}

export function signUpSettingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute<ConsoleDeps, WithGroups, SignUpInput, SignUpSettings>(
    app,
    deps,
    "/oauth/manage/:org/settings/sign-up",
    {
      current: "settings",
      lock: (tx, { id }) => lockOrganisation(tx, id),
      explain: (error, { messages }) => organisationFaults(error, messages),
      load,
      version: toInput,
      toInput,
      readInput,
      toDisplay: (input, { messages }) => {
        const { modes } = messages.console.settings.signUp;
        const mode = signUpModes.find((one) => one === input.mode);
        return { ...input, mode: mode ? modes[mode].label : input.mode };
      },
      page: signUpSettingsPage,
      validate: (input, editing) => validate(deps, input, editing),
      save: async (inside, signUp: SignUpSettings, { visit: { organisation }, acting }) => {
        await changeOrganisationSettings(inside, { ...acting, settings: { signUp } });
        return consolePath(organisation, "/settings?done=signUp");
      },
    },
  );
}

/** Those that are gone have no name: saving leaves them out. */
async function load(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<WithGroups> {
  const record = await loadOrganisation(deps, visit);
  const groupNames: string[] = [];
  for (const id of record.settings.signUp.groups) {
    const group = await findGroup(deps.database.query, { orgId: record.id, id });
    if (group) groupNames.push(group.displayName);
  }
  return { ...record, groupNames };
}

const toInput = ({ settings: { signUp }, groupNames }: WithGroups): SignUpInput => ({
  mode: signUp.mode,
  version: signUp.terms?.version ?? "",
  url: signUp.terms?.url ?? "",
  groups: groupNames.join("\n"),
});

function readInput({ values }: SentForm): SignUpInput {
  const text = (name: keyof SignUpInput, max: number) => (values.get(name) ?? "").trim().slice(0, max);
  return {
    mode: text("mode", 20),
    version: text("version", 200),
    url: text("url", 1_000),
    groups: text("groups", 10_000).replaceAll(/\r\n?/g, "\n"),
  };
}

/** The core checks the rest. */
async function validate(
  { database }: Pick<ConsoleDeps, "database">,
  { mode, version, url, groups }: SignUpInput,
  { messages, visit: { organisation } }: Editing<WithGroups>,
) {
  const { faults: text } = messages.console.settings;
  const names = groups
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const keys = [...new Set(names.map(groupNameKey))];
  const isBounded = keys.length <= MAX_SIGN_UP_GROUPS;
  const known = isBounded
    ? await findLocalGroups(database.query, organisation.id, keys)
    : new Map<string, string>();
  const faults = {
    ...(signUpModes.some((one) => one === mode) ? {} : { mode: text["sign-up-mode"] }),
    // One without the other says nothing.
    ...(version === "" && url !== "" ? { version: text["terms-version"] } : {}),
    ...(url === "" && version !== "" ? { url: text["terms-url"] } : {}),
    ...(keys.every((key) => known.has(key)) ? {} : { groups: text["sign-up-groups"] }),
  };
  if (Object.keys(faults).length > 0) return { faults };
  const terms = url === "" ? {} : { terms: { version, url } };
  const content: SignUpSettings = {
    ...{ mode: mode as SignUpMode, ...terms },
    groups: keys.flatMap((key) => known.get(key) ?? []),
  };
  return { content };
}
