import type { signingKeys as english } from "../../en/console/signing-keys.ts";
import { formatDuration, formatLifetime } from "../../format.ts";

const LOCALE = "de";

export const signingKeys: typeof english = {
  summary: (organisation) =>
    `Was die Token von ${organisation} signiert. Anwendungen mit einem Signaturpool haben dort eigene Schlüssel.`,
  keys: {
    title: "Schlüssel",
    rotated: (seconds) => `Sie werden von selbst gewechselt, alle ${formatLifetime(LOCALE, seconds)}.`,
    rotatedByHand: "Sie werden nur von Hand gewechselt.",
    key: "Algorithmus und Schlüssel-ID",
    state: "Status",
    from: "Signiert ab",
    until: "Veröffentlicht bis",
    untilRotated: "er einen Nachfolger hat",
    rotate: "Wechseln",
    rotateOf: (algorithm) => `Wechseln: den Schlüssel für ${algorithm}`,
    revoke: "Widerrufen",
    revokeOf: (algorithm) => `Widerrufen: die Schlüssel für ${algorithm}`,
    states: {
      next: "Signiert bald",
      active: "Signiert",
      retiring: "Noch veröffentlicht",
      retired: "Außer Dienst",
    },
  },
  addresses: {
    title: "Adressen",
    text: "Wer ein Token prüft, findet dort die öffentlichen Schlüssel.",
    jwks: "Schlüsselsatz (JWKS)",
    issuer: "Aussteller",
  },
  ca: {
    title: "Zertifizierungsstelle der Geräte",
    text: "Sie stellt die Zertifikate aus, mit denen sich Geräte ausweisen.",
    download: "ca.pem herunterladen",
    rotate: "Wechseln",
    generation: "Generation",
    generationOf: (count) => `Generation ${count}`,
    state: "Status",
    issues: "Stellt aus",
    retired: "Stellt nicht mehr aus",
    valid: "Gültig",
    fingerprint: "Fingerabdruck (SHA-256)",
  },
  rotate: {
    heading: (algorithm) => `Den Schlüssel für ${algorithm} wechseln?`,
    text: (seconds) =>
      `Ein neuer Schlüssel wird jetzt veröffentlicht und signiert in ${formatDuration(LOCALE, seconds)}, wenn jeder Leser des Schlüsselsatzes ihn kennt. Der alte bleibt veröffentlicht, bis das letzte Token abgelaufen ist, das er signiert hat.`,
    confirm: "Schlüssel wechseln",
  },
  revoke: {
    heading: (algorithm) => `Die Schlüssel für ${algorithm} widerrufen?`,
    text: "Tun Sie das, wenn jemand anderes den privaten Schlüssel kennen könnte. Die Schlüssel dieses Algorithmus verlassen den Schlüsselsatz jetzt, und jedes Token, das sie signiert haben, ist ungültig.",
    textMore:
      "Ein neuer Schlüssel signiert sofort. Wer den Schlüsselsatz eben gelesen hat, behält ihn bis zu fünf Minuten. Das lässt sich nicht rückgängig machen.",
    confirm: "Schlüssel widerrufen",
  },
  rotateCa: {
    heading: "Die Zertifizierungsstelle der Geräte wechseln?",
    text: "Von jetzt an stellt eine neue Generation aus. Was ausgestellt wurde, bleibt gültig. Wer Gerätezertifikate prüft, braucht jetzt auch die neue ca.pem.",
    confirm: "Zertifizierungsstelle wechseln",
  },
  done: {
    rotated: "Ein neuer Schlüssel ist veröffentlicht. Er übernimmt bald.",
    revoked: "Die alten Schlüssel sind entfernt, und ein neuer signiert.",
    "ca-rotated": "Von jetzt an stellt eine neue Generation aus.",
  },
};
