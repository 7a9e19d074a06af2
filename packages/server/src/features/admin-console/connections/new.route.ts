/** connections/new: what to connect first, then one short form. */
import { isUuid } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { FastifyInstance } from "fastify";
import { callbackUri, samlAddresses } from "../../../core/connections/connection-addresses.ts";
import { createConnection } from "../../../core/connections/connections.ts";
import { changedProvider, describeProvider } from "../../../core/connections/saml/provider.ts";
import { newServiceKey } from "../../../core/connections/saml/sp-key.ts";
import { presetDefaults } from "../../../core/connections/sign-in/presets.ts";
import type { AskedSettings } from "../../../core/connections/sign-in/settings-rules.ts";
import {
  type AskedConnection,
  createSignInConnection,
  InvalidSignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { SamlProvider } from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type ConnectionsDeps, connectionPages, TOKENS } from "./connection-pages.ts";
import {
  type ConnectionType,
  chooseTypePage,
  isConnectionType,
  isOfPurposes,
  newConnectionPage,
  type ProviderAddresses,
  presetOf,
  suggestedName,
} from "./new.page.ts";
import { beyondLink, requireByLink } from "./portal-authority.ts";
import {
  type ConnectionInput,
  connectionFaults,
  emptyConnection,
  isDeletionPolicy,
  readConnectionInput,
} from "./settings-input.ts";

export const newConnectionRoute = (app: FastifyInstance, deps: ConnectionsDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/connections/new", {
    get: showNewConnection,
    post: createFromForm,
  });

const newPath = ({ organisation }: Visit, type?: ConnectionType): string =>
  consolePath(organisation, `/connections/new${type === undefined ? "" : `?type=${type}`}`);

async function showNewConnection(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const requested = parseQuery(visit.request).values.get("type");
  const type = isConnectionType(requested) ? requested : undefined;
  const signedIn = await requireRecentAuthentication(deps, visit, newPath(visit, type));
  requireTypeOfLink(signedIn, type);
  if (type === undefined) {
    const frame = await consoleFrame(deps, visit, signedIn, "connections");
    return show(visit, frame, chooseTypePage(frame));
  }
  const name = suggestedName(type, pageMessages(visit, signedIn));
  await showForm(deps, visit, signedIn, type, { input: { ...emptyConnection, id: newUuid(), name } });
}

const showForm = (
  deps: ConnectionsDeps,
  visit: Visit,
  signedIn: SignedIn,
  type: ConnectionType,
  shown: FormShown<ConnectionInput>,
) =>
  showFormPage(deps, visit, signedIn, "connections", shown, (view) =>
    newConnectionPage(view, type, addressesOf(deps, visit, type, view.input)),
  );

/** Undefined where something else is set up. */
function addressesOf(
  { baseUrl }: ConnectionsDeps,
  { organisation }: Visit,
  type: ConnectionType,
  { id }: ConnectionInput,
): ProviderAddresses | undefined {
  if (type === "scim" || !isUuid(id)) return undefined;
  const key = { orgId: organisation.id, id: id.toLowerCase() };
  return type === "saml" ? samlAddresses(baseUrl, key) : { redirectUri: callbackUri(baseUrl, key) };
}

