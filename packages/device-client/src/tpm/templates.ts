/** Public areas as templates for keys. */
import { type TpmCurve, tpmAlg } from "@signet/protocol/tpm/algorithms";
import { keyAttributes as is, type PublicFields, writePublicArea } from "@signet/protocol/tpm/public-area";

export const ekTypes = ["rsa-2048", "p-256", "p-384"] as const;
export type EkType = (typeof ekTypes)[number];

export interface EkTemplate {
  readonly kind: EkType;
  readonly certificateIndex: number;
  /** TPMT_PUBLIC, from which TPM2_CreatePrimary derives the same key each time. */
  readonly template: Buffer;
}

const none = Buffer.alloc(0);

/** PolicySecret(endorsement) (TCG EK Credential Profile, policy A). */
const policyA = Buffer.from("837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa", "hex");
/** Policy B: policy A or an authorisation in NV. */
const policiesB = {
  sha256: Buffer.from("ca3d0a99a2b93906f7a3342414efcfb3a385d44cd1fd459089d19b5071c0b7a0", "hex"),
  sha384: Buffer.from(
    "b26e7d28d11a50bc53d882bcf5fd3a1a074148bb35d3b4e4cb1c0ad9bde419cacb47ba09699646150f9fc000f3f80e12",
    "hex",
  ),
};

const fixed = is.fixedTpm | is.fixedParent | is.sensitiveDataOrigin;
const storage = fixed | is.restricted | is.decrypt;
const parent = { nameAlg: "sha256", authPolicy: none, symmetricBits: 128, scheme: undefined } as const;

/** The low range: needs a session with policy A; unique fields are zeros. */
const low = (key: PublicFields["key"]): Buffer =>
  writePublicArea({ ...parent, attributes: storage | is.adminWithPolicy, authPolicy: policyA, key });

/** The high range: an empty password is enough. */
const high = (nameAlg: "sha256" | "sha384", key: PublicFields["key"]): Buffer =>
  writePublicArea({
    ...parent,
    nameAlg,
    attributes: storage | is.adminWithPolicy | is.userWithAuth,
    authPolicy: policiesB[nameAlg],
    symmetricBits: nameAlg === "sha256" ? 128 : 256,
    key,
  });

const rsa = (modulus: Buffer): PublicFields["key"] => ({ kind: "rsa", bits: 2048, exponent: 0, modulus });
const ecc = (curve: TpmCurve, x: Buffer): PublicFields["key"] => ({ kind: "ecc", curve, x, y: x });

/**
 * Templates L-1, L-2 and H-1 to H-3 of the TCG EK Credential Profile, with their NV indices, in order of preference. The order
 * must not change: to the service, each EK is another TPM.
 */
export const ekTemplates: readonly EkTemplate[] = [
  { kind: "rsa-2048", certificateIndex: 0x01c0_0002, template: low(rsa(Buffer.alloc(256))) },
  { kind: "p-256", certificateIndex: 0x01c0_000a, template: low(ecc("P-256", Buffer.alloc(32))) },
  { kind: "rsa-2048", certificateIndex: 0x01c0_0012, template: high("sha256", rsa(none)) },
  { kind: "p-256", certificateIndex: 0x01c0_0014, template: high("sha256", ecc("P-256", none)) },
  { kind: "p-384", certificateIndex: 0x01c0_0016, template: high("sha384", ecc("P-384", none)) },
];

/** The parent of the client's keys in the owner hierarchy (the SRK of the TCG's provisioning guidance). */
export const storageTemplate: Buffer = writePublicArea({
  ...parent,
  attributes: storage | is.userWithAuth | is.noDa,
  key: ecc("P-256", Buffer.alloc(32)),
});

// noDa: other programs' wrong passwords must not lock these keys, which have none.
const signing = fixed | is.userWithAuth | is.noDa | is.sign;

const signer = (attributes: number): Buffer =>
  writePublicArea({
    ...parent,
    attributes,
    symmetricBits: undefined,
    scheme: { alg: tpmAlg.ecdsa, hash: "sha256" },
    key: ecc("P-256", none),
  });

/** Restricted to data that the TPM itself generated: its statements about other keys are true. */
export const attestationTemplate: Buffer = signer(signing | is.restricted);

/** The device key: signs certificate requests and TLS handshakes. */
export const deviceKeyTemplate: Buffer = signer(signing);
