/** ML-DSA in JOSE (RFC 9964): its names, and the sizes that keys and signatures have. Platform-independent. */

/** For tokens, never for what clients sign. */
export const mlDsaAlgs = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] as const;
export type MlDsaAlg = (typeof mlDsaAlgs)[number];

export const isMlDsaAlg = (alg: unknown): alg is MlDsaAlg => mlDsaAlgs.some((one) => one === alg);

/** Bytes (FIPS 204, table 2): each parameter set has one length of each. */
export const mlDsaSizes: Readonly<
  Record<MlDsaAlg, { readonly publicKey: number; readonly signature: number }>
> = {
  "ML-DSA-44": { publicKey: 1_312, signature: 2_420 },
  "ML-DSA-65": { publicKey: 1_952, signature: 3_309 },
  "ML-DSA-87": { publicKey: 2_592, signature: 4_627 },
};
