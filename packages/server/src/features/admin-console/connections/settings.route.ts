/** connections/{id}/settings: what a directory or a provider is set to. */
import type { FastifyInstance } from "fastify";
import type { Connection } from "../../../core/connections/connection.ts";
import { lockConnection } from "../../../core/connections/connections.store.ts";
import { changeConnection } from "../../../core/connections/connections.ts";
import { openSecret, secretHint } from "../../../core/connections/sign-in/client-secret.ts";
import {
  changeSignInConnection,
  isSignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  clientAuthMethods,
  emailTrusts,
  linkingModes,
} from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { showFormInTab } from "../../../page-kit/record-tabs.ts";
import { type ConnectionsDeps, connectionPages, isDirectory, SETTINGS } from "./connection-pages.ts";
import { connectionRecord } from "./connection-record.ts";
import { beyondLink, requireByLink } from "./portal-authority.ts";
import { askedSaml } from "./saml-input.ts";
import { connectionSettings, fieldLabels, shownInput } from "./settings.page.ts";
import {
  type AskedContent,
  askedConnection,
  type ConnectionInput,
  connectionFaults,
  isDeletionPolicy,
  readAssurance,
  readConnectionInput,
  readMapping,
  toConnectionInput,
} from "./settings-input.ts";

export const connectionSettingsRoute = (app: FastifyInstance, deps: ConnectionsDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/connections/:id/settings", settingsForm(deps));

interface Content extends AskedContent {
  readonly input: ConnectionInput;
}

const settingsForm = (
  deps: ConnectionsDeps,
): EditForm<ConnectionsDeps, Connection, ConnectionInput, Content> => ({
  current: "connections",
  readOnlyAllowed: true,
  secretFields: ["clientSecret"],
  load: connectionPages.require,
  lock: lockConnection,
  version: ({ version }) => version,
  toInput: toConnectionInput,
  readInput: ({ values }) => readConnectionInput(values),
  toDisplay: (input, { record, messages }) => shownInput(input, record, messages),
  page: (form, { record, ...editing }) => {
    const { fields } = editing.messages.console.connections;
    const secret = record.kind === "saml" ? undefined : openSecret(deps.encryption, record);
    const hint = secret === undefined ? fields.clientSecret.hint : fields.clientSecret.keep;
    const shown = secret === undefined ? "" : secretHint(secret);
    return showFormInTab(deps, connectionRecord, "settings", form, {
      ...{ ...editing, record, labels: fieldLabels(editing.messages) },
      content: (view) =>
        connectionSettings(form, view, typeof hint === "string" ? hint : hint({ value: shown })),
    });
  },
  validate: (input, { record, messages }) =>
    isDirectory(record)
      ? validDirectory(input, messages)
      : withSaml(deps, record, input, validProvider(input, record, messages), messages),
  save: async (inside, content, { visit, signedIn, acting, record }) => {
    const { id } = record;
    const { name, deletionPolicy: policy } = content.input;
    if (isSignInConnection(record)) {
      const { linking } = content.input;
      const members = isRenamed(record, content.input) ? ["name"] : ["settings"];
      await requireByLink(inside, signedIn, { members, linking }, record);
      await changeSignInConnection(inside, {
        ...{ ...acting, id },
        ask: (before) => askedConnection(before, content.input, content),
      });
    } else {
      const change = { name, ...(isDeletionPolicy(policy) && { deletionPolicy: policy }) };
      await changeConnection(inside, { ...acting, id, change });
    }
    return connectionPages.path(visit.organisation, id, `${SETTINGS}?done=saved`);
  },
  // The former secret can't be typed again.
  isUndoable: ({ input }) => input.clientSecret === "" && input.tokenEndpointAuthMethod !== "none",
  explain: (error, { messages, record }) => {
    const failure = beyondLink(error, messages);
    if (failure) return failure;
    const faults = connectionFaults(error, messages, record.settings?.saml);
    return faults && { faults };
  },
});

/** Not of a provider, or not about what it says. */
const besideSettings = ["id", "name", "deletionPolicy", "isSecretDue"];

/** And nothing else. */
function isRenamed(record: Connection, input: ConnectionInput): boolean {
  const now = Object.entries(toConnectionInput(record)).filter(([field]) => !besideSettings.includes(field));
  return now.every(([field, value]) => input[field as keyof ConnectionInput] === value);
}

type Validated = { readonly content: Content } | { readonly faults: Record<string, string> };

const validDirectory = (input: ConnectionInput, { console: { connections } }: Messages): Validated =>
  isDeletionPolicy(input.deletionPolicy)
    ? { content: { input, mapping: {}, assurance: [] } }
    : { faults: { deletionPolicy: connections.faults.choice } };

/** Its metadata is fetched before the transaction that saves it. */
async function withSaml(
  deps: ConnectionsDeps,
  { orgId, settings }: Connection,
  input: ConnectionInput,
  validated: Validated,
  { console: { connections } }: Messages,
): Promise<Validated> {
  if (!settings?.saml) return validated;
  const asked = await askedSaml(deps, orgId, { before: settings.saml, input });
  if ("fields" in asked) {
    const faults = Object.fromEntries([...asked.fields].map((field) => [field, connections.faults[field]]));
    return { faults: { ...("faults" in validated ? validated.faults : {}), ...faults } };
  }
  return "faults" in validated ? validated : { content: { ...validated.content, saml: asked.saml } };
}

/** What the core's types take for granted; what the values may be is the core's to say. */
function validProvider(
  input: ConnectionInput,
  { kind }: Connection,
  { console: { connections } }: Messages,
): Validated {
  const { faults: texts } = connections;
  const [mapping, assurance] = [readMapping(input.mapping), readAssurance(input.assurance)];
  const isOneOf = (values: readonly string[], value: string) => values.includes(value);
  const isLost = input.isSecretDue && input.clientSecret === "" && input.tokenEndpointAuthMethod !== "none";
  const faults = {
    ...(kind !== "saml" && isLost && { clientSecret: texts.secretAgain }),
    ...(kind !== "saml" &&
      !isOneOf(clientAuthMethods, input.tokenEndpointAuthMethod) && {
        tokenEndpointAuthMethod: texts.choice,
      }),
    ...(!isOneOf(linkingModes, input.linking) && { linking: texts.choice }),
    ...(!isOneOf(emailTrusts, input.emailTrust) && { emailTrust: texts.choice }),
    ...(!mapping && { mapping: texts.mapping }),
    ...(!assurance && { assurance: texts.assurance }),
  };
  return mapping && assurance && Object.keys(faults).length === 0
    ? { content: { input, mapping, assurance } }
    : { faults };
}
