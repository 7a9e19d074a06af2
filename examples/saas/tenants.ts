/** What the SaaS keeps of each tenant, and what it asks Signet for on the tenant's behalf. A real one has tables for it. */
import type { Principal } from "@signet/client-sdk";
import { type ApiClient, apiClient } from "@signet/client-sdk/api";
import { verifyWebhook, type WebhookHeaders } from "@signet/client-sdk/webhooks";

export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** Email address by the user's id, kept true by webhooks. */
  readonly people: Map<string, string>;
  readonly webhookSecret: string;
}

export interface SaasApplication {
  readonly federationServer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Of the SaaS. */
  readonly address: string;
}

/** The scopes of API v1 that a tenant's administrator grants when they enable the application. */
const apiScope = "signet:organisation:write signet:audit:read signet:users:write signet:connections:write";

/** With which an administrator of the tenant grants them, and those of signing in, where they have been granted less. */
export function enableCommand(clientId: string, organisationId = "ORG"): string {
  const scopes = `openid profile email roles offline_access ${apiScope}`.replaceAll(" ", " --scope ");
  return `signet shared-application enable ${clientId} --org ${organisationId} --scope ${scopes}`;
}

export function createTenants({ address, ...application }: SaasApplication) {
  const tenants = new Map<string, Promise<Tenant>>();
  // The tenant's own issuer gives the application its tokens, for that tenant alone.
  const apiOf = (id: string): ApiClient => apiClient({ ...application, organisationId: id, scope: apiScope });

  async function setUp(id: string): Promise<Tenant> {
    const api = apiOf(id);
    const { name } = await api.call("GET /api/v1/organisations/{org}", {});
    const url = `${address}/webhooks/${id}`;
    // Of an earlier start, whose secret is gone.
    for await (const old of api.webhooks.list()) if (old.url === url) await api.webhooks.delete(old.id);
    const { secret } = await api.webhooks.create({ url, events: ["user.*"] });
    const people = new Map<string, string>();
    for await (const user of api.users.list()) people.set(user.id, user.email);
    return { id, name, people, webhookSecret: secret ?? "" };
  }

  return {
    /** The tenant of somebody who is signed in: set up by its first. */
    of({ organisationId = "" }: Principal): Promise<Tenant> {
      const tenant = tenants.get(organisationId) ?? setUp(organisationId);
      tenants.set(organisationId, tenant);
      // Tried again by the next request.
      tenant.catch(() => tenants.delete(organisationId));
      return tenant;
    },
    /** The tenants that know this person, by the address that each of them vouches for. */
    async with(email: string): Promise<Tenant[]> {
      const all = await Promise.all(tenants.values());
      return all.filter(({ people }) => [...people.values()].includes(email));
    },
    /** By an email of the tenant's own; the person is in the user table once the webhook tells so. @throws SignetError */
    async invite({ id }: Tenant, email: string): Promise<void> {
      await apiOf(id).invitations.create({ email });
    },
    /** A one-time link to the pages of Signet where the tenant's administrator sets up single sign-on. */
    async portalLink({ id }: Tenant): Promise<string> {
      const link = { purposes: ["connections", "domains"] as const, returnUrl: `${address}/` };
      const { url } = await apiOf(id).portalLinks.create({ ...link, purposes: [...link.purposes] });
      return url ?? "";
    },
    /** @throws SignetError `signature` for a message that is not Signet's, or not for this tenant */
    async receive(id: string, headers: WebhookHeaders, body: string): Promise<void> {
      const tenant = await tenants.get(id);
      const event = await verifyWebhook({ headers, body }, tenant?.webhookSecret ?? "");
      const user = event.data.target ?? "";
      // Events may come late or twice: what is true now is asked for.
      if (event.type === "user.deleted") tenant?.people.delete(user);
      else if (tenant) tenant.people.set(user, (await apiOf(id).users.get(user)).email);
    },
  };
}
