/**
 * Passkeys (W3C WebAuthn Level 3): what a browser is asked, and what its answers are worth. The checks of §7.1 and §7.2
 * are the library's; challenge, owner and counter are ours.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { Passkey, PasskeyUse, RelyingParty } from "./passkey.ts";

/** Loaded at the first answer of a passkey: a process that sees none does not carry the library. */
const webauthn = () => import("@simplewebauthn/server");

const TIMEOUT_MS = 5 * 60_000;
const MOST_CHARACTERS = 16_384;

/** Algorithms that we take, best first: EdDSA, ES256, RS256 (COSE). */
const ALGORITHMS = [-8, -7, -257];

export interface AskedPasskeys {
  readonly relyingParty: RelyingParty;
  readonly challenge: string;
  /** Undefined: any that the authenticator has for us, which is how signing in without a name works. */
  readonly allowed?: readonly Passkey[];
  readonly userVerification: "required" | "preferred";
}

/** For `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export function requestOptions(asked: AskedPasskeys): PublicKeyCredentialRequestOptionsJSON {
  return {
    challenge: asked.challenge,
    rpId: asked.relyingParty.id,
    timeout: TIMEOUT_MS,
    userVerification: asked.userVerification,
    allowCredentials: (asked.allowed ?? []).map(descriptor),
  };
}

const descriptor = ({ id, transports }: Passkey) => ({
  id,
  type: "public-key" as const,
  transports: [...transports] as NonNullable<RegistrationResponseJSON["response"]["transports"]>,
});

export interface NewPasskeyOptions {
  readonly relyingParty: RelyingParty;
  readonly challenge: string;
  readonly user: { readonly id: string; readonly email: string };
  /** One host serves many organisations: the authenticator's list has to tell them apart. */
  readonly organisationName: string;
  readonly existing: readonly Passkey[];
}

/** For `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export function creationOptions(input: NewPasskeyOptions): PublicKeyCredentialCreationOptionsJSON {
  const { user, organisationName } = input;
  return {
    challenge: input.challenge,
    rp: { id: input.relyingParty.id, name: organisationName },
    user: { id: userHandle(user.id), name: user.email, displayName: `${user.email} (${organisationName})` },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" as const })),
    timeout: TIMEOUT_MS,
    excludeCredentials: input.existing.map(descriptor),
    // Discoverable where the authenticator can, so that it signs in alone; else it still is a second factor.
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    attestation: "none",
  };
}

/** The PermId's sixteen bytes: random, and nothing about the person (WebAuthn §14.6.1). */
const userHandle = (userId: string): string =>
  Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");

/** Who the answer says it is from; undefined when it does not say. */
export function userOfHandle(handle: string | undefined): string | undefined {
  const bytes = Buffer.from(handle ?? "", "base64url");
  if (bytes.length !== 16) return undefined;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export interface PasskeyAnswer<Response> {
  readonly response: Response;
  /** What the authenticator says it was asked; still to be checked for being ours. */
  readonly challenge: string;
  /** Who the authenticator says it is; undefined when it does not say. */
  readonly userHandle: string | undefined;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * The form's JSON, as far as we look at it ourselves. Undefined for what is none: any member may be of any kind, and the
 * id goes into a query.
 */
export function readPasskeyAnswer<Response extends AuthenticationResponseJSON | RegistrationResponseJSON>(
  text: string | undefined,
): PasskeyAnswer<Response> | undefined {
  if (text === undefined || text === "" || text.length > MOST_CHARACTERS) return undefined;
  try {
    const response = JSON.parse(text) as Response;
    const clientData = Buffer.from(response.response.clientDataJSON, "base64url").toString();
    const { challenge } = JSON.parse(clientData) as { challenge?: unknown };
    const { userHandle } = response.response as { userHandle?: unknown };
    if (typeof response.id !== "string" || !BASE64URL.test(response.id)) return undefined;
    if (typeof challenge !== "string") return undefined;
    // Left out by some browsers, null by others.
    if (userHandle === undefined || userHandle === null)
      return { response, challenge, userHandle: undefined };
    return typeof userHandle === "string" ? { response, challenge, userHandle } : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined when any of the checks of WebAuthn §7.2 fails */
export async function verifyPasskey(
  { response, challenge }: PasskeyAnswer<AuthenticationResponseJSON>,
  passkey: Passkey,
  expected: { relyingParty: RelyingParty; requireUserVerification: boolean },
): Promise<PasskeyUse | undefined> {
  const { verifyAuthenticationResponse } = await webauthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: expected.relyingParty.origin,
      expectedRPID: expected.relyingParty.id,
      requireUserVerification: expected.requireUserVerification,
      credential: {
        id: passkey.id,
        publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, "base64url")),
        counter: passkey.counter,
      },
    });
    if (!verified) return undefined;
    return {
      counter: authenticationInfo.newCounter,
      isBackedUp: authenticationInfo.credentialBackedUp,
      isDeviceBound: authenticationInfo.credentialDeviceType === "singleDevice",
      isUserVerified: authenticationInfo.userVerified,
    };
  } catch {
    // The library throws for whatever is wrong with the answer; all of it means the same to us.
    return undefined;
  }
}

/** @returns undefined when any of the checks of WebAuthn §7.1 fails */
export async function verifyNewPasskey(
  { response, challenge }: PasskeyAnswer<RegistrationResponseJSON>,
  expected: { relyingParty: RelyingParty; name: string; now: number },
): Promise<{ passkey: Passkey; use: PasskeyUse } | undefined> {
  const { verifyRegistrationResponse } = await webauthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: expected.relyingParty.origin,
      expectedRPID: expected.relyingParty.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { credential, credentialBackedUp: isBackedUp } = registrationInfo;
    const passkey: Passkey = {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      transports: (credential.transports ?? []).filter((one) => typeof one === "string").slice(0, 10),
      name: expected.name,
      isBackedUp,
      createdAt: expected.now,
      lastUsedAt: null,
    };
    const isDeviceBound = registrationInfo.credentialDeviceType === "singleDevice";
    const isUserVerified = registrationInfo.userVerified;
    return { passkey, use: { counter: credential.counter, isBackedUp, isDeviceBound, isUserVerified } };
  } catch {
    return undefined;
  }
}
