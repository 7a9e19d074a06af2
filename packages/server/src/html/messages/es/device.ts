import { formatDuration } from "../format.ts";

const LOCALE = "es";

export const device = {
  heading: "Conectar un dispositivo",
  signedInAs: "Sesión iniciada con",
  otherAccount: "¿No eres tú? Usa otra cuenta",
  explanation: "Escribe el código que muestra tu dispositivo.",
  compare: "Compara este código con el de tu dispositivo. Continúa solo si son iguales.",
  code: "Código",
  submit: "Continuar",
  failed: "El dispositivo todavía no está conectado",
  wrongCode:
    "El código es incorrecto o demasiado antiguo. Revísalo o haz que tu dispositivo muestre uno nuevo.",
  usedCode: "Este código ya se usó. Si tu dispositivo sigue esperando, haz que muestre uno nuevo.",
  rateLimited: (seconds: number) =>
    `Ha habido demasiados códigos incorrectos. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
  expired: "Esta página ha caducado",
  expiredText: "No se ha permitido nada. Continúa para intentarlo de nuevo.",
  question: (application: string) => `¿Permitir que ${application} use tu cuenta en un dispositivo?`,
  codeOnDevice: "Código en el dispositivo",
  device: "Dice ser",
  unknownDevice: "No lo indica",
  address: "Dirección de red",
  asked: "Solicitado",
  ago: (seconds: number) =>
    seconds < 60 ? "ahora mismo" : `hace ${formatDuration(LOCALE, Math.floor(seconds / 60) * 60)}`,
  warning: "¿Tienes delante este dispositivo?",
  warningText:
    "Permite solo lo que hayas iniciado tú. Si alguien te envió el código o el enlace, rechaza la solicitud: esa persona entraría en tu cuenta.",
  allow: "Permitir",
  deny: "Rechazar",
  allowedHeading: "Tu dispositivo está conectado",
  allowed: (application: string) =>
    `${application} continuará allí en un momento. Puedes cerrar esta página.`,
  deniedHeading: "El dispositivo no se ha conectado",
  denied: "No tiene ningún acceso a tu cuenta. Puedes cerrar esta página.",
};
