import { formatDay, formatMinute } from "../format.ts";

const LOCALE = "es";

export const accountNav = {
  label: "Tu cuenta",
  security: "Seguridad",
  sessions: "Sesiones",
  consents: "Aplicaciones",
};

export const sessions = {
  title: "Sesiones",
  heading: "Tus sesiones abiertas",
  signedInAs: "Sesión iniciada con",
  summary: (organisation: string) =>
    `Cada uno de estos navegadores tiene abierta una sesión de tu cuenta de ${organisation}. Cierra las que no reconozcas.`,
  listHeading: "Navegadores",
  thisOne: "Este navegador",
  unknown: "Navegador desconocido",
  used: (milliseconds: number) => `Último uso el ${formatMinute(LOCALE, milliseconds)} UTC`,
  since: (milliseconds: number, address: string) =>
    `Sesión abierta el ${formatDay(LOCALE, milliseconds)} desde ${address}`,
  applications: (names: readonly string[]) =>
    `Usado para ${new Intl.ListFormat(LOCALE, { type: "conjunction" }).format(names)}`,
  end: "Cerrar",
  endOf: (browser: string) => `Cerrar la sesión en “${browser}”`,
  endHeading: (browser: string) => `¿Cerrar la sesión en “${browser}”?`,
  endText: "Habrá que volver a iniciar sesión en él. Se avisará a las aplicaciones para las que se usó.",
  everywhere: "Cerrar sesión en todas partes",
  everywhereHeading: "¿Cerrar sesión en todas partes?",
  everywhereText:
    "Habrá que volver a iniciar sesión en todos los navegadores, también en este. Las aplicaciones perderán su acceso, incluso las que trabajan en tu ausencia.",
  ended: "La sesión se ha cerrado.",
};
