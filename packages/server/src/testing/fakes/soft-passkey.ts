/**
 * A software WebAuthn authenticator: creates and signs responses, correct or with one defect, so that
 * each server check can be tested alone (WebAuthn Level 3 §6.1, §6.5).
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface SoftPasskey {
  readonly id: string;
  /** The answer to `navigator.credentials.create` as JSON. */
  register(options: CreationOptions, wrong?: Wrong): string;
  /** The answer to `navigator.credentials.get` as JSON. The counter grows with each. */
  answer(options: RequestOptions, wrong?: Wrong): string;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
}

/** Defects of a response. */
export interface Wrong {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  /** In place of the next one. */
  readonly counter?: number;
  /** base64url; null leaves it out, as security keys do that were asked for one passkey. */
  readonly userHandle?: string | null;
  readonly signature?: Buffer;
}

export interface SoftPasskeyOptions {
  readonly origin: string;
  /** 0 for ever, as synced passkeys have it. */
  readonly isSynced?: boolean;
  /** base64url: somebody else's, to be passed off as one's own. */
  readonly credentialId?: string;
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();

export function softPasskey({ origin, isSynced = false, ...options }: SoftPasskeyOptions): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { credentialId: given } = options;
  const credentialId = given === undefined ? randomBytes(32) : Buffer.from(given, "base64url");
  const id = credentialId.toString("base64url");
  let userHandle = "";
  let counter = 0;

  const clientData = (type: string, challenge: string, wrong: Wrong) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authData = (rpId: string, wrong: Wrong, attested: Buffer = Buffer.alloc(0)) => {
    const flags =
      (wrong.userPresent === false ? 0 : 0x01) |
      (wrong.userVerified === false ? 0 : 0x04) |
      (isSynced ? 0x18 : 0) |
      (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.counter ?? (isSynced ? 0 : counter));
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  };
  const envelope = (response: Record<string, unknown>) =>
    JSON.stringify({
      id,
      rawId: id,
      type: "public-key",
      authenticatorAttachment: "platform",
      clientExtensionResults: {},
      response,
    });

  return {
    id,
    register: (asked, wrong = {}) => {
      userHandle = asked.user.id;
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        coseKey(Buffer.from(x, "base64url"), Buffer.from(y, "base64url")),
      ]);
      const data = authData(asked.rp.id ?? "", wrong, attested);
      return envelope({
        clientDataJSON: clientData("webauthn.create", asked.challenge, wrong).toString("base64url"),
        attestationObject: attestationObject(data).toString("base64url"),
        transports: ["internal"],
      });
    },
    answer: (asked, wrong = {}) => {
      counter += 1;
      const client = clientData("webauthn.get", asked.challenge, wrong);
      const data = authData(asked.rpId ?? "", wrong);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      const handle = wrong.userHandle === undefined ? userHandle : wrong.userHandle;
      return envelope({
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: (wrong.signature ?? signature).toString("base64url"),
        ...(handle === null ? {} : { userHandle: handle }),
      });
    },
  };
}

/** CBOR: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}` (RFC 9053 §7.1.1). */
const coseKey = (x: Buffer, y: Buffer) =>
  Buffer.concat([Buffer.from("a5010203262001215820", "hex"), x, Buffer.from("225820", "hex"), y]);

/** CBOR: `{"fmt": "none", "attStmt": {}, "authData": data}`. */
function attestationObject(data: Buffer): Buffer {
  const head = Buffer.from([0x59, data.length >> 8, data.length & 0xff]);
  const text = (word: string) => Buffer.concat([Buffer.from([0x60 | word.length]), Buffer.from(word)]);
  return Buffer.concat([
    Buffer.from([0xa3]),
    text("fmt"),
    text("none"),
    text("attStmt"),
    Buffer.from([0xa0]),
    text("authData"),
    head,
    data,
  ]);
}