async function createFromForm(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const sent = parsedForm(visit.request).values.get("type");
  const type = isConnectionType(sent) ? sent : undefined;
  const form = await acceptOneTimeForm(deps, visit, newPath(visit, type));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form, ["clientSecret"]);
  const { signedIn } = form;
  requireTypeOfLink(signedIn, type);
  const input = readConnectionInput(form.values);
  const rerender = (shown: Partial<FormShown<ConnectionInput>>) =>
    showForm(deps, visit, signedIn, type ?? "scim", { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  // Not a form of ours: the type is chosen again.
  if (type === undefined) return redirectTo(visit, newPath(visit));

  const messages = pageMessages(visit, signedIn);
  try {
    const prepared = type === "saml" ? await prepareProvider(deps, visit, input) : undefined;
    const created = await create(deps, visit, form, { type, input, prepared });
    if (created === "duplicate-submission") {
      const uri = consolePath(visit.organisation, "/connections");
      const result = { label: messages.console.frame.pages.connections, uri };
      return await rerender(duplicateSubmission({ result }));
    }
    // A directory goes on to its first token, a provider to what has to be registered there.
    const rest = `${type === "scim" ? TOKENS : ""}?done=created`;
    await redirectTo(visit, connectionPages.path(visit.organisation, created.id, rest));
  } catch (error) {
    const failure = beyondLink(error, messages);
    if (failure) return rerender({ failure, status: 403 });
    const faults = connectionFaults(error, messages);
    if (!faults) throw error;
    await rerender({ state: { faults }, status: 400 });
  }
}

/** @throws NotFound where a portal link is for other connections */
function requireTypeOfLink({ portal }: SignedIn, type: ConnectionType | undefined): void {
  if (portal && type && !isOfPurposes(type, portal.purposes)) throw new NotFound("type of connection");
}

/** @throws InvalidConnection, InvalidSignInConnection, BeyondLink */
function create(
  deps: ConnectionsDeps,
  visit: Visit,
  form: OneTimeForm,
  {
    type,
    input,
    prepared,
  }: {
    readonly type: ConnectionType;
    readonly input: ConnectionInput;
    readonly prepared: PreparedProvider | undefined;
  },
) {
  const act = auditContext(visit, form.signedIn);
  const { name, deletionPolicy: policy } = input;
  const deletionPolicy = isDeletionPolicy(policy) ? policy : "disable";
  if (type === "scim")
    return applyOnce(deps, form, (inside) =>
      createConnection(inside, { ...act, content: { name, enabled: true, deletionPolicy } }),
    );
  return applyOnce(deps, form, async (inside) => {
    const created = await createSignInConnection(inside, {
      ...act,
      ...(isUuid(input.id) ? { id: input.id.toLowerCase() } : {}),
      asked: prepared ? askedSaml(input, prepared) : askedProvider(type, input),
    });
    const linking = created.settings?.linking;
    await requireByLink(inside, form.signedIn, { members: ["settings"], linking });
    return created;
  });
}

interface PreparedProvider {
  readonly saml: Partial<SamlProvider>;
  readonly serviceKey: string;
}

/** Before the transaction: metadata may be fetched, and a key takes a while. @throws InvalidSignInConnection */
async function prepareProvider(
  deps: ConnectionsDeps,
  { organisation }: Visit,
  { metadataUrl, metadataXml }: ConnectionInput,
): Promise<PreparedProvider> {
  const asked = {
    ...(metadataUrl === "" ? {} : { metadataUrl }),
    ...(metadataXml === "" ? {} : { metadataXml }),
  };
  const described = await describeProvider(deps, organisation.id, asked);
  const { saml, faults } = changedProvider(undefined, asked, described);
  if (faults.length > 0) throw new InvalidSignInConnection(faults);
  return { saml, serviceKey: await newServiceKey() };
}

const askedSaml = ({ name }: ConnectionInput, { saml, serviceKey }: PreparedProvider): AskedConnection => ({
  ...{ kind: "saml", name, enabled: false, settings: { saml }, clientSecret: serviceKey },
});

/** Nobody signs in by it until it is enabled: the provider has to know the redirect URI first. */
function askedProvider(
  type: Exclude<ConnectionType, "scim">,
  { name, issuer, clientId, clientSecret }: ConnectionInput,
): AskedConnection {
  const preset = presetOf(type);
  const oidc = { clientId, ...(issuer !== "" && { issuer }) };
  const settings: AskedSettings = { preset, oidc };
  return {
    ...{ kind: preset === null ? "oidc" : presetDefaults[preset].kind, name, enabled: false, settings },
    clientSecret: clientSecret === "" ? undefined : clientSecret,
  };
}
