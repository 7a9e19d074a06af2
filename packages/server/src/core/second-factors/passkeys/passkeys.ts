/**
 * Passkey requests and responses (W3C WebAuthn Level 3). The library does the checks of §7.1 and §7.2; challenge, owner and
 * counter are checked here.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";

export interface Passkey {
  readonly id: string;
  readonly publicKey: string;
  readonly counter: number;
  /** As the browser reported them: `internal`, `usb`, `hybrid` … */
  readonly transports: readonly string[];
  readonly name: string;
  /** Synced to an account of the platform. */
  readonly isBackedUp: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
  /** The key never leaves its hardware, unlike a synced passkey. */
  readonly isDeviceBound: boolean;
  /** By fingerprint, face or PIN: two factors in one. */
  readonly isUserVerified: boolean;
}

/** Authenticators bind each passkey to it, which makes passkeys phishing-resistant. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

export function createRelyingParty(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

export const MAX_PASSKEYS = 20;

/** Without control and formatting characters. Undefined when nothing is left. */
export function passkeyName(input: string): string | undefined {
  const name = [...input.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "").trim()].slice(0, 60).join("");
  return name === "" ? undefined : name;
}

/** Loaded with the first passkey response, to save memory. */
const webauthn = () => import("@simplewebauthn/server");

const TIMEOUT_MS = 5 * 60_000;
const MAX_CHARACTERS = 16_384;

/** In order of preference: EdDSA, ES256, RS256 (COSE). */
const ALGORITHMS = [-8, -7, -257];

export interface PasskeyRequest {
  readonly relyingParty: RelyingParty;
  readonly challenge: string;
  /** Undefined: any passkey of this server, to sign in without an email address. */
  readonly allowed?: readonly Passkey[];
  readonly userVerification: "required" | "preferred";
}

/** For `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export function requestOptions(input: PasskeyRequest): PublicKeyCredentialRequestOptionsJSON {
  return {
    challenge: input.challenge,
    rpId: input.relyingParty.id,
    timeout: TIMEOUT_MS,
    userVerification: input.userVerification,
    allowCredentials: (input.allowed ?? []).map(descriptor),
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
  /** Distinguishes the organisations of one host in the authenticator's list. */
  readonly organisationName: string;
  readonly existing: readonly Passkey[];
}

/** For `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export function creationOptions(input: NewPasskeyOptions): PublicKeyCredentialCreationOptionsJSON {
  const { user, organisationName } = input;
  return {
    challenge: input.challenge,
    rp: { id: input.relyingParty.id, name: organisationName },
    user: { id: userHandle(user.id), ...accountNames(user, organisationName) },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" as const })),
    timeout: TIMEOUT_MS,
    excludeCredentials: input.existing.map(descriptor),
    // Discoverable if possible, so that it signs in alone; otherwise it is a second factor.
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    attestation: "none",
  };
}

const accountNames = ({ email }: { readonly email: string }, organisationName: string) => ({
  name: email,
  displayName: `${email} (${organisationName})`,
});

/** WebAuthn Level 3 §5.1.10: for the account's own page, which tells nobody else. */
export function accountSignals({
  relyingParty: { id: rpId },
  user,
  organisationName,
  existing,
}: Omit<NewPasskeyOptions, "challenge">) {
  const userId = userHandle(user.id);
  return {
    signalAllAcceptedCredentials: { rpId, userId, allAcceptedCredentialIds: existing.map(({ id }) => id) },
    signalCurrentUserDetails: { rpId, userId, ...accountNames(user, organisationName) },
  };
}

/** The sixteen bytes of the user's random id: no personal data (WebAuthn §14.6.1). */
const userHandle = (userId: string): string =>
  Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");

/** The inverse of `userHandle`; undefined for an absent or foreign handle. */
export function userIdOfHandle(handle: string | undefined): string | undefined {
  const bytes = Buffer.from(handle ?? "", "base64url");
  if (bytes.length !== 16) return undefined;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export interface PasskeyAnswer<Response> {
  readonly response: Response;
  /** Not verified yet. */
  readonly challenge: string;
  /** Not verified yet. */
  readonly userHandle: string | undefined;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Parses the members that this server reads itself. Undefined for malformed JSON; members may have any type. */
export function readPasskeyAnswer<Response extends AuthenticationResponseJSON | RegistrationResponseJSON>(
  text: string | undefined,
): PasskeyAnswer<Response> | undefined {
  if (text === undefined || text === "" || text.length > MAX_CHARACTERS) return undefined;
  try {
    const response = JSON.parse(text) as Response;
    const clientData = Buffer.from(response.response.clientDataJSON, "base64url").toString();
    const { challenge } = JSON.parse(clientData) as { challenge?: unknown };
    const { userHandle } = response.response as { userHandle?: unknown };
    if (typeof response.id !== "string" || !BASE64URL.test(response.id)) return undefined;
    if (typeof challenge !== "string") return undefined;
    // Absent in some browsers, null in others.
    if (userHandle === undefined || userHandle === null)
      return { response, challenge, userHandle: undefined };
    return typeof userHandle === "string" ? { response, challenge, userHandle } : undefined;
  } catch {
    return undefined;
  }
}

const expectedOf = <Response>(
  { response, challenge }: PasskeyAnswer<Response>,
  { id, origin }: RelyingParty,
) => ({ response, expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id });

/** @returns undefined when any of the checks of WebAuthn §7.2 fails */
export async function verifyPasskey(
  answer: PasskeyAnswer<AuthenticationResponseJSON>,
  passkey: Passkey,
  expected: { relyingParty: RelyingParty; requireUserVerification: boolean },
): Promise<PasskeyUse | undefined> {
  const { verifyAuthenticationResponse } = await webauthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expectedOf(answer, expected.relyingParty),
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
    // The library throws for every failed check.
    return undefined;
  }
}

/** @returns undefined when any of the checks of WebAuthn §7.1 fails */
export async function verifyNewPasskey(
  answer: PasskeyAnswer<RegistrationResponseJSON>,
  expected: { relyingParty: RelyingParty; name: string; now: number },
): Promise<{ passkey: Passkey; use: PasskeyUse } | undefined> {
  const { verifyRegistrationResponse } = await webauthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...expectedOf(answer, expected.relyingParty),
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { credential, credentialBackedUp: isBackedUp } = registrationInfo;
    const passkey: Passkey = {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      transports: (credential.transports ?? [])
        .filter((transport) => typeof transport === "string")
        .slice(0, 10),
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
