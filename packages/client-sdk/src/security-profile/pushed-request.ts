/** Pushed authorization requests (RFC 9126): the browser carries a reference that says nothing and cannot be changed. */
import { SignetError } from "../errors.ts";
import { type OAuthClient, postAsClient } from "../grants/oauth-client.ts";
import { providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";
import type { RequestSigner } from "./client-security.ts";
import { signRequestObject } from "./request-object.ts";

/**
 * @param signer signs the request before (Message Signing)
 * @returns what the browser takes to the authorization endpoint
 * @throws SignetError `provider_…`
 */
export async function pushRequest(
  client: OAuthClient,
  parameters: Readonly<Record<string, string>>,
  signer: RequestSigner | undefined,
): Promise<{ readonly client_id: string; readonly request_uri: string }> {
  const { clientId } = client;
  const form = signer
    ? { client_id: clientId, request: await signRequestObject(parameters, { ...client, signer }) }
    : parameters;
  const response = await postAsClient(client, "pushed_authorization_request_endpoint", form);
  if (response.status !== 201) throw providerError(response, "the pushed authorization request endpoint");
  const uri = isRecord(response.body) ? response.body["request_uri"] : undefined;
  if (typeof uri !== "string" || uri === "")
    throw new SignetError("provider_answer", "The pushed authorization response has no request_uri.");
  return { client_id: clientId, request_uri: uri };
}
