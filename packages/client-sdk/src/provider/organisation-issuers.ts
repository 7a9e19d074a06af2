/** The issuers of a service's organisations, for an application of several (`organisations`): which are accepted, and their keys. */
import { callApplication } from "../application-callbacks.ts";
import { named } from "../configuration/properties.ts";
import type { AcceptedOrganisations } from "../configuration/settings.ts";
import { otherIssuer, SignetError } from "../errors.ts";
import { createProvider, type Provider, type ProviderOptions } from "./discovery.ts";

export interface OrganisationIssuer {
  readonly organisationId: string;
  readonly issuer: string;
  readonly provider: Provider;
}

export interface OrganisationIssuers {
  /**
   * Nothing is fetched for an issuer of another service, or of an organisation that is not accepted.
   * @param iss of a token or a response, which nobody has verified yet
   * @throws SignetError `token_issuer`, `token_organisation`; `provider_unreachable` while the application's function fails
   */
  require(iss: unknown): Promise<OrganisationIssuer>;
  /** One of the service's issuers, accepted or not; undefined for any other. */
  find(iss: unknown): OrganisationIssuer | undefined;
  /** @throws SignetError `provider_unreachable` while the application's function fails */
  isAccepted(organisationId: string): Promise<boolean>;
  /** @throws SignetError `token_organisation`; `provider_unreachable` while the application's function fails */
  requireAccepted(organisationId: string): Promise<void>;
  /** The only accepted one, if the setting names no other. */
  readonly only: string | undefined;
}

interface OrganisationIssuersOptions extends Omit<ProviderOptions, "issuer"> {
  /** Without a trailing slash. */
  readonly federationServer: string;
  /** In lower case. */
  readonly organisations: AcceptedOrganisations;
}

export function createOrganisationIssuers(options: OrganisationIssuersOptions): OrganisationIssuers {
  const { federationServer, organisations } = options;
  const providerOf = createProviders(options);
  const ask = acceptance(organisations);
  const isAccepted = (organisationId: string) => callApplication("organisations", () => ask(organisationId));
  const find = (iss: unknown): OrganisationIssuer | undefined => {
    const organisationId = organisationOfIssuer(iss, federationServer);
    if (organisationId === undefined) return undefined;
    const issuer = `${federationServer}/oauth/${organisationId}`;
    return { organisationId, issuer, provider: providerOf(organisationId, issuer) };
  };
  const requireAccepted = async (organisationId: string): Promise<void> => {
    if (!(await isAccepted(organisationId))) throw notAccepted(organisationId);
  };
  return {
    ...{ find, isAccepted, requireAccepted },
    only: Array.isArray(organisations) && organisations.length === 1 ? organisations[0] : undefined,
    require: async (iss) => {
      const organisationId = organisationOfIssuer(iss, federationServer);
      if (organisationId === undefined) throw otherService(iss, federationServer);
      await requireAccepted(organisationId);
      return find(iss) as OrganisationIssuer;
    },
  };
}

/** Exactly as the service writes it (RFC 9207 §2.4: compared as strings): no other case, path, port or user. */
function organisationOfIssuer(iss: unknown, federationServer: string): string | undefined {
  const start = `${federationServer}/oauth/`;
  if (typeof iss !== "string" || !iss.startsWith(start)) return undefined;
  const id = iss.slice(start.length);
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(id) ? id : undefined;
}

function acceptance(organisations: AcceptedOrganisations): (id: string) => boolean | Promise<boolean> {
  if (organisations === "any") return () => true;
  if (typeof organisations !== "function") {
    const listed: ReadonlySet<string> = new Set(organisations);
    return (id) => listed.has(id);
  }
  // Written in JavaScript, it may return a row: only true is a yes.
  return async (id) => (await organisations(id)) === true;
}

function notAccepted(organisationId: string): SignetError {
  const description = "This application does not accept the organisation.";
  const message = `${description} ${organisationId} is not among ${named("organisations")}.`;
  return new SignetError("token_organisation", message, { description, oauthError: "access_denied" });
}

const otherService = (iss: unknown, federationServer: string): SignetError =>
  otherIssuer("token_issuer", "The token has another issuer", iss, {
    expected: `${federationServer}/oauth/{organisation}`,
    setting: named("federationServer"),
  });

/** Metadata and keys of an organisation are some kilobytes. */
const MAX_KNOWN = 10_000;
/** Organisations that the service has not answered for yet: made-up ones must not push out those that exist. */
const MAX_UNKNOWN = 100;

function createProviders({ http, ...options }: OrganisationIssuersOptions) {
  const known = new Map<string, Provider>();
  const unknown = new Map<string, Provider>();
  const put = (providers: Map<string, Provider>, id: string, provider: Provider, max: number) => {
    const [oldest] = providers.keys();
    if (oldest !== undefined && providers.size >= max) providers.delete(oldest);
    providers.set(id, provider);
  };
  const create = (id: string, issuer: string): Provider => {
    const json: typeof http.json = async (...request) => {
      const answer = await http.json(...request);
      if (answer.status === 200 && unknown.delete(id)) put(known, id, provider, MAX_KNOWN);
      return answer;
    };
    const provider = createProvider({ ...options, issuer, http: { ...http, json } });
    put(unknown, id, provider, MAX_UNKNOWN);
    return provider;
  };
  return (id: string, issuer: string): Provider => known.get(id) ?? unknown.get(id) ?? create(id, issuer);
}
