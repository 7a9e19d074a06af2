/** Reads what a POST or a PATCH asks a connection for signing in to be. */

import {
  type AskedProvider,
  changedProvider,
  type Described,
  describeProvider,
  type MetadataDeps,
} from "../../../core/connections/saml/provider.ts";
import { newServiceKey } from "../../../core/connections/saml/sp-key.ts";
import {
  type Beside,
  scopesToLink,
  scopesToRoute,
} from "../../../core/connections/sign-in/link-authority.ts";
import type { AskedSettings } from "../../../core/connections/sign-in/settings-rules.ts";
import type {
  AskedConnection,
  SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  type SamlProvider,
  type SignInKind,
  signInKinds,
} from "../../../core/connections/sign-in/sign-in-settings.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { mergePatch } from "../../../http/api/merge-patch.ts";
import { type ApiCaller, requireHeld } from "../access.ts";

type Body = Readonly<Record<string, unknown>>;

export const isSignInKind = (kind: string): kind is SignInKind =>
  (signInKinds as readonly string[]).includes(kind);

/** Members of the other sort of connection. @throws ApiError 422 */
export function refuseMembers(body: Body, members: readonly string[]): void {
  const given = members.filter((member) => body[member] !== undefined);
  if (given.length === 0) return;
  throw invalid(given.map((member) => ({ path: `/${member}`, message: "is no member of this kind" })));
}

/** What was read, made or fetched for it before the transaction. */
export interface Prepared {
  readonly described: Described;
  /** Of a new SAML connection. */
  readonly serviceKey?: string;
}

/** Before the transaction: a key takes a while to be made, and metadata to be fetched. */
export async function prepareConnection(
  deps: MetadataDeps,
  orgId: string,
  body: Body,
  isNew: boolean,
): Promise<Prepared> {
  const { kind, saml } = body as { kind?: string; saml?: AskedProvider | null };
  if (isNew && kind !== "saml") return { described: { kind: "none" } };
  const described = await describeProvider(deps, orgId, saml ?? {});
  return isNew && described.kind !== "refused"
    ? { described, serviceKey: await newServiceKey() }
    : { described };
}

/** @throws ApiError 422 */
export function askedConnection(
  kind: SignInKind,
  body: Body,
  { described, serviceKey }: Prepared,
): AskedConnection {
  const { saml = null } = body as { saml?: AskedProvider | null };
  return fromWhole(kind, body, samlSettings(kind, undefined, saml ?? {}, described), serviceKey);
}

/** @throws ApiError 422 */
function samlSettings(
  kind: SignInKind,
  before: SamlProvider | undefined,
  asked: AskedProvider,
  described: Described,
): Partial<SamlProvider> | undefined {
  if (kind !== "saml") return undefined;
  const { saml, faults } = changedProvider(before, asked, described);
  if (faults.length > 0) throw invalid(faults);
  return saml;
}

function fromWhole(
  kind: SignInKind,
  body: Body,
  saml: Partial<SamlProvider> | undefined,
  serviceKey: string | undefined,
): AskedConnection {
  refuseMembers(body, ["deletionPolicy", kind === "saml" ? "oidc" : "saml"]);
  // Null is the default, at every depth.
  const { name, enabled, kind: _, saml: __, ...content } = mergePatch({}, body) as Body;
  const { oidc, mapping, ...others } = content as { oidc?: Body; mapping?: Body };
  const { groups = null, ...members } = mapping ?? {};
  const { clientSecret, ...client } = oidc ?? {};
  return {
    kind,
    name: typeof name === "string" ? name : "",
    enabled: enabled === true,
    settings: {
      ...others,
      mapping: members,
      groups,
      ...(saml ? { saml } : { oidc: client }),
    } as AskedSettings,
    clientSecret: serviceKey ?? (typeof clientSecret === "string" ? clientSecret : undefined),
  };
}

/** What is there, changed by a merge patch (RFC 7396). @throws ApiError 422 */
export function patchedConnection(
  before: SignInConnection,
  patch: Body,
  { described }: Prepared,
): AskedConnection {
  const { kind, name, enabled } = before;
  const { groups, saml, ...settings } = before.settings;
  const mapping = { ...settings.mapping, ...(groups ? { groups } : {}) };
  const { saml: asked, ...rest } = patch as { saml?: AskedProvider | null };
  const whole = mergePatch({ ...settings, mapping, name, enabled }, rest) as Body;
  // A whole `oidc`, or `saml`, that is unset would leave a connection to nobody.
  const changed = samlSettings(kind, asked === null ? undefined : saml, asked ?? {}, described);
  const given = asked === undefined || kind === "saml" ? {} : { saml: asked };
  return fromWhole(kind, { ...whole, ...given }, changed, undefined);
}

/** Connections as they are, and what is asked for. @throws ApiError 403 */
export function requireMayLink(caller: ApiCaller, body: Body, beside: Beside): void {
  const { linking, mapping } = body as { linking?: unknown; mapping?: Body | null };
  const asked = { members: Object.keys(body), linking, mapsGroups: mapping?.["groups"] !== undefined };
  for (const scope of scopesToLink(asked, beside)) requireHeld(caller, scope);
}

/** @param connection to which a proven domain leads from now on. @throws ApiError 403 */
export function requireMayRoute(
  caller: ApiCaller,
  connection: SignInConnection,
  beside: Pick<Beside, "hasDirectory">,
): void {
  for (const scope of scopesToRoute(connection, beside)) requireHeld(caller, scope);
}
