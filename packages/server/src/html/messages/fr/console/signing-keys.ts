import type { signingKeys as english } from "../../en/console/signing-keys.ts";
import { formatDuration, formatLifetime } from "../../format.ts";

const LOCALE = "fr";

export const signingKeys: typeof english = {
  summary: (organisation) =>
    `Ce qui signe les jetons de ${organisation}. Les applications qui ont un pool de signature y ont leurs propres clés.`,
  keys: {
    title: "Clés",
    rotated: (seconds) =>
      `Elles sont renouvelées d’elles-mêmes, tous les ${formatLifetime(LOCALE, seconds)}.`,
    rotatedByHand: "Elles ne sont renouvelées qu’à la main.",
    key: "Algorithme et identifiant",
    state: "État",
    from: "Signe depuis",
    until: "Publiée jusqu’à",
    untilRotated: "son remplacement",
    rotate: "Renouveler",
    rotateOf: (algorithm) => `Renouveler la clé pour ${algorithm}`,
    revoke: "Révoquer",
    revokeOf: (algorithm) => `Révoquer les clés pour ${algorithm}`,
    states: {
      next: "Signe bientôt",
      active: "Signe",
      retiring: "Encore publiée",
      retired: "Retirée",
    },
  },
  addresses: {
    title: "Adresses",
    text: "Quiconque vérifie un jeton y trouve les clés publiques.",
    jwks: "Jeu de clés (JWKS)",
    issuer: "Émetteur",
  },
  ca: {
    title: "Autorité des appareils",
    text: "Elle délivre les certificats avec lesquels les appareils s’identifient.",
    download: "Télécharger ca.pem",
    rotate: "Renouveler",
    generation: "Génération",
    generationOf: (count) => `Génération ${count}`,
    state: "État",
    issues: "Délivre",
    retired: "Ne délivre plus",
    valid: "Validité",
    fingerprint: "Empreinte SHA-256",
  },
  rotate: {
    heading: (algorithm) => `Renouveler la clé pour ${algorithm} ?`,
    text: (seconds) =>
      `Une nouvelle clé est publiée maintenant et signe dans ${formatDuration(LOCALE, seconds)}, quand chaque lecteur du jeu de clés la connaît. L’ancienne reste publiée jusqu’à l’expiration du dernier jeton qu’elle a signé.`,
    confirm: "Renouveler la clé",
  },
  revoke: {
    heading: (algorithm) => `Révoquer les clés pour ${algorithm} ?`,
    text: "Faites-le si quelqu’un d’autre peut connaître la clé privée. Les clés de cet algorithme quittent le jeu de clés maintenant, et aucun jeton qu’elles ont signé n’est plus valable.",
    textMore:
      "Une nouvelle clé signe aussitôt. Quiconque vient de lire le jeu de clés peut le garder cinq minutes. Cela ne peut pas être annulé.",
    confirm: "Révoquer les clés",
  },
  rotateCa: {
    heading: "Renouveler l’autorité des appareils ?",
    text: "Une nouvelle génération délivre à partir de maintenant. Ce qui a été délivré reste valable. Quiconque vérifie les certificats d’appareils a besoin dès maintenant du nouveau ca.pem aussi.",
    confirm: "Renouveler l’autorité",
  },
  done: {
    rotated: "Une nouvelle clé est publiée. Elle prend bientôt la relève.",
    revoked: "Les anciennes clés ont disparu, et une nouvelle signe.",
    "ca-rotated": "Une nouvelle génération délivre à partir de maintenant.",
  },
};
