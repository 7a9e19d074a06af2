import { formatDay } from "../format.ts";

const LOCALE = "es";

export const scopes = {
  openid: "Reconocerte cuando vuelvas",
  profile: "Ver tu nombre y tu nombre de usuario",
  email: "Ver tu correo electrónico y si está confirmado",
  phone: "Ver tu número de teléfono",
  offline_access: "Mantener su acceso mientras no la usas",
};

export const consent = {
  heading: (application: string) => `¿Permitir que ${application} use tu cuenta?`,
  signedInAs: "Sesión iniciada con",
  switchAccount: "¿No eres tú? Usa otra cuenta",
  listTitle: "Esta aplicación podrá:",
  sensitive: "Sensible",
  customScope: (name: string) => `Usar “${name}” en tu nombre`,
  goesTo: "Después volverás a",
  allow: "Permitir",
  deny: "Rechazar",
  remembered: "Si lo permites, no se te volverá a preguntar.",
};

export const consents = {
  title: "Aplicaciones con acceso",
  heading: "Lo que pueden usar las aplicaciones",
  signedInAs: "Sesión iniciada con",
  summary: (organisation: string) =>
    `Has permitido que estas aplicaciones usen tu cuenta de ${organisation}. Retira los permisos que ya no quieras dar.`,
  listHeading: "Aplicaciones",
  none: "Todavía no has permitido nada a ninguna aplicación. Cuando una te lo pida, lo que le permitas aparecerá aquí.",
  since: (milliseconds: number) => `Permitido el ${formatDay(LOCALE, milliseconds)}`,
  revoke: "Retirar",
  revokeOf: (application: string) => `Retirar el permiso de la aplicación ${application}`,
  revokeHeading: (application: string) => `¿Retirar el permiso de la aplicación ${application}?`,
  revokeText: "Pierde al instante el acceso a tu cuenta. Si vuelves a usarla, te lo pedirá otra vez.",
  revoked: "El permiso se ha retirado.",
};

export const administratorConsent = {
  heading: (application: string) => `La aplicación ${application} todavía no está permitida aquí`,
  explanation: (organisation: string, application: string) =>
    `En ${organisation}, un administrador decide qué pueden usar las aplicaciones. Pídele que conceda estos permisos a la aplicación ${application}:`,
  back: (application: string) => `Volver a ${application}`,
};
