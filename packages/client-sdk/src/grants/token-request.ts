/** A request to the provider's token endpoint, or its neighbour for devices, in the client's name (RFC 6749 §3.2). */
import { SignetError } from "../errors.ts";
import type { ProviderMetadata } from "../provider/discovery.ts";
import type { HttpAnswer } from "../provider/http.ts";
import { clientProof } from "./client-authentication.ts";
import type { GrantSettings } from "./grant-settings.ts";

/** @throws SignetError `provider_…`; an OAuth error is an answer like others */
export async function postAsClient(
  grant: GrantSettings,
  endpoint: "token_endpoint" | "device_authorization_endpoint",
  form: Readonly<Record<string, string | undefined>>,
): Promise<HttpAnswer> {
  const { provider, http, clientId, issuer, clock, authentication } = grant;
  const metadata = await provider.metadata();
  const proof = await clientProof(authentication, { clientId, issuer, metadata, clock });
  const url = addressOf(metadata, endpoint, grant.usesMtlsEndpoints);
  return http.form(url, { ...form, ...proof.form }, proof.headers);
}

function addressOf(
  metadata: ProviderMetadata,
  endpoint: "token_endpoint" | "device_authorization_endpoint",
  usesMtlsEndpoints: boolean,
): string {
  // RFC 8705 §5: an endpoint without an alias is at its ordinary place.
  const alias = usesMtlsEndpoints ? metadata.mtls_endpoint_aliases?.[endpoint] : undefined;
  const url = alias ?? metadata[endpoint];
  if (url === undefined) throw new SignetError("provider_answer", `The provider has no ${endpoint}.`);
  return url;
}
