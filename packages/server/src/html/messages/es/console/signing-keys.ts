import type { signingKeys as english } from "../../en/console/signing-keys.ts";
import { formatDuration, formatLifetime } from "../../format.ts";

const LOCALE = "es";

export const signingKeys: typeof english = {
  summary: (organisation) =>
    `Lo que firma los tokens de ${organisation}. Las aplicaciones con un grupo de firma tienen allí sus propias claves.`,
  keys: {
    title: "Claves",
    rotated: (seconds) => `Se renuevan por sí solas, cada ${formatLifetime(LOCALE, seconds)}.`,
    rotatedByHand: "Solo se renuevan a mano.",
    key: "Algoritmo e identificador",
    state: "Estado",
    from: "Firma desde",
    until: "Publicada hasta",
    untilRotated: "que tenga sucesora",
    rotate: "Renovar",
    rotateOf: (algorithm) => `Renovar la clave para ${algorithm}`,
    revoke: "Revocar",
    revokeOf: (algorithm) => `Revocar las claves para ${algorithm}`,
    states: {
      next: "Firmará pronto",
      active: "Firma",
      retiring: "Aún publicada",
      retired: "Retirada",
    },
  },
  addresses: {
    title: "Direcciones",
    text: "Quien comprueba un token encuentra allí las claves públicas.",
    jwks: "Conjunto de claves (JWKS)",
    issuer: "Emisor",
  },
  ca: {
    title: "Autoridad de los dispositivos",
    text: "Emite los certificados con los que se identifican los dispositivos.",
    download: "Descargar ca.pem",
    rotate: "Renovar",
    generation: "Generación",
    generationOf: (count) => `Generación ${count}`,
    state: "Estado",
    issues: "Emite",
    retired: "Ya no emite",
    valid: "Validez",
    fingerprint: "Huella SHA-256",
  },
  rotate: {
    heading: (algorithm) => `¿Renovar la clave para ${algorithm}?`,
    text: (seconds) =>
      `Se publica ahora una clave nueva, que firma dentro de ${formatDuration(LOCALE, seconds)}, cuando todos los lectores del conjunto de claves la conocen. La anterior sigue publicada hasta que caduque el último token que firmó.`,
    confirm: "Renovar la clave",
  },
  revoke: {
    heading: (algorithm) => `¿Revocar las claves para ${algorithm}?`,
    text: "Hazlo si otra persona puede conocer la clave privada. Las claves de este algoritmo dejan ahora el conjunto de claves, y todo token que firmaron queda anulado.",
    textMore:
      "Una clave nueva firma de inmediato. Quien acaba de leer el conjunto de claves puede conservarlo cinco minutos. No se puede deshacer.",
    confirm: "Revocar las claves",
  },
  rotateCa: {
    heading: "¿Renovar la autoridad de los dispositivos?",
    text: "Desde ahora emite una generación nueva. Lo emitido sigue siendo válido. Quien comprueba certificados de dispositivos necesita desde ahora también el ca.pem nuevo.",
    confirm: "Renovar la autoridad",
  },
  done: {
    rotated: "Se ha publicado una clave nueva. Pronto tomará el relevo.",
    revoked: "Las claves anteriores ya no están, y firma una nueva.",
    "ca-rotated": "Desde ahora emite una generación nueva.",
  },
};
