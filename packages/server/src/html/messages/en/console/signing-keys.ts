import { formatDuration, formatLifetime } from "../../format.ts";

const LOCALE = "en";

export const signingKeys = {
  summary: (organisation: string) =>
    `What signs the tokens of ${organisation}. Applications with a signing pool have keys of their own there.`,
  keys: {
    title: "Keys",
    rotated: (seconds: number) => `They rotate by themselves, every ${formatLifetime(LOCALE, seconds)}.`,
    rotatedByHand: "They are rotated by hand only.",
    key: "Algorithm and key ID",
    state: "State",
    from: "Signs from",
    until: "Published until",
    untilRotated: "it has a successor",
    rotate: "Rotate",
    rotateOf: (algorithm: string) => `Rotate the key for ${algorithm}`,
    revoke: "Revoke",
    revokeOf: (algorithm: string) => `Revoke the keys for ${algorithm}`,
    states: {
      next: "Signs soon",
      active: "Signs",
      retiring: "Still published",
      retired: "Retired",
    },
  },
  addresses: {
    title: "Addresses",
    text: "Whoever checks a token finds the public keys there.",
    jwks: "Key set (JWKS)",
    issuer: "Issuer",
  },
  ca: {
    title: "Device certificate authority",
    text: "It issues the certificates that devices prove themselves with.",
    download: "Download ca.pem",
    rotate: "Rotate",
    generation: "Generation",
    generationOf: (count: number) => `Generation ${count}`,
    state: "State",
    issues: "Issuing",
    retired: "No longer issuing",
    valid: "Valid",
    fingerprint: "SHA-256",
  },
  rotate: {
    heading: (algorithm: string) => `Rotate the key for ${algorithm}?`,
    text: (seconds: number) =>
      `A new key is published now and signs in ${formatDuration(LOCALE, seconds)}, when every reader of the key set knows it. The old one stays published until the last token that it signed has ended.`,
    confirm: "Rotate the key",
  },
  revoke: {
    heading: (algorithm: string) => `Revoke the keys for ${algorithm}?`,
    text: "Do this when somebody else may know the private key. The keys of this algorithm leave the key set now, and every token that they signed is void.",
    textMore:
      "A new key signs at once. Anyone who has just read the key set may keep it for five minutes. This cannot be undone.",
    confirm: "Revoke the keys",
  },
  rotateCa: {
    heading: "Rotate the device certificate authority?",
    text: "A new generation issues from now on. What was issued stays valid. Whoever checks device certificates needs the new ca.pem as well, now.",
    confirm: "Rotate the authority",
  },
  done: {
    rotated: "A new key is published. It takes over soon.",
    revoked: "The old keys are gone, and a new one signs.",
    "ca-rotated": "A new generation issues from now on.",
  },
};
