import type { signingKeys as english } from "../../en/console/signing-keys.ts";
import { formatDuration, formatLifetime } from "../../format.ts";

const LOCALE = "da";

export const signingKeys: typeof english = {
  summary: (organisation) =>
    `Det, der signerer tokens fra ${organisation}. Applikationer med en signeringspulje har deres egne nøgler dér.`,
  keys: {
    title: "Nøgler",
    rotated: (seconds) => `De udskiftes af sig selv med ${formatLifetime(LOCALE, seconds)} imellem.`,
    rotatedByHand: "De udskiftes kun manuelt.",
    key: "Algoritme og nøgle-id",
    state: "Status",
    from: "Signerer fra",
    until: "Offentliggjort til",
    untilRotated: "den har en efterfølger",
    rotate: "Udskift",
    rotateOf: (algorithm) => `Udskift nøglen til ${algorithm}`,
    revoke: "Tilbagekald",
    revokeOf: (algorithm) => `Tilbagekald nøglerne til ${algorithm}`,
    states: {
      next: "Signerer snart",
      active: "Signerer",
      retiring: "Stadig offentliggjort",
      retired: "Trukket tilbage",
    },
  },
  addresses: {
    title: "Adresser",
    text: "Den, der kontrollerer et token, finder de offentlige nøgler dér.",
    jwks: "Nøglesæt (JWKS)",
    issuer: "Udsteder",
  },
  ca: {
    title: "Enhedernes certifikatudsteder",
    text: "Den udsteder de certifikater, som enheder legitimerer sig med.",
    download: "Hent ca.pem",
    rotate: "Udskift",
    generation: "Udgave",
    generationOf: (count) => `Udgave ${count}`,
    state: "Status",
    issues: "Udsteder",
    retired: "Udsteder ikke længere",
    valid: "Gyldig",
    fingerprint: "Fingeraftryk (SHA-256)",
  },
  rotate: {
    heading: (algorithm) => `Vil du udskifte nøglen til ${algorithm}?`,
    text: (seconds) =>
      `En ny nøgle offentliggøres nu og signerer om ${formatDuration(LOCALE, seconds)}, når alle læsere af nøglesættet kender den. Den gamle er offentliggjort, til det sidste token, den har signeret, er udløbet.`,
    confirm: "Udskift nøglen",
  },
  revoke: {
    heading: (algorithm) => `Vil du tilbagekalde nøglerne til ${algorithm}?`,
    text: "Gør det, hvis en anden kan kende den private nøgle. Algoritmens nøgler forlader nøglesættet nu, og alle tokens, de har signeret, er ugyldige.",
    textMore:
      "En ny nøgle signerer med det samme. Den, der lige har læst nøglesættet, kan beholde det i fem minutter. Det kan ikke fortrydes.",
    confirm: "Tilbagekald nøglerne",
  },
  rotateCa: {
    heading: "Vil du udskifte enhedernes certifikatudsteder?",
    text: "En ny udgave udsteder fra nu af. Det, der er udstedt, er stadig gyldigt. Den, der kontrollerer enhedscertifikater, skal også bruge den nye ca.pem nu.",
    confirm: "Udskift certifikatudstederen",
  },
  done: {
    rotated: "En ny nøgle er offentliggjort. Den tager snart over.",
    revoked: "De gamle nøgler er væk, og en ny signerer.",
    "ca-rotated": "En ny udgave udsteder fra nu af.",
  },
};
