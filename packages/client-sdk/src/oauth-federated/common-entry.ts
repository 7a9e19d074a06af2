/** Where a sign-in begins whose organisation is not known yet: `/oauth/common/authorize`. */
import { SignetError } from "../errors.ts";
import type { Provider } from "../provider/discovery.ts";

/** Finds the organisation and nothing else: it issues no tokens, and has no keys. */
export function commonEntry(issuer: string): Provider {
  const noKeys = () => Promise.reject(new SignetError("token_key_unknown", "The common entry has no keys."));
  return {
    metadata: async () => ({ issuer, jwks_uri: `${issuer}/`, authorization_endpoint: `${issuer}/authorize` }),
    keys: { keyFor: noKeys, jwkFor: noKeys },
  };
}
