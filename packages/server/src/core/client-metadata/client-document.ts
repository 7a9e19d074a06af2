/** What a client says of itself in its metadata document (RFC 7591 §2), and the application that it makes. */
import { checkRegistrableRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import {
  type Application,
  type ApplicationSettings,
  defaultSettings,
  type GrantType,
} from "../applications/application.ts";
import { InvalidApplication, requireValidApplication } from "../applications/validation.ts";

/** The document is none, or says what it may not. The message is for the log. */
export class FaultyDocument extends Error {
  override readonly name = "FaultyDocument";
}

export type DescribedClient = Pick<Application, "name" | "clientType"> & {
  readonly settings: ApplicationSettings;
};

type Members = Readonly<Record<string, unknown>>;

const agentGrants: readonly GrantType[] = ["authorization_code", "refresh_token"];

/** @throws FaultyDocument */
export function readClientDocument(clientId: string, body: string): DescribedClient {
  const document = parseObject(body);
  if (document["client_id"] !== clientId) throw new FaultyDocument("client_id is not the document's URL");
  if (document["client_secret"] !== undefined || document["client_secret_expires_at"] !== undefined)
    throw new FaultyDocument("a document that everybody reads has no secret");
  const method = document["token_endpoint_auth_method"] ?? "none";
  if (method !== "none" && method !== "private_key_jwt")
    throw new FaultyDocument("token_endpoint_auth_method must be none or private_key_jwt");
  const clientType = method === "none" ? ("native" as const) : ("confidential" as const);
  const settings: ApplicationSettings = {
    ...defaultSettings(clientType),
    tokenEndpointAuthMethod: method,
    redirectUris: readRedirectUris(document, clientId),
    grantTypes: readGrants(document),
    // The policy says which, at each use.
    allowedScopes: [],
    ...(method === "none" ? {} : readKeys(document)),
  };
  // Only a client that somebody has registered may prove itself by a trusted workload instead.
  if (method !== "none" && settings.jwks === undefined && settings.jwksUri === undefined)
    throw new FaultyDocument("private_key_jwt needs public keys");
  const described = { name: readName(document, clientId), clientType, settings };
  try {
    requireValidApplication(described);
  } catch (error) {
    throw error instanceof InvalidApplication ? new FaultyDocument(error.message) : error;
  }
  return described;
}

function parseObject(body: string): Members {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new FaultyDocument("the document is not JSON");
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Members;
  throw new FaultyDocument("the document is not a JSON object");
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** Of its own origin, or http on the loopback interface: whoever writes a document cannot send codes elsewhere. */
function readRedirectUris(document: Members, clientId: string): string[] {
  const uris = document["redirect_uris"];
  if (!isTexts(uris) || uris.length === 0 || uris.length > 50)
    throw new FaultyDocument("redirect_uris must be a list of 1 to 50");
  const { origin } = new URL(clientId);
  for (const uri of uris) {
    const url = URL.parse(uri);
    // http is loopback alone: checked with the rest of its form.
    const isOwn = url?.origin === origin || url?.protocol === "http:";
    if (!isOwn || checkRegistrableRedirectUri(uri, "public"))
      throw new FaultyDocument("a redirect URI is neither of the client's origin nor on loopback");
  }
  return uris;
}

/** Others are meant for other servers, and are not granted here. */
function readGrants(document: Members): GrantType[] {
  const asked = document["grant_types"] ?? ["authorization_code"];
  const types = document["response_types"] ?? ["code"];
  if (!isTexts(asked) || !asked.includes("authorization_code"))
    throw new FaultyDocument("grant_types must include authorization_code");
  if (!isTexts(types) || !types.includes("code"))
    throw new FaultyDocument("response_types must include code");
  return agentGrants.filter((grant) => asked.includes(grant));
}

function readKeys(document: Members): Pick<ApplicationSettings, "jwks" | "jwksUri"> {
  const { jwks, jwks_uri: jwksUri } = document;
  if (jwksUri !== undefined && typeof jwksUri !== "string") throw new FaultyDocument("jwks_uri is no text");
  if (jwks === undefined) return jwksUri === undefined ? {} : { jwksUri };
  if (typeof jwks !== "object" || jwks === null || !Array.isArray((jwks as { keys?: unknown }).keys))
    throw new FaultyDocument("jwks is no key set");
  const keySet = jwks as NonNullable<ApplicationSettings["jwks"]>;
  return { jwks: { keys: keySet.keys }, ...(jwksUri === undefined ? {} : { jwksUri }) };
}

/** What it calls itself, in characters that deceive nobody; else its host. @throws FaultyDocument */
function readName(document: Members, clientId: string): string {
  const { client_name: name = "" } = document;
  if (typeof name !== "string") throw new FaultyDocument("client_name is no text");
  const plain = name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ").trim();
  const { host } = new URL(clientId);
  return [...(plain === "" ? host : plain)].slice(0, 100).join("").trim();
}
